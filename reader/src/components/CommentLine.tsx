import type { ReactNode } from "react";
import { Link } from "wouter";
import { commentPath } from "../addresses";
import { graphql, readFragment, type FragmentType } from "../gql";
import { useKeptNode } from "../kept";
import { VoteButtons } from "../votes";
import { LineMenu } from "./LineMenu";
import { Markdown } from "./Markdown";
import { Time } from "./Time";
import { UserLink } from "./UserLink";

export const COMMENT_LINE = graphql(`
  fragment CommentLine on Comment {
    __typename
    id
    content
    votes
    viewerVote
    isVotingOpen
    postedAt
    author: poster {
      id
      username
    }
    article {
      id
      title
    }
  }
`);

interface CommentLineProps {
  comment: FragmentType<typeof COMMENT_LINE>;
  /** What its author has done by it, such as "replied to you". */
  said?: string;
  /** What is shown instead of the whole text. */
  excerpt?: ReactNode;
  /** What it answers, above the text. */
  answered?: ReactNode;
  /** What can be done about it, below the text. */
  actions?: ReactNode;
}

/** A comment outside of its thread: its text, and the article that it belongs to. */
export function CommentLine({ comment: masked, said, excerpt, answered, actions }: CommentLineProps) {
  const listed = readFragment(COMMENT_LINE, masked);
  const kept = useKeptNode("Comment", listed.id);
  const comment = readFragment(COMMENT_LINE, kept) ?? listed;
  const author = comment.author?.username;
  const page = commentPath(comment.article.id, comment.id);
  return (
    <article className="line" data-item="" tabIndex={-1} aria-label={`Comment by ${author ?? "nobody"}`}>
      <div className="details">
        <VoteButtons subject={comment} name={`comment by ${author ?? "nobody"}`} />
        {author && <UserLink username={author} />} {said && <span>{said}</span>} <Time at={comment.postedAt} />{" "}
        <span className="on">
          on{" "}
          <Link href={page} aria-keyshortcuts="c">
            <bdi>{comment.article.title}</bdi>
          </Link>
        </span>
        <LineMenu subject={{ id: comment.id, name: `comment by ${author ?? "nobody"}`, poster: author ?? null }} />
      </div>
      {answered}
      {kept === null ? (
        <p className="excerpt">Deleted</p>
      ) : excerpt ? (
        <p className="excerpt" dir="auto">
          {excerpt}
        </p>
      ) : (
        <Text content={comment.content} />
      )}
      {actions}
    </article>
  );
}

function Text({ content }: { content?: string | null | undefined }) {
  return content ? <Markdown text={content} /> : <p className="empty">Deleted</p>;
}
