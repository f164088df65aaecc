import { createContext, useContext } from "react";
import { useQuery } from "urql";
import { ARTICLES_CHANGED } from "./changes";
import { graphql, type DocumentType } from "./gql";
import { useLive } from "./live";

// A list that the user points at is held: its rows keep their places (see hold.ts). An item that leaves the list
// meanwhile is kept: it is still shown and, as the list no longer has its data, read by its id.

const KEPT = graphql(`
  query Kept($ids: [ID!]!) {
    nodes(ids: $ids) {
      __typename
      id
      ... on Article {
        ...ArticleLine
      }
      ... on Comment {
        ...CommentLine
      }
    }
  }
`);

type Node = NonNullable<DocumentType<typeof KEPT>["nodes"][number]>;
type Kept<Name> = Extract<Node, { __typename: Name }>;

/** The kept items of the list around a component, by id: as they are now, or null if they were deleted. */
export const KeptContext = createContext<ReadonlyMap<string, Node | null>>(new Map());

/** The kept items of a list, by id; articles as they change. `gone` are the ids of shown items it no longer has. */
export function useKept(gone: readonly string[]): ReadonlyMap<string, Node | null> {
  const ids = gone.filter((id) => /^(article|comment):/.test(id));
  const isPaused = ids.length === 0;
  const [{ data, operation }] = useQuery({ query: KEPT, variables: { ids }, pause: isPaused });
  const articles = ids.filter((id) => id.startsWith("article:"));
  useLive(ARTICLES_CHANGED, articles.length === 0 ? null : { ids: articles });
  const asked = operation?.variables.ids ?? [];
  return new Map(isPaused || !data ? [] : asked.map((id, index) => [id, data.nodes[index] ?? null]));
}

/** An item of a list that may no longer have it: as it is now, null if it was deleted, undefined while the list has it. */
export function useKeptNode<Name extends Node["__typename"]>(name: Name, id: string): Kept<Name> | null | undefined {
  const node = useContext(KeptContext).get(id);
  return node && node.__typename === name ? (node as Kept<Name>) : node === null ? null : undefined;
}
