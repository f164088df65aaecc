import "../components/thread.css";
import { Link } from "wouter";
import { Markdown } from "../components/Markdown";
import { Time } from "../components/Time";
import { UserLink } from "../components/UserLink";
import { graphql, readFragment, type FragmentType } from "../gql";
import type { AroundCommentFragment } from "../gql/graphql";
import { subjectPath } from "./subjects";

const AROUND_COMMENT = graphql(`
  fragment AroundComment on Comment {
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
export const AROUND_SIZE = 50;

interface AroundProps {
  /** In the order of the thread. */
  comments: readonly FragmentType<typeof AROUND_COMMENT>[];
  /** The comment that the page is about, if it is about one. */
  current?: string;
}

/** Comments as they stand in their thread, to be read; each leads to its page for moderators. */
export function Around({ comments: masked, current }: AroundProps) {
  const comments = readFragment(AROUND_COMMENT, masked);
  const firstDepth = Math.min(...comments.map(({ depth }) => depth));
  if (comments.length === 0) return <p className="empty">There are no comments.</p>;
  return (
    <ol className="thread">
      {comments.map((comment) => (
        <li
          key={comment.id}
          className="comment"
          style={{ "--level": comment.depth - firstDepth }}
          data-level={comment.depth - firstDepth}
        >
          <AroundComment comment={comment} isCurrent={comment.id === current} />
        </li>
      ))}
    </ol>
  );
}

function AroundComment({ comment, isCurrent }: { comment: AroundCommentFragment; isCurrent: boolean }) {
  const { id, author, content, postedAt, state } = comment;
  return (
    <article
      data-item=""
      tabIndex={-1}
      aria-label={author ? `comment by ${author.username}` : "comment without a text"}
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
        {state !== "VISIBLE" && <span className="badge">{state.toLowerCase()}</span>}
      </div>
      {content && <Markdown text={content} />}
    </article>
  );
}
