import { useState } from "react";
import { Link, Redirect, useParams, useSearch } from "wouter";
import { articlePath, commentPath } from "../addresses";
import { useRenewal } from "../changes";
import { ARTICLE_VIEW } from "../components/ArticleView";
import { RemovalPage } from "../components/RemovalPage";
import { Fault, Loading, Page } from "../components/Page";
import { commentOrderOf, CommentOrders, Thread } from "../components/Thread";
import { usePageQuery } from "../frame";
import { graphql, readFragment } from "../gql";
import type { CommentOrder, CommentPageQuery } from "../gql/graphql";
import { COMMENTS_PER_PAGE } from "../useThread";
import { FirstComments, isNumber, useLast } from "./ArticlePage";
import { NoPage, NotFound } from "./NotFound";
import { t } from "../words";

/** How many of the comments above the one of the page are shown at first: the nearest ones. */
const NEAREST = 4;

const COMMENT_PAGE = graphql(`
  query CommentPage($id: ID!, $articleId: ID!, $order: CommentOrder!, $first: Int!, $after: String) {
    ...Frame # what the header shows
    comment(id: $id) {
      id
      depth
      state
      ...CommentRow
      ancestors {
        id
        depth
        state
        ...CommentRow
      }
      article {
        id
        commentCount
        ...ArticleView
        thread(under: $id, order: $order, first: $first, after: $after) {
          ...ThreadPlaces
        }
      }
    }
    log: moderationLog(subjectId: $id, first: 10) {
      ...RemovalPage
    }
    articleLog: moderationLog(subjectId: $articleId, first: 10) {
      ...RemovalPage
    }
  }
`);

/** A comment, what it answers, and its answers: all, or those after the cursor `after` if the address has one. */
export default function CommentPage() {
  const { number = "", article = "" } = useParams();
  const search = useSearch();
  const [order, after] = [commentOrderOf(search), new URLSearchParams(search).get("after")];
  const id = `comment:${number}`;
  if (!isNumber(number) || !isNumber(article)) return <NoPage />;
  return <Branch key={`${id} ${search}`} articleId={`article:${article}`} {...{ id, order, after }} />;
}

interface BranchProps {
  /** The id of the comment. */
  id: string;
  articleId: string;
  order: CommentOrder;
  /** The cursor after which the answers begin; null for the first ones. */
  after: string | null;
}

function Branch({ id, articleId, order, after }: BranchProps) {
  const variables = { id, articleId, order, first: COMMENTS_PER_PAGE, after };
  const [{ data, error }, refetch] = usePageQuery(COMMENT_PAGE, variables);
  // not `refetch`: it sends nothing while an older request of the page is under way
  const renew = useRenewal(COMMENT_PAGE, variables);
  const last = useLast(data?.comment);
  const retry = () => refetch({ requestPolicy: "network-only" });
  if (data && !data.comment) return <RemovalPage actionsOn={[data.log, data.articleLog]} otherwise={<NotFound />} />;
  if (last && last.article.id !== articleId) return <Redirect to={commentPath(last.article.id, id)} replace />;
  if (last) return <LoadedBranch comment={last} order={order} isRest={after !== null} onEnd={() => void renew()} />;
  if (!error) return <Loading />;
  return (
    <Page title={t("comment")}>
      <Fault error={error} retry={retry} />
    </Page>
  );
}

interface LoadedBranchProps {
  comment: NonNullable<CommentPageQuery["comment"]>;
  order: CommentOrder;
  /** Whether the first answers are left out. */
  isRest: boolean;
  /** Called when the subscription to comments ends: until it begins again, the page may miss some. */
  onEnd: () => void;
}

function LoadedBranch({ comment, order, isRest, onEnd }: LoadedBranchProps) {
  const { article, ancestors } = comment;
  const view = readFragment(ARTICLE_VIEW, article);
  const [isWhole, setWhole] = useState(false);
  const hidden = isWhole ? 0 : Math.max(ancestors.length - NEAREST, 0);
  const path = articlePath(article.id);
  return (
    <Page
      title={
        <Link href={path} aria-keyshortcuts="c">
          {view.title}
        </Link>
      }
      windowTitle={t("comment-on-title", { title: view.title })}
    >
      <section aria-labelledby="comments" className="comments">
        <h2 id="comments">{t("one-comment")}</h2>
        <p className="details">
          <Link href={path}>
            {article.commentCount === 1 ? t("the-article") : t("all-comments-count", { count: article.commentCount })}
          </Link>
        </p>
        <CommentOrders path={commentPath(article.id, comment.id)} current={order} />
        {isRest && <FirstComments path={commentPath(article.id, comment.id)} order={order} />}
        {hidden > 0 && (
          <button type="button" className="above" onClick={() => setWhole(true)}>
            {t("comments-above", { count: hidden })}
          </button>
        )}
        <Thread
          article={view}
          order={order}
          firstPage={article.thread}
          onEnd={onEnd}
          above={[...ancestors.slice(hidden), comment]}
        />
      </section>
    </Page>
  );
}
