import type { ReactNode } from "react";
import { Link } from "wouter";
import { articlePath } from "../addresses";
import { graphql, readFragment, type FragmentType } from "../gql";
import { VoteButtons } from "../votes";
import { GroupLink } from "./GroupLink";
import { Time } from "./Time";
import { UserLink } from "./UserLink";

export const ARTICLE_LINE = graphql(`
  fragment ArticleLine on Article {
    __typename
    id
    title
    link
    votes
    viewerVote
    isVotingOpen
    commentCount
    postedAt
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

interface ArticleLineProps {
  article: FragmentType<typeof ARTICLE_LINE>;
  rank?: number | undefined;
  /** What is shown instead of the plain title, such as the title with marks. */
  title?: ReactNode;
  /** A passage of its content. */
  excerpt?: ReactNode;
}

/** An article in a list: its rank, votes, title, and where it comes from. */
export function ArticleLine({ article: masked, rank, title, excerpt }: ArticleLineProps) {
  const article = readFragment(ARTICLE_LINE, masked);
  const page = articlePath(article.id);
  return (
    <article className="line" data-item="" data-rank={rank} tabIndex={-1} aria-label={article.title}>
      {rank !== undefined && <span className="rank">{rank}</span>}
      <h2 dir="auto">
        <Title title={title ?? article.title} link={article.link} page={page} />
      </h2>
      {excerpt && (
        <p className="excerpt" dir="auto">
          {excerpt}
        </p>
      )}
      <div className="details">
        <VoteButtons subject={article} name={article.title} />
        <UserLink username={article.poster.username} />
        <Time at={article.postedAt} />
        <Link href={page} aria-keyshortcuts="c">
          {article.commentCount === 1 ? "1 comment" : `${article.commentCount} comments`}
        </Link>
        {article.groups.map(({ id, name }) => (
          <GroupLink key={id} name={name} />
        ))}
      </div>
    </article>
  );
}

interface TitleProps {
  title: ReactNode;
  link?: string | null | undefined;
  page: string;
}

/** The title leads to the link of the article, or to its page if it has none. */
function Title({ title, link, page }: TitleProps) {
  if (!link) {
    return (
      <Link href={page} aria-keyshortcuts="o">
        {title}
      </Link>
    );
  }
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

/** The host of a link, as people write it. */
export function hostOf(link: string): string {
  return URL.canParse(link) ? new URL(link).hostname.replace(/^www\./, "") : "";
}
