import { useState } from "react";
import { Link, useParams, useSearch } from "wouter";
import { useHistoryState } from "wouter/use-browser-location";
import { articlePath, withQuery } from "../addresses";
import { useRenewal } from "../changes";
import { ARTICLE_VIEW, ArticleTitle, ArticleView } from "../components/ArticleView";
import { RemovalPage } from "../components/RemovalPage";
import { Fault, Loading, Page } from "../components/Page";
import { commentOrderOf, CommentOrders, Thread } from "../components/Thread";
import { usePageQuery } from "../frame";
import { graphql, readFragment } from "../gql";
import type { ArticlePageQuery, CommentOrder } from "../gql/graphql";
import { useLive } from "../live";
import { COMMENTS_PER_PAGE } from "../useThread";
import { NoPage, NotFound } from "./NotFound";
import { t } from "../words";
import { Words } from "../components/Words";

const ARTICLE_PAGE = graphql(`
  query ArticlePage($id: ID!, $order: CommentOrder!, $first: Int!, $after: String) {
    ...Frame # what the header shows
    article(id: $id) {
      id
      commentCount
      ...ArticleView
      thread(order: $order, first: $first, after: $after) {
        ...ThreadPlaces
      }
    }
    log: moderationLog(subjectId: $id, first: 10) {
      ...RemovalPage
    }
  }
`);

const ARTICLE_CHANGED = graphql(`
  subscription ArticleChanged($id: ID!) {
    articleChanged(id: $id) {
      id
      commentCount
      ...ArticleView
    }
  }
`);

/**
 * An article with its comments, from the first one on. If the address has a cursor `after`, they begin after that: the
 * server's HTML has such links to further comments.
 */
export default function ArticlePage() {
  const { number = "" } = useParams();
  const search = useSearch();
  const [order, after] = [commentOrderOf(search), new URLSearchParams(search).get("after")];
  const id = `article:${number}`;
  return isNumber(number) ? <WithComments key={`${id} ${search}`} {...{ id, order, after }} /> : <NoPage />;
}

/** Whether a part of an address can be the number of an id: the server refuses others as malformed. */
export const isNumber = (text: string): boolean => /^[1-9][0-9]{0,18}$/.test(text);

interface WithCommentsProps {
  /** The id of the article. */
  id: string;
  order: CommentOrder;
  /** The cursor after which the comments begin; null for the first ones. */
  after: string | null;
}

function WithComments({ id, order, after }: WithCommentsProps) {
  const variables = { id, order, first: COMMENTS_PER_PAGE, after };
  const [{ data, error }, refetch] = usePageQuery(ARTICLE_PAGE, variables);
  // not `refetch`: it sends nothing while an older request of the page is under way
  const renew = useRenewal(ARTICLE_PAGE, variables);
  const last = useLast(data?.article);
  const retry = () => refetch({ requestPolicy: "network-only" });
  if (data && !data.article)
    return <RemovalPage actionsOn={[data.log]} otherwise={last ? <Deleted /> : <NotFound />} />;
  if (last) return <LoadedArticle article={last} order={order} isRest={after !== null} onEnd={() => void renew()} />;
  if (!error) return <Loading />;
  return (
    <Page title={t("article")}>
      <Fault error={error} retry={retry} />
    </Page>
  );
}

/** A value, or the last one while it is absent. So a page stays while it is read again, as when a session has ended. */
export function useLast<Value>(value: Value | null | undefined): Value | null {
  const [last, setLast] = useState(value ?? null);
  if (value && value !== last) setLast(value);
  return value ?? last;
}

interface LoadedArticleProps {
  article: NonNullable<ArticlePageQuery["article"]>;
  order: CommentOrder;
  /** Whether the first comments are left out. */
  isRest: boolean;
  /** Called when the subscription to comments ends: until it begins again, the page may miss some. */
  onEnd: () => void;
}

function LoadedArticle({ article, order, isRest, onEnd }: LoadedArticleProps) {
  const view = readFragment(ARTICLE_VIEW, article);
  const { id, commentCount, thread } = article;
  useLive(ARTICLE_CHANGED, { id });
  return (
    <Page title={<ArticleTitle article={view} />} windowTitle={view.title}>
      <PostedBefore />
      <ArticleView article={article} />
      <section aria-labelledby="comments" className="comments">
        <h2 id="comments">{t("comments", { count: commentCount })}</h2>
        {commentCount > 0 && <CommentOrders path={articlePath(id)} current={order} />}
        {isRest && <FirstComments path={articlePath(id)} order={order} />}
        <Thread article={view} commentCount={commentCount} order={order} firstPage={thread} onEnd={onEnd} />
      </section>
    </Page>
  );
}

/** The way back to the first comments from a page of later ones. */
export function FirstComments({ path, order }: { path: string; order: CommentOrder }) {
  return (
    <p className="details">
      <Link href={withQuery(path, { order: order === "BEST" ? null : order })} rel="prev">
        {t("first-comments")}
      </Link>
    </p>
  );
}

/** After posting: the article that had the same link before. */
function PostedBefore() {
  const state = useHistoryState<{ duplicateOf?: { id: string; title: string } } | null>();
  if (!state?.duplicateOf) return null;
  const { id, title } = state.duplicateOf;
  return (
    <p className="notice">
      <Words
        id="same-link-before"
        link={
          <Link href={articlePath(id)}>
            <bdi>{title}</bdi>
          </Link>
        }
      />
    </p>
  );
}

function Deleted() {
  return (
    <Page title={t("deleted")}>
      <p>
        <Words id="article-gone" link={(text) => <Link href="/">{text}</Link>} />
      </p>
    </Page>
  );
}
