import "./pages.css";
import { useMemo } from "react";
import { Link, useParams, useSearch } from "wouter";
import { groupPath, withQuery } from "../addresses";
import { Articles } from "../components/Articles";
import { Orders, rankingOf, rankingPath } from "../components/Orders";
import { Content, Page } from "../components/Page";
import { Pager } from "../components/Pager";
import { PAGE_SIZE, RankedArticles } from "../components/RankedArticles";
import { Tabs } from "../components/Tabs";
import { usePageQuery } from "../frame";
import { graphql } from "../gql";
import type { ArticleOrder } from "../gql/graphql";
import { isRouted } from "../routes";
import { NotFound } from "./NotFound";

const HOUR = 3_600_000;
const PERIODS = [
  { period: "day", name: "Top of the day", hours: 24 },
  { period: "week", name: "Week", hours: 7 * 24 },
  { period: "month", name: "Month", hours: 30 * 24 },
];

const GROUP = graphql(`
  query Group($name: String!, $order: ArticleOrder!, $since: DateTime, $page: Int!, $first: Int!) {
    ...Frame
    group(name: $name) {
      id
      name
      articles(order: $order, since: $since, page: $page, first: $first) {
        totalCount
        pageInfo {
          hasNextPage
        }
        ...Articles
      }
    }
  }
`);

/** The articles of a group in one of its orders, or those with the most votes of a day, a week or a month. */
export default function GroupPage() {
  const { name = "" } = useParams();
  const search = useSearch();
  const ranking = rankingOf(search);
  const period = new URLSearchParams(search).get("top");
  if (!ranking || (period !== null && !PERIODS.some((each) => each.period === period))) return <NotFound />;
  return <Ranking key={`${name} ${search}`} name={name} period={period} {...ranking} />;
}

interface RankingProps {
  name: string;
  period: string | null;
  order: ArticleOrder;
  page: number;
}

function Ranking({ name, period, order, page }: RankingProps) {
  const since = useSince(period);
  const shown: ArticleOrder = period ? "VOTES" : order;
  const variables = { name, order: shown, since, page, first: PAGE_SIZE };
  const [result, retry] = usePageQuery(GROUP, variables);
  const path = groupPath(name);
  const pathOf = (page: number) =>
    period ? withQuery(path, { top: period, since, page: page === 1 ? null : page }) : rankingPath(path, order, page);
  return (
    <Page title={result.data?.group?.name ?? name} isReady={!result.fetching}>
      <div className="lists">
        <nav aria-label="Orders">
          <Orders path={path} current={period ? null : order} />
        </nav>
        <Tabs
          label="Top"
          tabs={PERIODS.map((each) => ({
            ...topOf(path, each.period),
            name: each.name,
            isCurrent: each.period === period,
          }))}
        />
      </div>
      <Content result={result} retry={retry}>
        {({ group }) =>
          group ? (
            <>
              <p className="profile">
                <span>{group.articles.totalCount === 1 ? "1 article" : `${group.articles.totalCount} articles`}</span>
                {isRouted("/post") && <Link href={withQuery("/post", { group: group.name })}>Post here</Link>}
                <a href={`${groupPath(group.name).slice(1)}/rss.xml`}>RSS</a>
              </p>
              {period ? (
                <Articles
                  articles={group.articles}
                  firstRank={1 + (page - 1) * PAGE_SIZE}
                  empty={`Nothing was posted in this ${period}.`}
                />
              ) : (
                <RankedArticles articles={group.articles} group={group.name} order={order} page={page} />
              )}
              <Pager
                previous={page > 1 ? pathOf(page - 1) : null}
                next={group.articles.pageInfo.hasNextPage ? pathOf(page + 1) : null}
              />
            </>
          ) : (
            <p className="empty">No group can have this name.</p>
          )
        }
      </Content>
    </Page>
  );
}

const topOf = (path: string, period: string) => ({ path: withQuery(path, { top: period }) });

/** The start of the period, by the hour, so that the cache knows the page again. Next pages keep that of the first. */
function useSince(period: string | null): string | null {
  const given = new URLSearchParams(useSearch()).get("since");
  return useMemo(() => {
    const hours = PERIODS.find((each) => each.period === period)?.hours;
    if (hours === undefined) return null;
    return given ?? new Date((Math.floor(Date.now() / HOUR) - hours) * HOUR).toISOString();
  }, [given, period]);
}
