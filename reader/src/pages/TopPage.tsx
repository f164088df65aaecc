import { useMemo } from "react";
import { useParams, useSearch } from "wouter";
import { withQuery } from "../addresses";
import { Articles } from "../components/Articles";
import { Lists } from "../components/Lists";
import { Content, Page } from "../components/Page";
import { Pager } from "../components/Pager";
import { PAGE_SIZE } from "../components/RankedArticles";
import { usePageQuery } from "../frame";
import { graphql } from "../gql";
import { NotFound } from "./NotFound";

const DAY = 86_400_000;
const HOUR = 3_600_000;
const PERIODS: Record<string, number> = { day: DAY, week: 7 * DAY, month: 30 * DAY };

const TOP = graphql(`
  query Top($since: DateTime!, $first: Int!, $after: String) {
    ...Frame
    articles(order: VOTES, since: $since, first: $first, after: $after) {
      pageInfo {
        hasNextPage
        endCursor
      }
      ...Articles
    }
  }
`);

/** The most votes of the last day, week or month. */
export default function TopPage() {
  const { period = "" } = useParams();
  const length = PERIODS[period];
  return length === undefined ? <NotFound /> : <Top key={period} period={period} length={length} />;
}

function Top({ period, length }: { period: string; length: number }) {
  const path = `/top/${period}`;
  const parameters = new URLSearchParams(useSearch());
  const after = parameters.get("after");
  const place = Number(parameters.get("from") ?? 1);
  const since = useSince(parameters.get("since"), length);
  const [result, retry] = usePageQuery(TOP, { since, first: PAGE_SIZE, after });
  return (
    <Page title={`Top of the ${period}`} isHeadingShown={false} isReady={!result.fetching}>
      <Lists path={path} />
      <Content result={result} retry={retry}>
        {({ articles }) =>
          articles && (
            <>
              <Articles articles={articles} firstRank={place} empty={`Nothing was posted in this ${period}.`} />
              <Pager previous={after === null ? null : path} next={nextPath(path, since, place, articles.pageInfo)} />
            </>
          )
        }
      </Content>
    </Page>
  );
}

/** The start of the period, by the hour, so that the cache knows the page again. Next pages keep that of the first. */
function useSince(given: string | null, length: number): string {
  return useMemo(
    () => given ?? new Date(Math.floor((Date.now() - length) / HOUR) * HOUR).toISOString(),
    [given, length],
  );
}

interface PageInfo {
  hasNextPage: boolean;
  endCursor?: string | null;
}

function nextPath(path: string, since: string, place: number, { hasNextPage, endCursor }: PageInfo): string | null {
  return hasNextPage ? withQuery(path, { since, after: endCursor, from: place + PAGE_SIZE }) : null;
}
