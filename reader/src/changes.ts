import { useEffect, useRef } from "react";
import { useClient, type AnyVariables, type TypedDocumentNode } from "urql";
import { graphql } from "./gql";
import { useLive } from "./live";

const ARTICLES_CHANGED = graphql(`
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
export function useArticleChanges(articles: readonly { id: string }[], renew?: () => void): void {
  const client = useClient();
  const variables = articles.length > 0 ? { ids: articles.map(({ id }) => id).sort() } : null;
  const renewal = useRef<ReturnType<typeof setTimeout>>(undefined);
  const latest = useRef(renew);
  useEffect(() => void (latest.current = renew));
  useEffect(() => () => clearTimeout(renewal.current), []);

  function onData() {
    if (!renew || renewal.current !== undefined) return;
    renewal.current = setTimeout(() => {
      renewal.current = undefined;
      latest.current?.();
    }, RENEWAL_PAUSE);
  }

  function onGap() {
    if (renew) renew();
    else if (variables) void client.query(MISSED_CHANGES, variables, { requestPolicy: "network-only" }).toPromise();
  }

  useLive(ARTICLES_CHANGED, variables, { onData, onGap });
}

/** Reads a page again while it is shown: the cache changes what is different. */
export function useRenewal<Data, Variables extends AnyVariables>(
  query: TypedDocumentNode<Data, Variables>,
  variables: Variables,
): () => void {
  const client = useClient();
  return () => void client.query(query, variables, { requestPolicy: "network-only" }).toPromise();
}
