import type { Client as Socket } from "graphql-ws";
import { Client, fetchExchange, mapExchange, subscriptionExchange, type OperationResult } from "urql";
import { cache } from "./cache";
import { ENDPOINT } from "./addresses";
import { lazyFile } from "./files";
import { reconnections } from "./live";
import { pause } from "./network";
import { graphql } from "./gql";
import { beginSession, currentSession, leaveSession, type Session } from "./session";
import { say, sayProblem } from "./status";
import { t } from "./words";

// graphql-ws, loaded with the first subscription. Only `createClient` is taken: the build leaves out the rest.
const socketClient = lazyFile(async () => (await import("graphql-ws")).createClient);

const WHO = graphql(`
  query Who {
    viewer {
      id
      username
    }
  }
`);

/** A client for a session, or for visitors, with a cache of its own: what one viewer sees is not for the next one. */
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

/** Headers that name the user whom the page shows: the server then refuses the cookie of another user. */
export function headersOf(session: Session | null): Record<string, string> {
  return session ? { "X-Upvote-Viewer": session.username } : {};
}

/** Subscriptions share one WebSocket, which is opened for the first of them, after the page is shown. */
function live(headers: Record<string, string>) {
  let socket: Promise<Socket> | undefined;
  return subscriptionExchange({
    forwardSubscription: ({ query = "", variables = {} }) => ({
      subscribe(sink) {
        const stop = new AbortController();
        const start = (opened: Socket) => {
          if (stop.signal.aborted) return;
          const unsubscribe = opened.subscribe({ query, variables }, sink);
          stop.signal.addEventListener("abort", unsubscribe);
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
    lazyCloseTimeout: 5_000, // milliseconds: pages that follow each other share the connection
    retryAttempts: Infinity,
    retryWait: pause,
    shouldRetry: () => true,
    on: { connected: (_socket, _payload, isAgain) => isAgain && reconnections.set(reconnections.get() + 1) },
  });
}

/**
 * The server says in `extensions.session` of a result that the session of the page has `ended`, or has `changed`:
 * somebody else is logged in now. The page stays, as that of a visitor or of the other user. `sent` is the session with
 * which the request was sent.
 */
function checkSession({ data, extensions, error }: OperationResult, sent: Session | null): void {
  if (currentSession() !== sent) return;
  if (sent === null) {
    adopt(data as { viewer?: { username?: string } | null } | undefined);
    return;
  }
  const all = [extensions, ...(error?.graphQLErrors ?? []).map((each) => each.extensions)];
  const states = all.map((each) => each?.session);
  if (!states.includes("ended") && !states.includes("changed")) return;
  if (leaveSession(sent) !== null) return; // the page has taken a session that another tab has begun
  if (states.includes("ended")) sayProblem(t("session-ended-write"));
  else void connect(null).query(WHO, {}).toPromise(); // `adopt` begins the session of the user in the answer
}

/** The browser has a cookie of which the page knows nothing: its storage is blocked or was emptied, or the user changed. */
function adopt(data: { viewer?: { username?: string } | null } | undefined): void {
  if (!data?.viewer?.username) return;
  beginSession(data.viewer.username);
  say(t("logged-in-as", { name: data.viewer.username }));
}
