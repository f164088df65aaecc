import "./thread.css";
import { useCallback, useLayoutEffect, useMemo, useRef, useState, type RefObject } from "react";
import { Link } from "wouter";
import { withQuery } from "../addresses";
import { useRenewal } from "../changes";
import { hasDraft } from "../drafts";
import { graphql, readFragment, type FragmentType } from "../gql";
import type { CommentOrder, ContentState } from "../gql/graphql";
import { useCovered, useHold } from "../hold";
import { focusItem } from "../keyboard";
import { useLive } from "../live";
import { logInPath } from "../log-in";
import { useSession, useWriter } from "../session";
import {
  POSTED_COMMENT,
  useThread,
  type LiveThread,
  type THREAD_PLACES,
  type ThreadComment,
  type ThreadRow,
} from "../useThread";
import { useNotedVisit, useVisitBefore } from "../visits";
import { Comment, COMMENT_ROW, elementIdOf, isNewSince, SurroundingsContext } from "./Comment";
import { CommentForm, commentDraft } from "./CommentForm";
import { t } from "../words";
import { Words } from "./Words";

const COMMENT_POSTED = graphql(`
  subscription CommentPosted($articleId: ID!, $under: ID) {
    commentPosted(articleId: $articleId, under: $under) {
      id
      ...PostedComment
    }
  }
`);

// Asked for after a lost connection, with as many comments as the server gives. The answer updates the article and its
// comments in the cache. The shown thread keeps its order, so nothing moves.
const MISSED = graphql(`
  query Missed($articleId: ID!, $under: ID, $order: CommentOrder!, $branch: ID!, $isBranch: Boolean!) {
    article(id: $articleId) {
      id
      commentCount
      ...ArticleView
      thread(under: $under, order: $order, first: 500, maxDepth: 1000) {
        nodes {
          id
          postedAt
          ...PostedComment
        }
      }
    }
    comment(id: $branch) @include(if: $isBranch) {
      id
      ...CommentRow
      ancestors {
        id
        ...CommentRow
      }
    }
  }
`);

const COMMENT_CHANGED = graphql(`
  subscription CommentChanged($articleId: ID!) {
    commentChanged(articleId: $articleId) {
      id
      ...CommentRow
    }
  }
`);

interface ThreadProps {
  article: {
    id: string;
    postedAt: string;
    state: ContentState;
    isLocked: boolean;
    isCommentingOpen: boolean;
    poster: { username: string };
    groups: readonly { name: string }[];
  };
  /** How many comments the article has; absent in a branch, which is no visit of the whole article. */
  commentCount?: number;
  order: CommentOrder;
  /** The first page of comments, which the query of the whole page has. */
  firstPage: FragmentType<typeof THREAD_PLACES>;
  /** In a branch: comments above it, and last the comment that it belongs to. */
  above?: readonly ThreadComment[];
  /** Called when no more changes are sent, after a fault or a deletion of the article. The page is then read again. */
  onEnd: () => void;
}

/** What is above the whole thread: no comment. */
const WHOLE: readonly ThreadComment[] = [];

/** The comments of an article, or a branch of them. New ones are announced, and shown when the viewer asks for them. */
export function Thread({ article, commentCount, order, firstPage, above = WHOLE, onEnd }: ThreadProps) {
  const focus = useFocus();
  const list = useRef<HTMLOListElement>(null);
  const { kept, keep, letGo } = useDeletions(list);
  const thread = useThread({ articleId: article.id, order, firstPage, above, kept }, focus);
  const { add } = thread;
  const onPosted = useCallback(
    (id: string) => {
      add(id);
      focus([id]);
    },
    [add, focus],
  );
  const under = above.at(-1)?.id ?? null;
  useLive(COMMENT_CHANGED, { articleId: article.id }, { onEnd, onData: ({ commentChanged }) => keep(commentChanged) });
  useNewComments({ articleId: article.id, under, order }, thread);
  const visitedBefore = useVisitBefore(article.id);
  useNotedVisit(
    article.id,
    [article.postedAt, ...thread.rows.flatMap((row) => (row.kind === "comment" ? postedAtOf(row.comment) : []))],
    commentCount === undefined ? undefined : commentCount - thread.announced,
  );

  return (
    <>
      {under === null &&
        (article.isCommentingOpen ? (
          <Answer articleId={article.id} onPosted={onPosted} />
        ) : (
          <p className="hint">{t(hintOf(article))}</p>
        ))}
      <Announcement thread={thread} />
      <NewSinceVisit thread={thread} visitedBefore={visitedBefore} />
      <Rows {...{ article, list, thread, current: under, visitedBefore, onPosted, focus, letGo }} />
    </>
  );
}

/** Why an article takes no comments. */
function hintOf({ isLocked, state }: ThreadProps["article"]) {
  if (isLocked) return "article-locked-hint";
  return state === "PENDING" ? "article-waits-hint" : "article-closed-hint";
}

const NONE: ReadonlySet<string> = new Set();

/**
 * Comments that are deleted while the user points at the thread. Until the user no longer does, they keep their places
 * and heights, so that nothing moves below the pointer. A comment that the viewer deletes is not kept: `letGo` gets its
 * id before.
 */
function useDeletions(list: RefObject<HTMLElement | null>) {
  const [kept, setKept] = useState(NONE);
  const [own] = useState(() => new Set<string>()); // the ids of comments that the viewer deletes
  const release = () => {
    for (const id of kept) rowOf(id)?.style.removeProperty("min-block-size");
    setKept(NONE);
  };
  const hold = useHold({ list }, { onHold: () => {}, onRelease: release });

  function keep(comment: FragmentType<typeof COMMENT_ROW>) {
    const { id, state } = readFragment(COMMENT_ROW, comment);
    const row = rowOf(id);
    if (state !== "DELETED" || own.has(id) || !row || !hold.isHeld()) return;
    row.style.minBlockSize = `${row.getBoundingClientRect().height}px`;
    setKept((all) => new Set([...all, id]));
  }

  const letGo = useCallback((id: string) => void own.add(id), [own]);
  return { kept, keep, letGo };
}

const rowOf = (id: string) => document.getElementById(elementIdOf(id))?.closest("li");

interface ThreadScope {
  articleId: string;
  /** The comment that the thread is below; null for the whole thread. */
  under: string | null;
  order: CommentOrder;
}

/** Announces comments as they are posted, and after a gap those that were posted meanwhile. The viewer's own are shown. */
function useNewComments({ articleId, under, order }: ThreadScope, thread: LiveThread): void {
  const session = useSession();
  const branch = { branch: under ?? "", isBranch: under !== null };
  const readMissed = useRenewal(MISSED, { articleId, under, order, ...branch });

  function arrive(comment: FragmentType<typeof POSTED_COMMENT>) {
    const { id, poster } = readFragment(POSTED_COMMENT, comment);
    if (poster && poster.username === session?.username) thread.add(id);
    else thread.announce(id);
  }

  async function catchUp() {
    const { data } = await readMissed();
    thread.postedSince(data?.article?.thread.nodes ?? []).forEach(arrive);
  }

  useLive(
    COMMENT_POSTED,
    { articleId, under },
    { onData: ({ commentPosted }) => arrive(commentPosted), onGap: () => void catchUp() },
  );
}

/** A function that moves the focus to the first of some comments, now or as soon as one is there. */
function useFocus(): (ids: readonly string[]) => void {
  const wanted = useRef<readonly string[]>([]);
  const attempt = useCallback(() => {
    if (wanted.current.length === 0) return;
    const selector = wanted.current.map((id) => `#${elementIdOf(id)}`).join();
    const element = document.querySelector<HTMLElement>(selector);
    if (!element) return;
    wanted.current = [];
    element.focus();
  }, []);
  useLayoutEffect(attempt);
  return useCallback(
    (ids) => {
      wanted.current = ids;
      attempt();
    },
    [attempt],
  );
}

function Answer({ articleId, onPosted }: { articleId: string; onPosted: (id: string) => void }) {
  const session = useSession();
  const writer = useWriter(); // the viewer, also after the session has ended
  const draft = writer === null ? null : commentDraft(writer, "answer", articleId);
  const [posted, setPosted] = useState<string | null>(null); // the id of the last comment from here
  if (draft === null || (session === null && !hasDraft(draft))) {
    return (
      <p className="hint">
        <Words id="log-in-to-comment" link={(text) => <Link href={logInPath()}>{text}</Link>} />
      </p>
    );
  }
  function show(id: string) {
    setPosted(id);
    onPosted(id);
  }
  return (
    <CommentForm
      key={`${draft} ${posted}`} // a new form, one line high, after each comment
      {...{ draft, articleId }}
      parentId={null}
      label={t("your-comment")}
      onPosted={show}
    />
  );
}

/** The button that shows new comments. It takes no room, so nothing moves, and does not appear below the pointer. */
function Announcement({ thread: { announced, showAnnounced, outOfSight } }: { thread: LiveThread }) {
  const box = useRef<HTMLDivElement>(null);
  const isCovered = useCovered(box, announced > 0);
  return (
    <div className="announcement" role="status" ref={box}>
      {announced > 0 && (
        <button type="button" className="primary" data-covered={isCovered || undefined} onClick={showAnnounced}>
          {t("new-comments", { count: announced })}
        </button>
      )}
      {announced === 0 && outOfSight > 0 && (
        <span className="hint">{t("comments-further-down", { count: outOfSight })}</span>
      )}
    </div>
  );
}

const postedAtOf = (comment: ThreadComment): string => readFragment(COMMENT_ROW, comment).postedAt;

/** How many comments are new since the last visit, with a button that goes from one to the next. */
function NewSinceVisit({ thread: { rows }, visitedBefore }: { thread: LiveThread; visitedBefore: number | null }) {
  const viewer = useSession()?.username;
  const isNew = (row: ThreadRow) =>
    row.kind === "comment" && isNewSince(visitedBefore, readFragment(COMMENT_ROW, row.comment), viewer);
  const count = rows.filter(isNew).length;
  if (count === 0) return null;
  return (
    <p className="since-visit">
      {t("comments-since-visit", { count })}{" "}
      <button type="button" aria-keyshortcuts="w" title={t("next-new-comment")} onClick={goToNextNew}>
        {t("next-new")}
      </button>
    </p>
  );
}

/** Moves the focus to the next new comment, or to the first one if none follows. */
function goToNextNew(): void {
  const all = [...document.querySelectorAll<HTMLElement>("[data-new]")];
  const from = document.activeElement;
  const follows = (item: HTMLElement) =>
    from !== null && from !== item && (from.compareDocumentPosition(item) & Node.DOCUMENT_POSITION_FOLLOWING) !== 0;
  focusItem(all.find((item) => follows(item) && !item.contains(from)) ?? all[0]);
}

interface RowsProps {
  article: ThreadProps["article"];
  list: RefObject<HTMLOListElement | null>;
  thread: LiveThread;
  /** The comment that the page is about, if it is about one. */
  current: string | null;
  /** The time up to which comments had been shown when the article was visited before; null if it never was. */
  visitedBefore: number | null;
  /** Shows a new comment of the viewer. */
  onPosted: (id: string) => void;
  /** Moves the focus to the first of some comments that is there. */
  focus: (ids: readonly string[]) => void;
  /** Called before the viewer deletes a comment: its place is not kept. */
  letGo: (id: string) => void;
}

function Rows({ article, list, thread, current, visitedBefore, onPosted, focus, letGo }: RowsProps) {
  const { rows, announced, fold } = thread;
  const latest = useRef(rows);
  useLayoutEffect(() => void (latest.current = rows));
  const firstDepth = current === null ? 0 : (rows[0]?.depth ?? 0); // 0 also if a page of the thread begins with replies
  const { id: articleId, isLocked, isCommentingOpen, poster } = article;
  const groups = article.groups.map(({ name }) => name).join(" "); // a new array would render all comments again
  const surroundings = useMemo(
    () => ({
      articleId,
      isLocked,
      isCommentingOpen,
      poster: poster.username,
      firstDepth,
      current,
      visitedBefore,
      fold,
      onPosted,
      groups: groups.split(" ").filter(Boolean),
      leave: (id: string) => {
        letGo(id);
        const ids = nearest(latest.current, id);
        return () => void requestAnimationFrame(() => focus(ids));
      },
    }),
    [
      articleId,
      isLocked,
      isCommentingOpen,
      groups,
      poster.username,
      firstDepth,
      current,
      visitedBefore,
      fold,
      onPosted,
      focus,
      letGo,
    ],
  );
  if (rows.length === 0) {
    // Beside an announcement it is hidden, as it would be wrong; it keeps its place, so that nothing moves.
    return <p className={announced === 0 ? "empty" : "empty outdated"}>{t("no-comments")}</p>;
  }
  return (
    <SurroundingsContext value={surroundings}>
      <ol className="thread" ref={list}>
        {rows.map((row) =>
          row.kind === "comment" ? (
            <Comment key={row.comment.id} {...row} />
          ) : (
            <More key={`${row.kind} ${row.under}`} {...{ row, thread }} level={row.depth - firstDepth} />
          ),
        )}
      </ol>
    </SurroundingsContext>
  );
}

/** The ids of a comment and of the next one, or else the one before: where the focus can go when it is deleted. */
function nearest(rows: readonly ThreadRow[], id: string): string[] {
  const ids = rows.flatMap((row) => (row.kind === "comment" ? row.comment.id : []));
  const place = ids.indexOf(id);
  return ids.slice(place, place + 2).length > 1 ? ids.slice(place, place + 2) : ids.slice(Math.max(place - 1, 0));
}

interface MoreProps {
  row: Exclude<ThreadRow, { kind: "comment" }>;
  /** How far it is indented. */
  level: number;
  thread: LiveThread;
}

/** A button that loads the next comments, in their place. */
function More({ row, level, thread: { load, isLoading } }: MoreProps) {
  const text = row.kind === "hidden" ? t("more-replies", { count: row.count }) : t("more-comments");
  const isBusy = isLoading(row.under);
  return (
    <li className="comment more" style={{ "--level": level }} data-level={level}>
      <button type="button" data-keyboard-item="" aria-busy={isBusy} onClick={() => load(row.under)}>
        {isBusy ? t("loading") : text}
      </button>
    </li>
  );
}

const ORDERS: readonly CommentOrder[] = ["BEST", "VOTES", "NEWEST", "OLDEST", "CONTROVERSIAL"];

/** The order of comments that an address names. */
export function commentOrderOf(search: string): CommentOrder {
  const name = new URLSearchParams(search).get("order");
  return ORDERS.find((order) => order === name) ?? "BEST";
}

/** Links to the orders of the comments of a page. */
export function CommentOrders({ path, current }: { path: string; current: CommentOrder }) {
  return (
    <nav aria-label={t("order-of-comments")}>
      <ul className="tabs">
        {ORDERS.map((order) => (
          <li key={order}>
            <Link
              href={withQuery(path, { order: order === "BEST" ? null : order })}
              aria-current={order === current ? "page" : undefined}
            >
              {t(`comments-${order.toLowerCase()}`)}
            </Link>
          </li>
        ))}
      </ul>
    </nav>
  );
}
