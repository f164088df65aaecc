import "./pages.css";
import { useMutation } from "urql";
import { useSearch } from "wouter";
import { useArrivals } from "../arrivals";
import { useArticleChanges } from "../changes";
import { ArticleLine } from "../components/ArticleLine";
import { Arrivals } from "../components/Arrivals";
import { LogInFirst } from "../components/LogInFirst";
import { isUnseen, MarkSeen, New } from "../components/MarkSeen";
import { Content, Page } from "../components/Page";
import { Pager } from "../components/Pager";
import { cursorPages, useCursors } from "../cursors";
import { usePageQuery } from "../frame";
import { graphql, type DocumentType } from "../gql";
import { useSession } from "../session";

const FEED = graphql(`
  query Feed($first: Int, $after: String, $last: Int, $before: String) {
    ...Frame
    feed {
      id
      seenThrough
      unseenCount
      articles(first: $first, after: $after, last: $last, before: $before) {
        edges {
          cursor
          node {
            id
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
        code
        message
      }
    }
  }
`);

/** The articles of the viewer and of those whom they follow, newest first. */
export default function FeedPage() {
  const search = useSearch();
  if (useSession() === null) {
    return (
      <Page title="Feed">
        <LogInFirst reason="Your feed has the articles of the people you follow, newest first." />
      </Page>
    );
  }
  return <Feed key={search} />;
}

function Feed() {
  const cursors = useCursors();
  const [result, retry] = usePageQuery(FEED, cursors);
  const isFirst = Object.keys(cursors).length === 1;
  const items = result.data?.feed?.articles.edges;
  const arrivals = useArrivals(NEW_ARTICLES, { path: "/feed", items, isFirst, retry });

  return (
    <Page title="Feed" isReady={!result.fetching}>
      <Arrivals one="article" {...arrivals} />
      <Content result={result} retry={retry}>
        {({ feed }) => feed && <FeedArticles feed={feed} isFirst={isFirst} />}
      </Content>
    </Page>
  );
}

type FeedData = NonNullable<DocumentType<typeof FEED>["feed"]>;

function FeedArticles({ feed, isFirst }: { feed: FeedData; isFirst: boolean }) {
  const [, markSeen] = useMutation(MARK_FEED_SEEN);
  const { edges, pageInfo } = feed.articles;
  useArticleChanges(edges.map(({ node }) => node));
  const newest = isFirst ? edges[0]?.cursor : undefined;

  async function mark(through: string) {
    const { data, error } = await markSeen({ through });
    return { error, refusals: data?.markFeedSeen?.userErrors };
  }

  if (edges.length === 0) {
    return <p className="empty">There is nothing here yet. Follow people: their articles come here, newest first.</p>;
  }
  return (
    <>
      {newest && <MarkSeen count={feed.unseenCount} mark={() => mark(newest)} />}
      <ol className="articles">
        {edges.map(({ node }) => (
          <li key={node.id} className="may-be-new">
            {isUnseen(node.postedAt, feed.seenThrough) && <New />}
            <ArticleLine article={node} />
          </li>
        ))}
      </ol>
      <Pager {...cursorPages("/feed", pageInfo)} />
    </>
  );
}
