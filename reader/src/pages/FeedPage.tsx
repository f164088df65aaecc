import "./pages.css";
import { useMutation } from "urql";
import { useSearch } from "wouter";
import { useArrivals, type Arrivals } from "../arrivals";
import { useArticleChanges, useRenewal } from "../changes";
import { LiveList } from "../components/LiveList";
import { LogInFirst } from "../components/LogInFirst";
import { isUnseen, MarkSeen, New } from "../components/MarkSeen";
import { OwnLine } from "../components/OwnLine";
import { Content, Page } from "../components/Page";
import { Pager } from "../components/Pager";
import { cursorPages, isFirstPage, useCursors } from "../cursors";
import { usePageQuery } from "../frame";
import { graphql, type DocumentType } from "../gql";
import { useSession } from "../session";
import { t } from "../words";

const FEED = graphql(`
  query Feed($first: Int, $after: String, $last: Int, $before: String) {
    ...Frame # what the header shows
    feed {
      id
      seenThrough
      unseenCount
      articles(first: $first, after: $after, last: $last, before: $before) {
        edges {
          cursor
          node {
            id
            title
            postedAt
            ...ArticleLine
          }
        }
        pageInfo {
          ...Cursors
        }
      }
    }
  }
`);

const FEED_ARTICLE = graphql(`
  subscription FeedArticle {
    feedArticle {
      id
    }
  }
`);

const MISSED_ARTICLES = graphql(`
  query MissedArticles($first: Int, $last: Int, $before: String) {
    feed {
      id
      articles(first: $first, last: $last, before: $before) {
        nodes {
          id
        }
      }
    }
  }
`);

/** How the page learns of new articles; `missed` is asked for after a lost connection. */
const NEW_ARTICLES = {
  subscription: FEED_ARTICLE,
  idOf: ({ feedArticle }: DocumentType<typeof FEED_ARTICLE>) => feedArticle.id,
  missed: MISSED_ARTICLES,
  idsOf: ({ feed }: DocumentType<typeof MISSED_ARTICLES>) => feed?.articles.nodes.map(({ id }) => id) ?? [],
};

const MARK_FEED_SEEN = graphql(`
  mutation MarkFeedSeen($through: String!) {
    markFeedSeen(input: { through: $through }) {
      feed {
        id
        seenThrough
        unseenCount
      }
      userErrors {
        ...Refused
      }
    }
  }
`);

/** The articles of the viewer and of those whom they follow, newest first. */
export default function FeedPage() {
  const search = useSearch();
  if (useSession() === null) {
    return (
      <Page title={t("feed-title")}>
        <LogInFirst reason={t("feed-first")} />
      </Page>
    );
  }
  return <Feed key={search} />;
}

function Feed() {
  const cursors = useCursors();
  const [result, retry] = usePageQuery(FEED, cursors);
  const isFirst = isFirstPage(cursors);
  const items = result.data?.feed?.articles.edges;
  const renew = useRenewal(FEED, cursors);
  const arrivals = useArrivals(NEW_ARTICLES, { path: "/feed", items, isFirst, renew });

  return (
    <Page title={t("feed-title")} isReady={!result.fetching}>
      <Content result={result} retry={retry}>
        {({ feed }) => feed && <FeedArticles {...{ feed, isFirst, arrivals }} />}
      </Content>
    </Page>
  );
}

type FeedData = NonNullable<DocumentType<typeof FEED>["feed"]>;

interface FeedArticlesProps {
  feed: FeedData;
  isFirst: boolean;
  arrivals: Arrivals;
}

function FeedArticles({ feed, isFirst, arrivals }: FeedArticlesProps) {
  const [, markSeen] = useMutation(MARK_FEED_SEEN);
  const { edges, pageInfo } = feed.articles;
  useArticleChanges(edges.map(({ node }) => node));
  const newestCursor = isFirst ? edges[0]?.cursor : undefined;

  async function mark(through: string) {
    const { data, error } = await markSeen({ through });
    return { error, refusals: data?.markFeedSeen?.userErrors };
  }

  return (
    <>
      {newestCursor && <MarkSeen count={feed.unseenCount} mark={() => mark(newestCursor)} />}
      <LiveList
        items={edges}
        idOf={({ node }) => node.id}
        textOfNews="new-articles"
        className="articles"
        row={{ className: "may-be-new" }}
        empty={<p className="empty">{t("feed-empty")}</p>}
        arrivals={arrivals}
      >
        {({ node }) => (
          <>
            {isUnseen(node.postedAt, feed.seenThrough) && <New />}
            <OwnLine article={node} />
          </>
        )}
      </LiveList>
      <Pager {...cursorPages("/feed", pageInfo)} />
    </>
  );
}
