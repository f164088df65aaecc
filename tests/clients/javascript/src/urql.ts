// Runs the story of ./story with urql, its normalized cache, and subscriptions over graphql-ws.
import { Client as Urql, fetchExchange, subscriptionExchange } from "@urql/core";
import { cacheExchange } from "@urql/exchange-graphcache";
import { relayPagination } from "@urql/exchange-graphcache/extras";
import { minifyIntrospectionQuery } from "@urql/introspection";
import { getIntrospectionQuery, getOperationAST, type IntrospectionQuery } from "graphql";
import { createClient } from "graphql-ws";

import { given, Inbox } from "./inbox";
import { runStory, type Client, type Document, type Variables } from "./story";

class UrqlClient implements Client {
  private readonly socket;
  private readonly client;

  constructor(schema: IntrospectionQuery, url: string, token?: string) {
    const headers: Record<string, string> = token ? { authorization: `Bearer ${token}` } : {};
    const socket = createClient({ url: url.replace("http", "ws"), connectionParams: headers });
    const subscriptions = subscriptionExchange({
      forwardSubscription: ({ query = "", ...rest }) => ({
        subscribe: (sink) => ({ unsubscribe: socket.subscribe({ query, variables: rest.variables }, sink) }),
      }),
    });
    const cache = cacheExchange({ schema, resolvers: { Query: { articles: relayPagination() } } });
    this.socket = socket;
    this.client = new Urql({ url, fetchOptions: { headers }, exchanges: [cache, fetchExchange, subscriptions] });
  }

  async run<Data, V extends Variables>(document: Document<Data, V>, variables: V): Promise<Data> {
    const operation = getOperationAST(document)?.operation === "mutation" ? "mutation" : "query";
    const { data, error } = await this.client[operation](document, variables).toPromise();
    if (error) throw error;
    return given(data);
  }

  listen<Data, V extends Variables>(document: Document<Data, V>, variables: V): Inbox<Data> {
    const inbox = new Inbox<Data>();
    this.client.subscription(document, variables).subscribe(({ data, error }) => {
      if (error) throw error;
      inbox.put(given(data));
    });
    return inbox;
  }

  known<Data, V extends Variables>(document: Document<Data, V>, variables: V): Data | null {
    return this.client.readQuery(document, variables, { requestPolicy: "cache-only" })?.data ?? null;
  }

  close(): void | Promise<void> {
    return this.socket.dispose();
  }
}

/** With the schema, its cache knows which types are a UserError. */
async function introspection(url: string): Promise<IntrospectionQuery> {
  const answer = await new Urql({ url, exchanges: [fetchExchange] })
    .query<IntrospectionQuery>(getIntrospectionQuery(), {})
    .toPromise();
  return minifyIntrospectionQuery(given(answer.data));
}

const [url] = process.argv.slice(2) as [string];
void introspection(url).then((schema) => runStory((url, token) => new UrqlClient(schema, url, token)));
