import type { ReactNode } from "react";
import { Link } from "wouter";
import { articlePath } from "../addresses";
import { graphql, readFragment, type FragmentType } from "../gql";
import type { ArticleLineFragment } from "../gql/graphql";
import { useKeptNode } from "../kept";
import { useNewCount } from "../visits";
import { VoteButtons } from "../votes";
import { GroupLink } from "./GroupLink";
import { LineMenu, type MenuSubject } from "./LineMenu";
import { Time } from "./Time";
import { UserLink } from "./UserLink";
import { t } from "../words";

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
  /** The group whose page has the list: the line does not name it again. */
  within?: string | undefined;
  /** What is shown instead of the plain title, such as the title with marks. */
  title?: ReactNode;
  /** A passage of its content. */
  excerpt?: ReactNode;
}

/** An article in a list: its votes, title, and where it comes from. */
export function ArticleLine({ article: fragment, rank, within, title, excerpt }: ArticleLineProps) {
  const listed = readFragment(ARTICLE_LINE, fragment);
  const kept = useKeptNode("Article", listed.id); // null if it was deleted, undefined while the list has it
  const article = readFragment(ARTICLE_LINE, kept) ?? listed;
  const isDeleted = kept === null;
  const name = isDeleted ? t("deleted-title", { title: article.title }) : article.title;
  return (
    <article className="line story" data-keyboard-item="" data-rank={rank} tabIndex={-1} aria-label={name}>
      {!isDeleted && <VoteButtons subject={article} name={article.title} />}
      <h2 dir="auto">
        {isDeleted ? <del>{article.title}</del> : <Title article={article}>{title ?? article.title}</Title>}
      </h2>
      {excerpt && (
        <p className="excerpt" dir="auto">
          {excerpt}
        </p>
      )}
      {isDeleted ? <p className="details">{t("deleted")}</p> : <Details article={article} within={within} />}
    </article>
  );
}

function Details({ article, within }: { article: ArticleLineFragment; within: string | undefined }) {
  const newCount = useNewCount(article.id, article.commentCount);
  const count = article.commentCount === 0 ? t("discuss") : t("comments", { count: article.commentCount });
  const groups = article.groups.filter(({ name }) => name.toLowerCase() !== within?.toLowerCase());
  return (
    <div className="details">
      <UserLink username={article.poster.username} />
      <Time at={article.postedAt} />
      <Link href={articlePath(article.id)} aria-keyshortcuts="c">
        {newCount === 0 ? count : <span>{count}</span>}
        {newCount > 0 && <span className="new-comments">{t("comments-new", { count: newCount })}</span>}
      </Link>
      {groups.length > 0 && (
        <span className="groups-of">
          {groups.map(({ id, name }) => (
            <GroupLink key={id} name={name} />
          ))}
        </span>
      )}
      <LineMenu subject={menuSubjectOf(article)} />
    </div>
  );
}

/** What the menu of an article is about. */
export function menuSubjectOf({
  id,
  title,
  poster,
  groups,
}: Pick<ArticleLineFragment, "id" | "title" | "poster" | "groups">): MenuSubject {
  return { id, name: title, poster: poster.username, groups: groups.map(({ name }) => name) };
}

/** The title leads to the link of the article, or to its page if it has none. Its tooltip has the whole title. */
function Title({ article: { id, title, link }, children }: { article: ArticleLineFragment; children: ReactNode }) {
  if (!link) {
    return (
      <Link href={articlePath(id)} title={title} aria-keyshortcuts="o">
        {children}
      </Link>
    );
  }
  return (
    <>
      <a href={link} title={title} rel="nofollow ugc noopener" aria-keyshortcuts="o">
        {children}
      </a>
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
