import { ApolloClient, ApolloLink, CombinedGraphQLErrors, HttpLink, InMemoryCache } from "@apollo/client";
import { SetContextLink } from "@apollo/client/link/context";
import { GraphQLWsLink } from "@apollo/client/link/subscriptions";
import { isSubscriptionOperation, relayStylePagination } from "@apollo/client/utilities";
import { createClient } from "graphql-ws";
import { tap } from "rxjs";
import type { Session } from "./session";

/** A client of the server at an absolute URL, for the user of a session. */
export function connect(url: string, session: Session): ApolloClient {
  const socket = createClient({ url: url.replace("http", "ws"), connectionParams: () => session.headers });
  const client = new ApolloClient({
    link: ApolloLink.from([
      endedSessions(session),
      new SetContextLink(({ headers }) => ({ headers: { ...headers, ...session.headers } })),
      ApolloLink.split(
        ({ query }) => isSubscriptionOperation(query),
        new GraphQLWsLink(socket),
        new HttpLink({ uri: url }),
      ),
    ]),
    cache: new InMemoryCache({
      typePolicies: { Query: { fields: { articles: relayStylePagination(["group", "order", "since"]) } } },
      possibleTypes: { UserError: ["Refusal", "VotingClosed", "RateLimited", "Banned"] },
    }),
  });
  session.onChange(() => {
    socket.terminate(); // it connects again, with the new token
    // The cache has votes of another viewer. The timeout lets the response that reports the end be read first.
    setTimeout(() => client.resetStore().catch(() => undefined)); // each query has its own error
  });
  return client;
}

/** Ends the session if the server says, in a response or in the error of a subscription, that its token has ended. */
function endedSessions(session: Session): ApolloLink {
  return new ApolloLink((operation, forward) => {
    const sent = session.token;
    const check = (extensions?: Record<string, unknown>) => {
      if (extensions?.session === "ended" && session.token === sent) session.end();
    };
    return forward(operation).pipe(
      tap({
        next: ({ extensions }) => check(extensions),
        error: (error) => CombinedGraphQLErrors.is(error) && error.errors.forEach((each) => check(each.extensions)),
      }),
    );
  });
}
