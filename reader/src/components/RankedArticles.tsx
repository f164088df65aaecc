import { useSubscription } from "urql";
import { graphql, readFragment, type FragmentType } from "../gql";
import type { ArticleOrder } from "../gql/graphql";
import { ARTICLES, ArticleList } from "./Articles";

/** The number of articles of a page. */
export const PAGE_SIZE = 30;

const RANKING = graphql(`
  subscription Ranking($order: ArticleOrder!, $group: String, $first: Int!) {
    rankingChanged(order: $order, group: $group, first: $first) {
      articles {
        id
        ...ArticleLine
      }
    }
  }
`);

interface RankedArticlesProps {
  articles: FragmentType<typeof ARTICLES>;
  order: ArticleOrder;
  group?: string;
  /** The number of the page, from 1. The first page follows the ranking as it changes. */
  page: number;
}

/** A page of a ranking. Votes and ranks of the first page change under the reader's eyes. */
export function RankedArticles({ articles, order, group, page }: RankedArticlesProps) {
  const { nodes } = readFragment(ARTICLES, articles);
  const variables = { order, first: PAGE_SIZE, ...(group !== undefined && { group }) };
  useSubscription({ query: RANKING, variables, pause: page !== 1 }); // the cache changes `articles`
  return <ArticleList key={`${group} ${order} ${page}`} nodes={nodes} firstRank={1 + (page - 1) * PAGE_SIZE} />;
}
