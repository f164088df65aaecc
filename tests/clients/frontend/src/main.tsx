import { ApolloProvider } from "@apollo/client/react";
import { StrictMode } from "react";
import { createRoot } from "react-dom/client";
import { App } from "./App";
import { connect } from "./client";
import { Session } from "./session";

const session = new Session(sessionStorage);
const client = connect(`${location.origin}/graphql`, session);

createRoot(document.getElementById("root")!).render(
  <StrictMode>
    <ApolloProvider client={client}>
      <App session={session} />
    </ApolloProvider>
  </StrictMode>,
);
