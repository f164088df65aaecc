import "./styles.css";
import "./media.css";
import { StrictMode, useMemo } from "react";
import { createRoot } from "react-dom/client";
import { Provider } from "urql";
import { Router } from "wouter";
import { BASE_PATH } from "./addresses";
import { App } from "./App";
import { connect } from "./client";
import { loadFirstPage } from "./first-page";
import { keepScrollPositions, scrollHtml } from "./history";
import { useLocationInLanguage } from "./language";
import { replaceHtml } from "./replacement";
import { currentSession, useSession } from "./session";
import { loadWords } from "./words";

// The entry of the site's script. The server sends pages as HTML; the script draws them again, and then keeps them
// current.

const firstSession = currentSession();
const firstClient = connect(firstSession);

function Reader() {
  const session = useSession();
  const client = useMemo(() => (session === firstSession ? firstClient : connect(session)), [session]);
  return (
    <Provider value={client}>
      <Router base={BASE_PATH} hook={useLocationInLanguage}>
        <App />
      </Router>
    </Provider>
  );
}

async function start(root: HTMLElement) {
  const words = loadWords();
  await loadFirstPage(firstClient); // into the cache of the client, so that the first rendering has it
  await words;
  replaceHtml(root, render, () => {
    delete document.documentElement.dataset.session; // from now on the script shows who is logged in
  });
}

function render(place: HTMLElement) {
  createRoot(place).render(
    <StrictMode>
      <Reader />
    </StrictMode>,
  );
}

keepScrollPositions();

const root = document.getElementById("root");
if (root?.hasChildNodes()) scrollHtml();
if (root) void start(root);
