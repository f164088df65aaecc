import { StrictMode, Suspense } from "react";
import { createRoot } from "react-dom/client";
import { RelayEnvironmentProvider } from "react-relay";
import { Environment, Network, RecordSource, Store, type GraphQLResponse } from "relay-runtime";
import { Articles } from "./Articles";

const environment = new Environment({
  network: Network.create(async ({ text: query }, variables) => {
    const body = JSON.stringify({ query, variables });
    const response = await fetch("/graphql", { method: "POST", headers: { "Content-Type": "application/json" }, body });
    return (await response.json()) as GraphQLResponse;
  }),
  store: new Store(new RecordSource()),
});

createRoot(document.getElementById("root")!).render(
  <StrictMode>
    <RelayEnvironmentProvider environment={environment}>
      <Suspense>
        <Articles />
      </Suspense>
    </RelayEnvironmentProvider>
  </StrictMode>,
);
