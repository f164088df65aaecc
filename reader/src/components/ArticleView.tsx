import "./thread.css";
import { useState } from "react";
import { useClient } from "urql";
import { Link, useLocation } from "wouter";
import { articlePath } from "../addresses";
import { reasonOf } from "../errors";
import { graphql, readFragment, type FragmentType } from "../gql";
import type { ArticleViewFragment } from "../gql/graphql";
import { useSession } from "../session";
import { say, sayProblem } from "../status";
import { VoteButtons } from "../votes";
import { hostOf } from "./ArticleLine";
import { Confirm } from "./Confirm";
import { GroupLink } from "./GroupLink";
import { Markdown } from "./Markdown";
import { Time } from "./Time";
import { UserLink } from "./UserLink";

export const ARTICLE_VIEW = graphql(`
  fragment ArticleView on Article {
    __typename
    id
    title
    link
    content
    state
    isLocked
    votes
    viewerVote
    isVotingOpen
    postedAt
    editedAt
    poster {
      id
      username
    }
    groups {
      id
      name
    }
  }
`);

const DELETE_ARTICLE = graphql(`
  mutation DeleteArticle($input: DeleteArticleInput!) {
    deleteArticle(input: $input) {
      deletedArticleId
      userErrors {
        code
        field
        message
      }
    }
  }
`);

/** The heading of an article's page: its title, which leads to its link if it has one. */
export function ArticleTitle({ article: { title, link } }: { article: Pick<ArticleViewFragment, "title" | "link"> }) {
  if (!link) return title;
  return (
    <>
      <a href={link} rel="nofollow ugc noopener" aria-keyshortcuts="o">
        {title}
      </a>{" "}
      <span className="host" dir="ltr">
        {hostOf(link)}
      </span>
    </>
  );
}

/** An article below its heading: votes, poster, groups, text, and what its poster may do. */
export function ArticleView({ article: masked }: { article: FragmentType<typeof ARTICLE_VIEW> }) {
  const article = readFragment(ARTICLE_VIEW, masked);
  const session = useSession();
  return (
    <>
      <div className="about-article">
        <VoteButtons subject={article} name={article.title} />
        <p className="details">
          <UserLink username={article.poster.username} /> <Time at={article.postedAt} />
          {article.editedAt && (
            <span>
              edited <Time at={article.editedAt} />
            </span>
          )}
          {article.groups.map(({ id, name }) => (
            <GroupLink key={id} name={name} />
          ))}
          {session?.username === article.poster.username && <OwnActions article={article} />}
        </p>
      </div>
      {article.isLocked && <p className="notice">This article is locked: it takes no votes and no comments.</p>}
      {!article.isLocked && !article.isVotingOpen && <p className="notice">Voting on this article has closed.</p>}
      {article.state !== "VISIBLE" && <p className="notice">{HIDDEN[article.state]}</p>}
      {article.content && <Markdown text={article.content} />}
    </>
  );
}

const HIDDEN = {
  DELETED: "This article was deleted.",
  REMOVED: "A moderator has removed this article. Only you and moderators see it.",
  PENDING: "This article waits for a moderator. Only you and moderators see it.",
};

function OwnActions({ article }: { article: ArticleViewFragment }) {
  const [isAsking, setAsking] = useState(false);
  const remove = useDelete(article.id);
  return (
    <>
      <Link href={`${articlePath(article.id)}/edit`} state={{ isFromArticle: true }} aria-keyshortcuts="e">
        Edit
      </Link>
      <button type="button" className="plain" onClick={() => setAsking(true)}>
        Delete
      </button>
      {isAsking && (
        <Confirm
          question="Delete this article?"
          consequence="It is deleted with all its comments, and cannot be restored."
          action="Delete"
          onConfirm={() => remove().then(() => setAsking(false))}
          onCancel={() => setAsking(false)}
        />
      )}
    </>
  );
}

function useDelete(articleId: string): () => Promise<void> {
  const client = useClient();
  const [, navigate] = useLocation();
  return async () => {
    const { data, error } = await client.mutation(DELETE_ARTICLE, { input: { articleId } });
    const reason = reasonOf(error, data?.deleteArticle?.userErrors);
    if (reason !== null) return sayProblem(`The article was not deleted. ${reason}`);
    navigate("/", { replace: true });
    say("Your article is deleted.");
  };
}
