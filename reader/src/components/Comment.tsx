import { createContext, memo, useContext, useRef, useState, type MouseEvent } from "react";
import { useClient } from "urql";
import { Link, useLocation } from "wouter";
import { commentPath, DELETED_USER, numberOf } from "../addresses";
import { hasDraft } from "../drafts";
import { reasonOf } from "../errors";
import { graphql, readFragment, type FragmentType } from "../gql";
import type { CommentRowFragment, ContentState } from "../gql/graphql";
import { logInPath } from "../log-in";
import { useSession, useWriter } from "../session";
import { say, sayProblem } from "../status";
import { VoteButtons } from "../votes";
import { CommentForm, EditCommentForm, commentDraft } from "./CommentForm";
import { Appeal } from "./Appeal";
import { Confirm } from "./Confirm";
import { FoldedIfBlocked } from "./FoldedIfBlocked";
import { HeldEdit, waitsWords } from "./HeldEdit";
import { LineMenu } from "./LineMenu";
import { Markdown } from "./Markdown";
import { Time } from "./Time";
import { UserLink } from "./UserLink";
import { Why } from "./Why";
import { t } from "../words";
import { Words } from "./Words";

export const COMMENT_ROW = graphql(`
  fragment CommentRow on Comment {
    __typename
    id
    depth
    state
    content
    removal {
      id
      reason
    }
    postedAt
    editedAt
    heldBy
    heldEdit {
      ...HeldEditText
    }
    votes
    viewerVote
    isVotingOpen
    poster {
      id
      username
      viewerIsBlocking
    }
  }
`);

const DELETE_COMMENT = graphql(`
  mutation DeleteComment($input: DeleteCommentInput!) {
    deleteComment(input: $input) {
      deletedCommentId
      userErrors {
        ...Refused
      }
    }
  }
`);

/** What all comments of a thread share: the article, the page, and the functions of the thread. */
interface Surroundings {
  articleId: string;
  /** The poster of the article, whose comments are marked. */
  poster: string;
  isLocked: boolean;
  isCommentingOpen: boolean;
  /** The groups of the article. */
  groups: readonly string[];
  /** The depth that is not indented: more than 0 in a branch. */
  firstDepth: number;
  /** The comment that the page is about, if it is about one. */
  current: string | null;
  /** The time up to which comments had been shown when the article was visited before; null if it never was. */
  visitedBefore: number | null;
  /** Collapses a comment, or shows again what is below it. */
  fold: (id: string) => void;
  /** Shows a new comment of the viewer. */
  onPosted: (id: string) => void;
  /** Called before a comment is deleted. Returns a function that moves the focus to the comment that is then nearest. */
  leave: (id: string) => () => void;
}

export const SurroundingsContext = createContext<Surroundings | null>(null);

interface CommentProps {
  comment: FragmentType<typeof COMMENT_ROW>;
  parent: FragmentType<typeof COMMENT_ROW> | null;
  isCollapsed: boolean;
  /** How many comments below it are hidden while it is collapsed. */
  folded: number;
}

/**
 * Whether somebody else than `viewer` posted a comment after `before`: the time up to which comments had been shown at
 * the last visit, in unix milliseconds, or null without one.
 */
export function isNewSince(
  before: number | null,
  { postedAt, poster }: Pick<CommentRowFragment, "postedAt" | "poster">,
  viewer: string | undefined,
): boolean {
  return before !== null && Date.parse(postedAt) > before && (viewer === undefined || poster?.username !== viewer);
}

export const elementIdOf = (id: string): string => `comment-${numberOf(id)}`;

/** A comment of a thread: its votes, text and actions. Memoised, as a thread has many. */
export const Comment = memo(function Comment({ comment: fragment, parent, isCollapsed, folded }: CommentProps) {
  const comment = readFragment(COMMENT_ROW, fragment);
  const { firstDepth, current, visitedBefore } = useSurroundings();
  const viewer = useSession()?.username;
  const isNew = isNewSince(visitedBefore, comment, viewer);
  const level = comment.depth - firstDepth;
  return (
    <li className="comment" style={{ "--level": level }} data-level={level} data-collapsed={isCollapsed || undefined}>
      <article
        id={elementIdOf(comment.id)}
        tabIndex={-1}
        data-keyboard-item=""
        data-new={isNew || undefined}
        aria-label={nameOf(comment)}
        aria-current={current === comment.id || undefined}
      >
        <Heading {...{ comment, isCollapsed, folded, isNew }} parent={readFragment(COMMENT_ROW, parent)} />
        {!isCollapsed && (
          <FoldedIfBlocked author={comment.poster} name={nameOf(comment)}>
            <Body comment={comment} />
          </FoldedIfBlocked>
        )}
      </article>
    </li>
  );
});

function Heading({ comment, parent, isCollapsed, folded, isNew }: HeadingProps) {
  const { articleId, poster, fold } = useSurroundings();
  const author = authorOf(comment);
  return (
    <div className="byline">
      <button
        type="button"
        className="fold"
        aria-expanded={!isCollapsed}
        aria-keyshortcuts="x"
        aria-label={t("fold-name", { name: nameOf(comment) })}
        title={isCollapsed ? t("unfold-key") : t("fold-key")}
        onClick={() => fold(comment.id)}
      />
      <h3>{author ? <UserLink username={author} /> : <span className="absent">{absentOf(comment)}</span>}</h3>
      {comment.poster?.username === poster && <span className="badge">{t("poster")}</span>}
      {isNew && <span className="badge">{t("badge-new")}</span>}
      <Link href={commentPath(articleId, comment.id)} aria-keyshortcuts="o" title={t("only-this-comment")}>
        <Time at={comment.postedAt} />
      </Link>
      {comment.editedAt && <Edited at={comment.editedAt} />}
      {parent && <ParentLink parent={parent} />}
      {isCollapsed && folded > 0 && <span className="folded">{t("replies", { count: folded })}</span>}
    </div>
  );
}

interface HeadingProps {
  comment: CommentRowFragment;
  parent: CommentRowFragment | null;
  isCollapsed: boolean;
  folded: number;
  isNew: boolean;
}

/** Moves to the comment that is answered, which stands above. */
function ParentLink({ parent }: { parent: CommentRowFragment }) {
  const { articleId } = useSurroundings();

  function go(event: MouseEvent) {
    const element = document.getElementById(elementIdOf(parent.id));
    if (!element || event.button !== 0 || event.metaKey || event.ctrlKey || event.shiftKey || event.altKey) return;
    event.preventDefault();
    element.focus();
  }

  return (
    <Link href={commentPath(articleId, parent.id)} className="parent" aria-keyshortcuts="p" onClick={go}>
      <span className="hidden">{t("in-reply-to")} </span>↑ <bdi>{authorOf(parent) ?? absentOf(parent)}</bdi>
    </Link>
  );
}

function Edited({ at }: { at: string }) {
  return (
    <span className="edited">
      <Words id="edited-at" time={<Time at={at} />} />
    </span>
  );
}

const ABSENT: Record<ContentState, string> = {
  DELETED: "comment-deleted",
  REMOVED: "comment-removed",
  PENDING: "comment-waits",
  VISIBLE: "comment-without-text",
};

/** The place of a comment that the viewer may not read. */
function Absent({ comment: { id, state, removal } }: { comment: CommentRowFragment }) {
  if (state !== "REMOVED") return <p className="absent">{t("sentence", { text: t(ABSENT[state]) })}</p>;
  return (
    <p className="absent">
      <Why said={t(ABSENT[state])} reason={removal?.reason} subject={id} />
    </p>
  );
}

/** Tells its poster and moderators that nobody else may read a comment. */
function Hidden({ comment: { id, state, heldBy, removal, poster } }: { comment: CommentRowFragment }) {
  const session = useSession();
  const isOwn = session !== null && session.username === poster?.username;
  return (
    <div className="notice">
      <p>
        <Why
          said={waitsWords(t(ABSENT[state]), heldBy)}
          reason={removal?.reason}
          subject={id}
          rest={isOwn ? t("only-you-read") : t("only-poster-reads")}
        />
      </p>
      {isOwn && removal && <Appeal key={removal.id} actionId={removal.id} />}
    </div>
  );
}

/** What the viewer is about to do with a comment. */
type Doing = "reply" | "edit" | "delete" | null;

function Body({ comment }: { comment: CommentRowFragment }) {
  const writer = useWriter(); // the viewer, also after the session has ended
  const [doing, setDoing] = useState<Doing>(() => unfinished(writer, comment.id));
  const actions = useRef<HTMLDivElement>(null);
  const { isLocked, groups } = useSurroundings();
  if (comment.content == null) return <Absent comment={comment} />;

  function closeForm(button: "reply" | "edit") {
    setDoing(null);
    actions.current?.querySelector<HTMLElement>(`[data-action=${button}]`)?.focus();
  }

  return (
    <>
      {doing === "edit" && writer !== null ? (
        <EditCommentForm
          draft={commentDraft(writer, "edit", comment.id)}
          comment={{ id: comment.id, content: comment.content }}
          onDone={() => closeForm("edit")}
        />
      ) : (
        <Markdown text={comment.content} />
      )}
      {comment.state !== "VISIBLE" && <Hidden comment={comment} />}
      <HeldEdit edit={comment.heldEdit} isOwn={writer !== null && writer === comment.poster?.username} />
      <div className="actions" ref={actions}>
        <VoteButtons subject={comment} name={nameOf(comment)} closed={isLocked ? t("voting-locked") : undefined} />
        <Actions {...{ comment, doing, setDoing }} />
        <LineMenu
          subject={{
            id: comment.id,
            name: nameOf(comment),
            poster: comment.poster?.username ?? null,
            groups,
            isHidden: comment.state !== "VISIBLE",
          }}
        />
      </div>
      {doing === "reply" && writer !== null && <Reply {...{ comment, writer }} onDone={() => closeForm("reply")} />}
      {doing === "delete" && <Delete comment={comment} onCancel={() => setDoing(null)} />}
    </>
  );
}

/** What the writer has begun to do with a comment, by the drafts of this tab. */
function unfinished(writer: string | null, id: string): Doing {
  if (writer === null) return null;
  if (hasDraft(commentDraft(writer, "answer", id))) return "reply";
  return hasDraft(commentDraft(writer, "edit", id)) ? "edit" : null;
}

interface ActionsProps {
  comment: CommentRowFragment;
  doing: Doing;
  setDoing: (doing: Doing) => void;
}

function Actions({ comment, doing, setDoing }: ActionsProps) {
  const session = useSession();
  const [, navigate] = useLocation();
  const { isCommentingOpen } = useSurroundings();

  function reply() {
    if (session) return setDoing(doing === "reply" ? null : "reply");
    navigate(logInPath());
    say(t("log-in-to-reply"));
  }

  const button = (name: "reply" | "edit" | "delete", onClick: () => void, shortcut?: string) => (
    <button
      type="button"
      className="action"
      data-action={name}
      aria-label={t("named-action", { action: t(name), name: nameOf(comment) })}
      aria-keyshortcuts={shortcut}
      aria-expanded={doing === name}
      onClick={onClick}
    >
      {t(name)}
    </button>
  );
  const isOwn = session !== null && session.username === comment.poster?.username;
  return (
    <>
      {isCommentingOpen && comment.state === "VISIBLE" && button("reply", reply, "r")}
      {isOwn && comment.state !== "REMOVED" && button("edit", () => setDoing(doing === "edit" ? null : "edit"), "e")}
      {isOwn && button("delete", () => setDoing("delete"))}
    </>
  );
}

function Reply({ comment, writer, onDone }: { comment: CommentRowFragment; writer: string; onDone: () => void }) {
  const { articleId, onPosted } = useSurroundings();
  return (
    <CommentForm
      draft={commentDraft(writer, "answer", comment.id)}
      articleId={articleId}
      parentId={comment.id}
      label={comment.poster ? t("reply-to", { name: comment.poster.username }) : t("reply-to-comment")}
      onPosted={(id) => {
        onDone();
        onPosted(id);
      }}
      onCancel={onDone}
    />
  );
}

function Delete({ comment, onCancel }: { comment: CommentRowFragment; onCancel: () => void }) {
  const client = useClient();
  const { leave } = useSurroundings();

  async function remove() {
    const focusNearest = leave(comment.id);
    const { data, error } = await client.mutation(DELETE_COMMENT, { input: { commentId: comment.id } });
    const reason = reasonOf(error, data?.deleteComment?.userErrors);
    if (reason === null) {
      say(t("comment-is-deleted"));
      return focusNearest();
    }
    onCancel();
    sayProblem(t("comment-not-deleted", { reason }));
  }

  return (
    <Confirm
      question={t("delete-comment-question")}
      consequence={t("delete-comment-consequence")}
      action={t("delete")}
      onConfirm={remove}
      onCancel={onCancel}
    />
  );
}

/** The name of a comment's poster, if it is known. A visible comment without a poster is one of a deleted user. */
const authorOf = ({ poster, state }: CommentRowFragment): string | undefined =>
  poster?.username ?? (state === "VISIBLE" ? DELETED_USER : undefined);

/** What a screen reader calls a comment. */
function nameOf(comment: CommentRowFragment): string {
  const author = authorOf(comment);
  if (author) return t("comment-by", { name: author });
  return t(comment.state === "REMOVED" ? "comment-removed-name" : "comment-deleted-name");
}

/** What stands for the name of the author where the viewer may not read the comment. */
const absentOf = ({ state }: CommentRowFragment): string =>
  t(state === "REMOVED" ? "absent-removed" : "absent-deleted");

function useSurroundings(): Surroundings {
  const surroundings = useContext(SurroundingsContext);
  if (!surroundings) throw new Error("a comment is shown outside of a thread");
  return surroundings;
}
