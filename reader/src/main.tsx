import "./styles.css";
import { StrictMode, useMemo } from "react";
import { createRoot } from "react-dom/client";
import { Provider } from "urql";
import { Router } from "wouter";
import { BASE_PATH } from "./addresses";
import { App } from "./App";
import { connect } from "./client";
import { keepPositions } from "./history";
import { useSession } from "./session";

function Reader() {
  const session = useSession();
  const client = useMemo(() => connect(session), [session]);
  return (
    <Provider value={client}>
      <Router base={BASE_PATH}>
        <App />
      </Router>
    </Provider>
  );
}

keepPositions();

const root = document.getElementById("root");
if (root) {
  createRoot(root).render(
    <StrictMode>
      <Reader />
    </StrictMode>,
  );
}
