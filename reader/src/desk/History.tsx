import { useState } from "react";
import { useQuery } from "urql";
import { Link } from "wouter";
import { logPath } from "../addresses";
import { Content } from "../components/Page";
import { Time } from "../components/Time";
import { UserLink } from "../components/UserLink";
import { graphql, type DocumentType } from "../gql";
import { fullTime } from "../times";
import { ActionDialog } from "./ActionDialog";
import { ActionButton } from "./Buttons";
import { Actions } from "./Actions";
import { mayAnnul, mayBan, useModerator } from "./authority";
import { useRenewalForModerators } from "./news";
import { Ring } from "./Ring";
import { subjectPath } from "./subjects";
import { t } from "../words";
import { Words } from "../components/Words";

const HISTORY = graphql(`
  query History($id: ID!, $username: String!, $shown: Int!) {
    user(username: $username) {
      id
      username
      karma
      joinedAt
      isBanned
      bannedUntil
      roles {
        role
        group {
          id
          name
        }
      }
      articles(first: $shown) {
        totalCount
        nodes {
          id
          title
          postedAt
        }
      }
      comments(first: $shown) {
        totalCount
        nodes {
          id
          content
          postedAt
        }
      }
    }
    moderationLog(subjectId: $id, first: $shown) {
      totalCount
      nodes {
        id
        ...DeskAction
      }
    }
  }
`);

/** How many of a user's newest texts, and of the actions about the user, are shown. */
const SHOWN = 10;

/** A user as moderators see them: bans, what moderators did about the user, and the user's newest texts. */
export function History({ user: { id, username } }: { user: { id: string; username: string } }) {
  const variables = { id, username, shown: SHOWN };
  const [result, retry] = useQuery({ query: HISTORY, variables, requestPolicy: "cache-and-network" });
  useRenewalForModerators(HISTORY, variables);
  return (
    <section className="case" aria-labelledby="history">
      <h2 id="history">
        <UserLink username={username} />
      </h2>
      <Content result={result} retry={retry}>
        {({ user, moderationLog }) =>
          user && (
            <>
              <Profile user={user} />
              <Actions actions={moderationLog?.nodes ?? []} about={{ user }} empty={t("no-actions-user")} />
              {moderationLog && moderationLog.totalCount > SHOWN && (
                <p className="details">
                  <Link href={logPath({ subject: id })}>
                    {t("all-actions-in-log", { count: moderationLog.totalCount })}
                  </Link>
                </p>
              )}
              <Texts user={user} />
            </>
          )
        }
      </Content>
    </section>
  );
}

type User = NonNullable<DocumentType<typeof HISTORY>["user"]>;

function Profile({ user }: { user: User }) {
  const { username, karma, joinedAt, isBanned, bannedUntil } = user;
  const [act, setAct] = useState<"ban" | "annul" | null>(null);
  const moderator = useModerator();
  const { isOfSite } = moderator.roles;
  return (
    <>
      <p className="profile">
        <span>{t("karma-of", { karma })}</span>
        <span>
          <Words id="joined-lower" time={<Time at={joinedAt} />} />
        </span>
        <span>{t("articles", { count: user.articles.totalCount })}</span>
        <span>{t("comments", { count: user.comments.totalCount })}</span>
      </p>
      {isBanned && (
        <p className="notice">
          {bannedUntil ? t("history-banned-until", { until: fullTime(Date.parse(bannedUntil)) }) : t("history-banned")}
        </p>
      )}
      {mayBan(moderator, user) ? (
        <div className="action-buttons">
          <ActionButton name={t("do-ban")} about={username} onClick={() => setAct("ban")} />
          {mayAnnul(moderator, user) && (
            <ActionButton name={t("do-annul-votes")} about={username} onClick={() => setAct("annul")} />
          )}
          {act && (
            <ActionDialog task={act === "ban" ? { act, user } : { act, users: [user] }} onClose={() => setAct(null)} />
          )}
        </div>
      ) : (
        username !== moderator.username && <p className="hint">{t("not-banned-by-you")}</p>
      )}
      {isOfSite && <Ring username={username} />}
    </>
  );
}

/** The user's newest articles and comments; each leads to its page for moderators. */
function Texts({ user: { articles, comments } }: { user: User }) {
  const texts = [
    ...articles.nodes.map(({ title, ...article }) => ({ ...article, text: title })),
    ...comments.nodes.map(({ content, ...comment }) => ({ ...comment, text: content ?? t("text-deleted") })),
  ].sort((one, other) => Date.parse(other.postedAt) - Date.parse(one.postedAt));
  if (texts.length === 0) return null;
  return (
    <>
      <h3>{t("newest-texts")}</h3>
      <ol className="items texts">
        {texts.map(({ id, text, postedAt }) => (
          <li key={id} data-keyboard-item="" tabIndex={-1}>
            <Link href={subjectPath(id)} className="clamped" aria-keyshortcuts="o">
              <bdi>{text}</bdi>
            </Link>
            <p className="details">
              {id.startsWith("comment:") && <span>{t("kind-comment")}</span>} <Time at={postedAt} />
            </p>
          </li>
        ))}
      </ol>
    </>
  );
}
