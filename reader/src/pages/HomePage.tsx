import "./pages.css";
import { Link, useSearch } from "wouter";
import { useArticleChanges, useOnceASecond, useRenewal } from "../changes";
import { OwnLine } from "../components/OwnLine";
import { LiveList } from "../components/LiveList";
import { LogInFirst } from "../components/LogInFirst";
import { rankingOf } from "../components/Orders";
import { Content, Page } from "../components/Page";
import { Pager } from "../components/Pager";
import { ARTICLES_PER_PAGE } from "../components/RankedArticles";
import { isPeriod, RankingLists } from "../components/RankingLists";
import { cursorPages, useCursors } from "../cursors";
import { usePageQuery } from "../frame";
import { graphql, type DocumentType } from "../gql";
import type { ArticleOrder } from "../gql/graphql";
import { useLive } from "../live";
import { periodTexts, useSince } from "../periods";
import { RankingContext } from "../ranking";
import { useSession } from "../session";
import { NoPage } from "./NotFound";
import { t } from "../words";
import { Words } from "../components/Words";

// `pinned`: the server keeps the present order for the next pages. `near`: the first 100 articles, as any of them may
// rise to the first page.
const HOME = graphql(`
  query Home(
    $order: ArticleOrder!
    $since: DateTime
    $first: Int
    $after: String
    $last: Int
    $before: String
    $isFirst: Boolean!
  ) {
    ...Frame # what the header shows
    home {
      id
      groups(first: 1) {
        totalCount
      }
      articles(
        order: $order
        since: $since
        first: $first
        after: $after
        last: $last
        before: $before
        pinned: $isFirst
      ) {
        nodes {
          id
          title
          ...ArticleLine
        }
        pageInfo {
          ...Cursors
        }
      }
      near: articles(order: $order, since: $since, first: 100) @include(if: $isFirst) {
        nodes {
          id
        }
      }
    }
  }
`);

const POSTED = graphql(`
  subscription PostedForHome {
    articlePosted {
      id
      poster {
        id
        viewerIsBlocking
      }
      groups {
        id
        viewerIsFollowing
      }
    }
  }
`);

/** The articles of the groups that the viewer follows, in one of the orders, or those with the most votes of a period. */
export default function HomePage() {
  const search = useSearch();
  const session = useSession();
  const ranking = rankingOf(search);
  const period = new URLSearchParams(search).get("top");
  if (!ranking || (period !== null && !isPeriod(period))) return <NoPage />;
  if (session === null) {
    return (
      <Page title={t("home")}>
        <LogInFirst reason={t("home-first")} />
      </Page>
    );
  }
  return <Home key={search} period={period} order={ranking.order} />;
}

interface HomeProps {
  /** The period whose articles with the most votes are shown, such as `week`; null for an order. */
  period: string | null;
  order: ArticleOrder;
}

function Home({ period, order }: HomeProps) {
  const parameters = new URLSearchParams(useSearch());
  const since = useSince(period, parameters.get("since"));
  const isFirst = !parameters.has("after") && !parameters.has("before");
  const shownOrder = period ? ("VOTES" as const) : order;
  const variables = { order: shownOrder, since, ...useCursors(ARTICLES_PER_PAGE), isFirst };
  const [result, retry] = usePageQuery(HOME, variables);
  const renew = useRenewal(HOME, variables);
  // The parameters that the addresses of other pages have, too.
  const kept = { order: parameters.get("order"), top: period, since };
  return (
    <Page
      title={t("home-of", { what: period ? periodTexts(period).lower : t(`home-order-${order.toLowerCase()}`) })}
      isHeadingShown={false}
      isReady={!result.fetching}
    >
      <RankingLists path="/home" order={order} period={period} />
      <Content result={result} retry={retry}>
        {({ home }) =>
          home && (
            <>
              <Chosen count={home.groups.totalCount} />
              <RankingContext value={period ? null : { order, isHome: true }}>
                <HomeArticles home={home} renew={isFirst ? renew : null} />
              </RankingContext>
              <Pager {...cursorPages("/home", home.articles.pageInfo, kept)} />
            </>
          )
        }
      </Content>
    </Page>
  );
}

/** How many groups the viewer follows, with a link to them, or to all if there are none. */
function Chosen({ count }: { count: number }) {
  return (
    <p className="filter">
      <Words
        id={count === 0 ? "home-no-groups" : "home-groups"}
        count={count}
        link={(text) => <Link href={count === 0 ? "/groups" : "/followed"}>{text}</Link>}
      />
    </p>
  );
}

interface HomeArticlesProps {
  home: NonNullable<DocumentType<typeof HOME>["home"]>;
  /** Reads the first page again; null for other pages, which are not read again. */
  renew: (() => unknown) | null;
}

/**
 * Articles as they are now: they are read again after a vote on one of them or of the next ones, which may rise to them,
 * and when one is posted that belongs here.
 */
function HomeArticles({ home: { groups, articles, near }, renew }: HomeArticlesProps) {
  const renewSoon = useOnceASecond(() => renew?.());
  useArticleChanges(near?.nodes ?? articles.nodes, renew ?? undefined);
  useLive(POSTED, renew && {}, {
    onData: ({ articlePosted: { poster, groups: within } }) => {
      const isFollowed = groups.totalCount === 0 || within.some(({ viewerIsFollowing }) => viewerIsFollowing);
      if (isFollowed && !poster.viewerIsBlocking) renewSoon();
    },
    onGap: () => void renew?.(),
  });
  return (
    <LiveList
      items={articles.nodes}
      idOf={({ id }) => id}
      textOfNews="new-articles"
      className="articles"
      empty={<p className="empty">{t("no-articles")}</p>}
    >
      {(article, index) => <OwnLine article={article} rank={renew ? index + 1 : undefined} />}
    </LiveList>
  );
}
