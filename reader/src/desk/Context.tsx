import "../components/thread.css";
import { Link } from "wouter";
import { Markdown } from "../components/Markdown";
import { Time } from "../components/Time";
import { UserLink } from "../components/UserLink";
import { graphql, readFragment, type FragmentType } from "../gql";
import type { ContextCommentFragment } from "../gql/graphql";
import { subjectPath } from "./subjects";
import { t } from "../words";

const CONTEXT_COMMENT = graphql(`
  fragment ContextComment on Comment {
    __typename
    id
    depth
    state
    content
    postedAt
    author: poster {
      id
      username
    }
  }
`);

/** How many comments of a thread are shown. */
export const CONTEXT_SIZE = 50;

interface ContextProps {
  /** In the order of the thread. */
  comments: readonly FragmentType<typeof CONTEXT_COMMENT>[];
  /** The comment that the page is about, if it is about one. */
  current?: string;
}

/** Comments as they stand in their thread, to be read; each leads to its page for moderators. */
export function Context({ comments: fragment, current }: ContextProps) {
  const comments = readFragment(CONTEXT_COMMENT, fragment);
  const firstDepth = Math.min(...comments.map(({ depth }) => depth));
  if (comments.length === 0) return <p className="empty">{t("context-empty")}</p>;
  return (
    <ol className="thread">
      {comments.map((comment) => (
        <li
          key={comment.id}
          className="comment"
          style={{ "--level": comment.depth - firstDepth }}
          data-level={comment.depth - firstDepth}
        >
          <ContextComment comment={comment} isCurrent={comment.id === current} />
        </li>
      ))}
    </ol>
  );
}

function ContextComment({ comment, isCurrent }: { comment: ContextCommentFragment; isCurrent: boolean }) {
  const { id, author, content, postedAt, state } = comment;
  return (
    <article
      data-keyboard-item=""
      tabIndex={-1}
      aria-label={author ? t("comment-by", { name: author.username }) : t("comment-without-a-text")}
      aria-current={isCurrent || undefined}
    >
      <div className="byline">
        {author && (
          <h3>
            <UserLink username={author.username} />
          </h3>
        )}
        <Link href={subjectPath(id)} aria-keyshortcuts="o">
          <Time at={postedAt} />
        </Link>
        {state !== "VISIBLE" && <span className="badge">{t(`state-${state.toLowerCase()}`)}</span>}
      </div>
      {content && <Markdown text={content} />}
    </article>
  );
}
