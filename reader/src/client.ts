import { createClient, type Client as Socket } from "graphql-ws";
import { Client, fetchExchange, mapExchange, subscriptionExchange, type OperationResult } from "urql";
import { cache } from "./cache";
import { ENDPOINT } from "./addresses";
import { currentSession, endSession, type Session } from "./session";
import { sayProblem } from "./status";

/** A client with a cache of its own, as what a viewer sees is for nobody else. */
export function connect(session: Session | null): Client {
  const headers: Record<string, string> = session ? { Authorization: `Bearer ${session.token}` } : {};
  return new Client({
    url: ENDPOINT.href,
    preferGetMethod: false,
    requestPolicy: "cache-and-network",
    fetchOptions: { headers },
    exchanges: [
      mapExchange({ onResult: (result) => checkSession(result, session) }),
      cache(),
      fetchExchange,
      live(headers),
    ],
  });
}

function live(headers: Record<string, string>) {
  const url = new URL(ENDPOINT);
  url.protocol = url.protocol.replace("http", "ws");
  const socket: Socket = createClient({
    url: url.href,
    connectionParams: headers,
    lazyCloseTimeout: 5_000, // one connection for the pages that follow each other
    retryAttempts: Infinity,
    shouldRetry: () => true,
  });
  return subscriptionExchange({
    forwardSubscription: ({ query = "", variables = {} }) => ({
      subscribe: (sink) => ({ unsubscribe: socket.subscribe({ query, variables }, sink) }),
    }),
  });
}

/** The server says in a result that the token of its request has ended. The page stays, as nobody's. */
function checkSession({ extensions, error }: OperationResult, sent: Session | null): void {
  const all = [extensions, ...(error?.graphQLErrors ?? []).map((each) => each.extensions)];
  if (sent === null || !all.some((each) => each?.session === "ended")) return;
  if (currentSession()?.token !== sent.token) return;
  endSession();
  sayProblem("Your session has ended. Log in again to vote and to write.");
}
