import "./thread.css";
import { useState } from "react";
import { useClient } from "urql";
import { Link, useLocation } from "wouter";
import { articlePath } from "../addresses";
import { reasonOf } from "../errors";
import { graphql, readFragment, type FragmentType } from "../gql";
import type { ArticleViewFragment } from "../gql/graphql";
import { RankingContext } from "../ranking";
import { useSession } from "../session";
import { say, sayProblem } from "../status";
import { VoteButtons } from "../votes";
import { Appeal } from "./Appeal";
import { hostOf, menuSubjectOf } from "./ArticleLine";
import { Confirm } from "./Confirm";
import { GroupLink } from "./GroupLink";
import { HeldEdit, waitsWords } from "./HeldEdit";
import { LineMenu } from "./LineMenu";
import { Markdown } from "./Markdown";
import { FIRST_ORDER } from "./Orders";
import { Time } from "./Time";
import { UserLink } from "./UserLink";
import { Why } from "./Why";
import { t } from "../words";
import { Words } from "./Words";

export const ARTICLE_VIEW = graphql(`
  fragment ArticleView on Article {
    __typename
    id
    title
    link
    content
    state
    isLocked
    isCommentingOpen
    heldBy
    removal {
      id
      reason
      ...Appealed
    }
    lock {
      id
      reason
      ...Appealed
    }
    votes
    viewerVote
    isVotingOpen
    postedAt
    editedAt
    heldEdit {
      ...HeldEditText
    }
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
        ...Refused
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

/** The votes of an article's page explain its place in this ranking. */
const FRONT_PAGE_RANKING = { order: FIRST_ORDER };

/** An article below its heading: votes, poster, groups, text, and what its poster may do. */
export function ArticleView({ article: fragment }: { article: FragmentType<typeof ARTICLE_VIEW> }) {
  const article = readFragment(ARTICLE_VIEW, fragment);
  const session = useSession();
  const isOwn = session?.username === article.poster.username;
  return (
    <>
      <div className="about-article">
        <RankingContext value={FRONT_PAGE_RANKING}>
          <VoteButtons
            subject={article}
            name={article.title}
            closed={article.isLocked ? t("voting-locked") : undefined}
          />
        </RankingContext>
        <div className="details">
          <UserLink username={article.poster.username} /> <Time at={article.postedAt} />
          {article.editedAt && (
            <span>
              <Words id="edited-at" time={<Time at={article.editedAt} />} />
            </span>
          )}
          {article.groups.map(({ id, name }) => (
            <GroupLink key={id} name={name} />
          ))}
          {isOwn && <OwnActions article={article} />}
          <LineMenu subject={{ ...menuSubjectOf(article), isHidden: article.state !== "VISIBLE", hasVoters: true }} />
        </div>
      </div>
      {article.state !== "VISIBLE" && <Hidden article={article} isOwn={isOwn} />}
      {article.isLocked && <Locked article={article} isOwn={isOwn} />}
      {article.content && <Markdown text={article.content} />}
      <HeldEdit edit={article.heldEdit} isOwn={isOwn} />
    </>
  );
}

interface NoticeProps {
  article: ArticleViewFragment;
  isOwn: boolean;
}

/** Says that others cannot see the article, and why. */
function Hidden({ article: { id, state, heldBy, removal }, isOwn }: NoticeProps) {
  if (state === "DELETED") return <p className="notice">{t("article-deleted")}</p>;
  const isRemoved = state === "REMOVED";
  return (
    <div className="notice">
      <p>
        <Why
          said={isRemoved ? t("article-removed") : waitsWords(t("article-waits"), heldBy)}
          reason={removal?.reason}
          subject={id}
          rest={isOwn ? t("only-you-see") : t("only-poster-sees")}
        />
      </p>
      {isOwn && removal && <Appeal key={removal.id} actionId={removal.id} />}
    </div>
  );
}

/** Says that the article takes no votes and comments, and why. */
function Locked({ article: { id, lock }, isOwn }: NoticeProps) {
  return (
    <div className="notice">
      <p>
        <Why said={t("article-locked")} reason={lock?.reason} subject={id} rest={t("article-locked-rest")} />
      </p>
      {isOwn && lock && <Appeal key={lock.id} actionId={lock.id} />}
    </div>
  );
}

function OwnActions({ article }: { article: ArticleViewFragment }) {
  const [isAsking, setAsking] = useState(false);
  const remove = useDelete(article.id);
  return (
    <>
      {article.state !== "REMOVED" && (
        <Link href={`${articlePath(article.id)}/edit`} state={{ isFromArticle: true }} aria-keyshortcuts="e">
          {t("edit")}
        </Link>
      )}
      <button type="button" className="plain" onClick={() => setAsking(true)}>
        {t("delete")}
      </button>
      {isAsking && (
        <Confirm
          question={t("delete-article-question")}
          consequence={t("delete-article-consequence")}
          action={t("delete")}
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
    if (reason !== null) return sayProblem(t("article-not-deleted", { reason }));
    navigate("/", { replace: true });
    say(t("own-article-deleted"));
  };
}
