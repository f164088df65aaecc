// Runs the story of ./story with Apollo Client, its normalized cache, and subscriptions over graphql-ws.
import { ApolloClient, ApolloLink, HttpLink, InMemoryCache } from "@apollo/client";
import { GraphQLWsLink } from "@apollo/client/link/subscriptions";
import { isSubscriptionOperation, relayStylePagination } from "@apollo/client/utilities";
import { getOperationAST } from "graphql";
import { createClient } from "graphql-ws";

import { given, Inbox } from "./inbox";
import { runStory, type Client, type Document, type Variables } from "./story";

class Apollo implements Client {
  private readonly socket;
  private readonly client;

  constructor(url: string, token?: string) {
    const headers: Record<string, string> = token ? { authorization: `Bearer ${token}` } : {};
    this.socket = createClient({ url: url.replace("http", "ws"), connectionParams: headers });
    this.client = new ApolloClient({
      link: ApolloLink.split(
        ({ query }) => isSubscriptionOperation(query),
        new GraphQLWsLink(this.socket),
        new HttpLink({ uri: url, headers }),
      ),
      cache: new InMemoryCache({
        typePolicies: { Query: { fields: { articles: relayStylePagination(["group", "order"]) } } },
        possibleTypes: { UserError: ["Refusal", "VotingClosed", "RateLimited", "Banned"] },
      }),
    });
  }

  async run<Data, V extends Variables>(document: Document<Data, V>, variables: V): Promise<Data> {
    const { data } =
      getOperationAST(document)?.operation === "mutation"
        ? await this.client.mutate<Data, Variables>({ mutation: document, variables })
        : await this.client.query<Data, Variables>({ query: document, variables, fetchPolicy: "network-only" });
    return given(data) as Data;
  }

  listen<Data, V extends Variables>(query: Document<Data, V>, variables: V): Inbox<Data> {
    const inbox = new Inbox<Data>();
    const messages = this.client.subscribe<Data, Variables>({ query, variables });
    messages.subscribe(({ data }) => inbox.put(given(data) as Data));
    return inbox;
  }

  known<Data, V extends Variables>(query: Document<Data, V>, variables: V): Data | null {
    return this.client.readQuery<Data, Variables>({ query, variables }) as Data | null;
  }

  close(): void | Promise<void> {
    this.client.stop();
    return this.socket.dispose();
  }
}

void runStory((url, token) => new Apollo(url, token));
