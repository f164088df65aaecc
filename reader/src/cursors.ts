import { useSearch } from "wouter";
import { withQuery } from "./addresses";
import { graphql, readFragment, type FragmentType } from "./gql";

/** How many items a page of a list has if its address names it by a cursor, as in `/feed?after=CURSOR`. */
export const CURSOR_PAGE = 25;

export const CURSORS = graphql(`
  fragment Cursors on PageInfo {
    hasNextPage
    hasPreviousPage
    startCursor
    endCursor
  }
`);

/** The arguments of the page that the address names by `after` or `before`, or of the first page if it has neither. */
export function useCursors(size = CURSOR_PAGE) {
  const parameters = new URLSearchParams(useSearch());
  const before = parameters.get("before");
  const after = parameters.get("after");
  return before ? { last: size, before } : { first: size, ...(after && { after }) };
}

/** Whether the arguments of a page, which `useCursors` returns, are those of the first page: they have no cursor. */
export const isFirstPage = (cursors: object): boolean => !("after" in cursors || "before" in cursors);

/** The addresses of the pages before and after one, null where there is none. `parameters` are kept in both. */
export function cursorPages(
  path: string,
  pageInfo: FragmentType<typeof CURSORS>,
  parameters: Record<string, string | null> = {},
) {
  const info = readFragment(CURSORS, pageInfo);
  return {
    previous: info.hasPreviousPage ? withQuery(path, { ...parameters, before: info.startCursor }) : null,
    next: info.hasNextPage ? withQuery(path, { ...parameters, after: info.endCursor }) : null,
  };
}
