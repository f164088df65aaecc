import { useParams, useSearch } from "wouter";
import { withQuery } from "../addresses";
import { useRenewal } from "../changes";
import { Articles } from "../components/Articles";
import { SiteLists } from "../components/SiteLists";
import { Content, Page } from "../components/Page";
import { Pager } from "../components/Pager";
import { ARTICLES_PER_PAGE } from "../components/RankedArticles";
import { usePageQuery } from "../frame";
import { graphql } from "../gql";
import { PERIODS, periodTexts, useSince } from "../periods";
import { NoPage } from "./NotFound";

const TOP = graphql(`
  query Top($since: DateTime!, $first: Int!, $after: String) {
    ...Frame # what the header shows
    articles(order: VOTES, since: $since, first: $first, after: $after) {
      pageInfo {
        hasNextPage
        endCursor
      }
      ...Articles
    }
  }
`);

/** The articles of the last day, week or month, those with the most votes first. */
export default function TopPage() {
  const { period = "" } = useParams();
  return PERIODS.some((each) => each.period === period) ? <Top key={period} period={period} /> : <NoPage />;
}

function Top({ period }: { period: string }) {
  const path = `/top/${period}`;
  const texts = periodTexts(period);
  const parameters = new URLSearchParams(useSearch());
  const after = parameters.get("after");
  // The rank of the first article, which the link to the next page passes on.
  const firstRank = Math.max(1, Number.parseInt(parameters.get("from") ?? "", 10) || 1);
  const since = useSince(period, parameters.get("since")) ?? "";
  const variables = { since, first: ARTICLES_PER_PAGE, after };
  const [result, retry] = usePageQuery(TOP, variables);
  const renew = useRenewal(TOP, variables);
  return (
    <Page title={texts.label} isHeadingShown={false} isReady={!result.fetching}>
      <SiteLists path={path} />
      <Content result={result} retry={retry}>
        {({ articles }) =>
          articles && (
            <>
              <Articles articles={articles} firstRank={firstRank} renew={renew} empty={texts.empty} />
              <Pager
                previous={after === null ? null : path}
                next={nextPath(path, since, firstRank, articles.pageInfo)}
              />
            </>
          )
        }
      </Content>
    </Page>
  );
}

interface PageInfo {
  hasNextPage: boolean;
  endCursor?: string | null;
}

function nextPath(path: string, since: string, firstRank: number, { hasNextPage, endCursor }: PageInfo): string | null {
  return hasNextPage ? withQuery(path, { since, after: endCursor, from: firstRank + ARTICLES_PER_PAGE }) : null;
}
