import { useSubscription } from "urql";
import { graphql, readFragment, type FragmentType } from "../gql";
import type { ArticleOrder } from "../gql/graphql";
import { RankingContext } from "../ranking";
import { ARTICLES, ArticleList, Articles } from "./Articles";

/** The number of articles of a page. */
export const ARTICLES_PER_PAGE = 30;

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
  /** The name of the group that is ranked; none for the site. */
  group?: string;
  /** The number of the page, from 1. */
  page: number;
}

/** A page of a ranking. Its votes are shown as they change and, on the first page, so is its order. */
export function RankedArticles({ page, ...ranking }: RankedArticlesProps) {
  const { articles, order, group } = ranking;
  return (
    <RankingContext value={{ order, group }}>
      {page === 1 ? (
        <FirstPage {...ranking} />
      ) : (
        <Articles articles={articles} firstRank={1 + (page - 1) * ARTICLES_PER_PAGE} within={group} />
      )}
    </RankingContext>
  );
}

/**
 * The first page. Its subscription to the ranking also tells the votes. So `ArticleList` shows it: `Articles` would
 * subscribe to the votes once more.
 */
function FirstPage({ articles, order, group }: Omit<RankedArticlesProps, "page">) {
  const variables = { order, first: ARTICLES_PER_PAGE, ...(group !== undefined && { group }) };
  useSubscription({ query: RANKING, variables }); // cache.ts changes `articles` by it
  return <ArticleList nodes={readFragment(ARTICLES, articles).nodes} firstRank={1} within={group} />;
}
