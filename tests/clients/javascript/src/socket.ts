import { print } from "graphql";
import { createClient } from "graphql-ws";

import { given, Inbox } from "./inbox";
import { runStory, type Client, type Document, type Variables } from "./story";

/** graphql-ws alone: queries, mutations and subscriptions, all over one socket. */
class Socket implements Client {
  private readonly client;

  constructor(url: string, token?: string) {
    const connectionParams = token ? { authorization: `Bearer ${token}` } : {};
    this.client = createClient({ url: url.replace("http", "ws"), connectionParams });
  }

  async run<Data, V extends Variables>(document: Document<Data, V>, variables: V): Promise<Data> {
    return this.listen(document, variables).take();
  }

  listen<Data, V extends Variables>(document: Document<Data, V>, variables: V): Inbox<Data> {
    const inbox = new Inbox<Data>();
    this.client.subscribe<Data>(
      { query: print(document), variables },
      {
        next: ({ data }) => inbox.put(given(data)),
        error: (error) => void Promise.reject(error),
        complete: () => undefined,
      },
    );
    return inbox;
  }

  close(): void | Promise<void> {
    return this.client.dispose();
  }
}

void runStory((url, token) => new Socket(url, token));
