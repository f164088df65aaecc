import type { ReactNode } from "react";
import { Link } from "wouter";
import { commentPath, DELETED_USER } from "../addresses";
import { graphql, readFragment, type FragmentType } from "../gql";
import { useKeptNode } from "../kept";
import { VoteButtons } from "../votes";
import { FoldedIfBlocked } from "./FoldedIfBlocked";
import { LineMenu } from "./LineMenu";
import { Markdown } from "./Markdown";
import { Time } from "./Time";
import { UserLink } from "./UserLink";
import { t } from "../words";
import { Words } from "./Words";

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
      viewerIsBlocking
    }
    article {
      id
      title
    }
  }
`);

interface CommentLineProps {
  comment: FragmentType<typeof COMMENT_LINE>;
  /** What its author did with it, such as "replied to you". */
  said?: string;
  /** What is shown instead of the whole text. */
  excerpt?: ReactNode;
  /** What it answers, above the text. */
  answered?: ReactNode;
  /** What can be done about it, below the text. */
  actions?: ReactNode;
  /** Whether the list is about its author: then the text is shown even if the viewer blocks the author. */
  isOfAuthor?: boolean;
}

/** A comment outside of its thread: its text, and the article that it belongs to. */
export function CommentLine({ comment: fragment, said, excerpt, answered, actions, isOfAuthor }: CommentLineProps) {
  const listed = readFragment(COMMENT_LINE, fragment);
  const kept = useKeptNode("Comment", listed.id); // null if it was deleted, undefined while the list has it
  const comment = readFragment(COMMENT_LINE, kept) ?? listed;
  const author = comment.author?.username ?? (comment.content ? DELETED_USER : undefined);
  const name = author ?? t("nobody");
  const page = commentPath(comment.article.id, comment.id);
  return (
    <article className="line" data-keyboard-item="" tabIndex={-1} aria-label={t("comment-by-title", { name })}>
      <div className="details">
        <VoteButtons subject={comment} name={t("comment-by", { name })} />
        {author && <UserLink username={author} />} {said && <span>{said}</span>} <Time at={comment.postedAt} />{" "}
        <span className="on">
          <Words
            id="comment-on"
            article={
              <Link href={page} aria-keyshortcuts="c">
                <bdi>{comment.article.title}</bdi>
              </Link>
            }
          />
        </span>
        <LineMenu
          subject={{ id: comment.id, name: t("comment-by", { name }), poster: comment.author?.username ?? null }}
        />
      </div>
      {answered}
      <FoldedIfBlocked author={isOfAuthor ? null : comment.author} name={t("comment-by", { name })}>
        {kept === null ? <Text /> : <Text content={comment.content} excerpt={excerpt} />}
      </FoldedIfBlocked>
      {actions}
    </article>
  );
}

/** The text or an excerpt of a comment. If it has neither, says that it is deleted. */
function Text({ content, excerpt }: { content?: string | null | undefined; excerpt?: ReactNode }) {
  if (excerpt)
    return (
      <p className="excerpt" dir="auto">
        {excerpt}
      </p>
    );
  return content ? <Markdown text={content} /> : <p className="empty">{t("deleted")}</p>;
}
