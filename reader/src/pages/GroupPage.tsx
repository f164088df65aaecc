import "./pages.css";
import { Link, useParams, useSearch } from "wouter";
import { groupPath, logPath, withQuery } from "../addresses";
import { useRenewal } from "../changes";
import { Articles } from "../components/Articles";
import { GroupAbout } from "../components/GroupAbout";
import { rankingOf, rankingPath, titleOfPage } from "../components/Orders";
import { Content, Page } from "../components/Page";
import { Pager } from "../components/Pager";
import { ARTICLES_PER_PAGE, RankedArticles } from "../components/RankedArticles";
import { isPeriod, RankingLists } from "../components/RankingLists";
import { FollowGroupButton } from "../follows";
import { usePageQuery } from "../frame";
import { graphql, type DocumentType } from "../gql";
import type { ArticleOrder } from "../gql/graphql";
import { periodTexts, useSince } from "../periods";
import { exists, NoGroup, NoPage } from "./NotFound";
import { t } from "../words";

const GROUP = graphql(`
  query Group($name: String!, $order: ArticleOrder!, $since: DateTime, $page: Int!, $first: Int!) {
    ...Frame # what the header shows
    group(name: $name) {
      id
      name
      title
      viewerIsFollowing
      followerCount
      ...GroupAbout
      ...Existence
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
  if (!ranking || (period !== null && !isPeriod(period))) return <NoPage />;
  return <Ranking key={`${name} ${search}`} name={name} period={period} {...ranking} />;
}

interface RankingProps {
  /** The name of the group. */
  name: string;
  /** The period whose articles with the most votes are shown, such as `week`; null for an order. */
  period: string | null;
  order: ArticleOrder;
  page: number;
}

function Ranking({ name, period, order, page }: RankingProps) {
  const since = useSince(period, new URLSearchParams(useSearch()).get("since"));
  const shownOrder: ArticleOrder = period ? "VOTES" : order;
  const variables = { name, order: shownOrder, since, page, first: ARTICLES_PER_PAGE };
  const [result, retry] = usePageQuery(GROUP, variables);
  const renew = useRenewal(GROUP, variables);
  const path = groupPath(name);
  const title = result.data?.group?.title ?? result.data?.group?.name ?? name;
  if (result.data && !exists(result.data.group)) return <NoGroup name={result.data.group?.name} />;
  return (
    <Page title={titleOfPage(title, page)} isReady={!result.fetching}>
      <RankingLists path={path} order={order} period={period} />
      <Content result={result} retry={retry}>
        {({ group }) =>
          group && <Group group={group} since={since} period={period} order={order} page={page} renew={renew} />
        }
      </Content>
    </Page>
  );
}

interface GroupProps extends Omit<RankingProps, "name"> {
  group: NonNullable<DocumentType<typeof GROUP>["group"]>;
  /** The start of the period, in ISO 8601; null without one. */
  since: string | null;
  /** Reads the page again. */
  renew: () => void;
}

function Group({ group, since, period, order, page, renew }: GroupProps) {
  const { name, title, articles } = group;
  const path = groupPath(name);
  const pathOf = (page: number) =>
    period ? withQuery(path, { top: period, since, page: page === 1 ? null : page }) : rankingPath(path, order, page);
  return (
    <>
      <p className="profile">
        {title && <span className="name">{name}</span>}
        <span>{t("articles", { count: articles.totalCount })}</span>
        <span>{t("followers", { count: group.followerCount })}</span>
        <FollowGroupButton group={group} />
        <Link href={withQuery("/post", { group: name })}>{t("post-here")}</Link>
        <Link href={logPath({ group: name })}>{t("moderation-log")}</Link>
        <a href={`${path.slice(1)}/rss.xml?order=${order}`}>{t("rss")}</a>
      </p>
      <GroupAbout group={group} />
      {period ? (
        <Articles
          articles={articles}
          firstRank={1 + (page - 1) * ARTICLES_PER_PAGE}
          renew={renew}
          within={name}
          empty={periodTexts(period).empty}
        />
      ) : (
        <RankedArticles articles={articles} group={name} order={order} page={page} />
      )}
      <Pager
        previous={page > 1 ? pathOf(page - 1) : null}
        next={articles.pageInfo.hasNextPage ? pathOf(page + 1) : null}
      />
    </>
  );
}
