import { useSearch } from "wouter";
import { withQuery } from "./addresses";
import { graphql, readFragment, type FragmentType } from "./gql";

/** The number of items of a page that an address names by its cursor. */
export const CURSOR_PAGE = 25;

export const CURSORS = graphql(`
  fragment Cursors on PageInfo {
    hasNextPage
    hasPreviousPage
    startCursor
    endCursor
  }
`);

/** The arguments of the page that the address names by `after` or `before`; of the first one if it has neither. */
export function useCursors(size = CURSOR_PAGE) {
  const parameters = new URLSearchParams(useSearch());
  const before = parameters.get("before");
  const after = parameters.get("after");
  return before ? { last: size, before } : { first: size, ...(after && { after }) };
}

/** The addresses of the pages before and after one; `parameters` are those that both keep. */
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
