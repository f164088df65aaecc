import type { Client as Socket } from "graphql-ws";
import { Client, fetchExchange, mapExchange, subscriptionExchange, type OperationResult } from "urql";
import { cache } from "./cache";
import { ENDPOINT } from "./addresses";
import { file } from "./files";
import { reconnections } from "./live";
import { pause } from "./network";
import { currentSession, endSession, type Session } from "./session";
import { sayProblem } from "./status";

const socketClient = file(async () => (await import("graphql-ws")).createClient); // nothing else of it is built

/** A client with a cache of its own, as what a viewer sees is for nobody else. */
export function connect(session: Session | null): Client {
  const headers = headersOf(session);
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

export function headersOf(session: Session | null): Record<string, string> {
  return session ? { Authorization: `Bearer ${session.token}` } : {};
}

/** Subscriptions share one WebSocket, which is opened for the first of them, after the page is shown. */
function live(headers: Record<string, string>) {
  let socket: Promise<Socket> | undefined;
  return subscriptionExchange({
    forwardSubscription: ({ query = "", variables = {} }) => ({
      subscribe(sink) {
        const stop = new AbortController();
        const start = (opened: Socket) => {
          if (!stop.signal.aborted) stop.signal.addEventListener("abort", opened.subscribe({ query, variables }, sink));
        };
        (socket ??= openSocket(headers)).then(start, (error) => sink.error(error));
        return { unsubscribe: () => stop.abort() };
      },
    }),
  });
}

async function openSocket(connectionParams: Record<string, string>): Promise<Socket> {
  const createClient = await socketClient.load();
  const url = new URL(ENDPOINT);
  url.protocol = url.protocol.replace("http", "ws");
  return createClient({
    url: url.href,
    connectionParams,
    lazyCloseTimeout: 5_000, // pages that follow each other share the connection
    retryAttempts: Infinity,
    retryWait: pause,
    shouldRetry: () => true,
    on: { connected: (_socket, _payload, isAgain) => isAgain && reconnections.set(reconnections.get() + 1) },
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
