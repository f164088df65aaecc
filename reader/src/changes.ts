import { useEffect, useRef, useState } from "react";
import { createRequest, useClient, type AnyVariables, type OperationResult, type TypedDocumentNode } from "urql";
import { graphql } from "./gql";
import { useLive } from "./live";

// Keeps what is listed as it is now: by subscriptions, and by queries that are sent again.

export const ARTICLES_CHANGED = graphql(`
  subscription ArticlesChanged($ids: [ID!]!) {
    articlesChanged(ids: $ids) {
      id
      ...ArticleLine
    }
  }
`);

const MISSED_CHANGES = graphql(`
  query MissedChanges($ids: [ID!]!) {
    nodes(ids: $ids) {
      id
      ... on Article {
        ...ArticleLine
      }
    }
  }
`);

const RENEWAL_PAUSE = 1_000; // milliseconds

/**
 * Keeps listed articles, at most 100, as they are now: a subscription writes each change to the cache. `renew` is given
 * if the order of the list depends on votes. It reads the list again, once for all changes of a second.
 */
export function useArticleChanges(articles: readonly { id: string }[], renew?: () => unknown): void {
  const ids = articles.map(({ id }) => id).sort();
  const isEmpty = ids.length === 0;
  const catchUp = useRenewal(MISSED_CHANGES, { ids });
  const onData = useOnceASecond(() => renew?.());

  function onGap() {
    if (renew) renew();
    else if (!isEmpty) void catchUp();
  }

  useLive(ARTICLES_CHANGED, isEmpty ? null : { ids }, { onData, onGap });
}

/** A function that calls `task` one second after its first call, once for all calls until then. */
export function useOnceASecond(task: () => unknown): () => void {
  const latest = useRef(task);
  useEffect(() => void (latest.current = task));
  const timer = useRef<ReturnType<typeof setTimeout>>(undefined);
  useEffect(() => () => clearTimeout(timer.current), []);
  return () => {
    timer.current ??= setTimeout(() => {
      timer.current = undefined;
      latest.current();
    }, RENEWAL_PAUSE);
  };
}

let renewals = 0;

/**
 * A function that sends a query again, past the cache, which then has the answer. urql drops a query while one with the
 * same key is running. But the answer of that one may be older than what the renewal is to show. So each renewal has a
 * key of its own: a negative one, as those of urql are not.
 */
export function useRenewal<Data, Variables extends AnyVariables>(
  query: TypedDocumentNode<Data, Variables>,
  variables: Variables,
): () => Promise<OperationResult<Data, Variables>> {
  const client = useClient();
  return () => {
    const request = { ...createRequest(query, variables), key: -++renewals };
    return client.executeQuery(request, { requestPolicy: "network-only" }).toPromise();
  };
}

/**
 * How many new items a subscription has told, and a function that shows them: it reads the list again by `renew`. Items
 * are never pushed into a shown list. Only its first page gets new ones: for others `variables` are null, and there is
 * no subscription.
 */
export function useNewItems<Data, Variables extends AnyVariables>(
  subscription: TypedDocumentNode<Data, Variables>,
  variables: Variables | null,
  renew: () => Promise<unknown>,
) {
  const [count, setCount] = useState(0);
  useLive(subscription, variables, { onData: () => setCount((count) => count + 1), onGap: () => void show() });

  async function show() {
    await renew();
    setCount(0);
  }

  return { count, show };
}
