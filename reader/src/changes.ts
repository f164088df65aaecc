import { useEffect, useRef, useState } from "react";
import { createRequest, useClient, type AnyVariables, type OperationResult, type TypedDocumentNode } from "urql";
import { graphql } from "./gql";
import { useLive } from "./live";

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

const RENEWAL_PAUSE = 1_000;

/**
 * Keeps listed articles, at most 100, as they are now: the cache takes each change. `renew` reads the list again, if its
 * order depends on votes; it is called once for all changes of a second.
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

/** A function that calls `task` once for all its calls of a second. */
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
 * Asks for what is shown again: the cache changes what is different. Each renewal has a key of its own, as the client drops
 * a query beside an equal one, whose answer may be older than what the renewal is about. Keys of queries are not negative.
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

/** How many items the first page does not show, as nothing is pushed into it, and what reads it again. */
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
