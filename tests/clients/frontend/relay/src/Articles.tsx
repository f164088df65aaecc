import { graphql, useLazyLoadQuery, usePaginationFragment } from "react-relay";
import type { Articles_page$key } from "./__generated__/Articles_page.graphql";
import type { ArticlesQuery } from "./__generated__/ArticlesQuery.graphql";
import type { ArticlesNextQuery } from "./__generated__/ArticlesNextQuery.graphql";

export function Articles() {
  const query = useLazyLoadQuery<ArticlesQuery>(
    graphql`
      query ArticlesQuery {
        ...Articles_page
      }
    `,
    {},
  );
  return <List query={query} />;
}

function List({ query }: { query: Articles_page$key }) {
  const { data, hasNext, isLoadingNext, loadNext } = usePaginationFragment<ArticlesNextQuery, Articles_page$key>(
    graphql`
      fragment Articles_page on Query
      @argumentDefinitions(first: { type: "Int", defaultValue: 2 }, after: { type: "String" })
      @refetchable(queryName: "ArticlesNextQuery") {
        articles(order: TIME, first: $first, after: $after) @connection(key: "Articles_articles") {
          edges {
            node {
              id
              title
              votes
            }
          }
        }
      }
    `,
    query,
  );
  return (
    <>
      <ul>
        {data.articles?.edges.map(({ node }) => (
          <li key={node.id}>
            {node.votes} {node.title}
          </li>
        ))}
      </ul>
      {hasNext && (
        <button disabled={isLoadingNext} onClick={() => loadNext(2)}>
          More
        </button>
      )}
    </>
  );
}
