import { Link } from "wouter";
import { articlePath, commentPath, logPath } from "../addresses";
import { graphql, readFragment, type FragmentType } from "../gql";
import type { ActionLineFragment } from "../gql/graphql";
import { reasonWords, wordsOf } from "../moderation";
import { GroupLink } from "./GroupLink";
import { Reason } from "./Reason";
import { Time } from "./Time";
import { UserLink } from "./UserLink";
import { t } from "../words";
import { Words } from "./Words";

/** An action of a moderator, with all that is said of it. `ban`: because of it the server removed the text. */
export const ACTION_LINE = graphql(`
  fragment ActionLine on ModerationAction {
    id
    kind
    at
    reason
    note
    expiresAt
    subjectId
    moderator {
      id
      username
    }
    group {
      id
      name
    }
    role
    ban {
      id
      subjectId
    }
    reverts {
      id
      kind
      revertedBy {
        id
      }
      ban {
        id
        subjectId
      }
    }
    revertedBy {
      id
      at
      reason
      moderator {
        id
        username
      }
    }
    about: subject {
      __typename
      id
      ... on Article {
        title
      }
      ... on Comment {
        article {
          id
          title
        }
      }
      ... on User {
        username
      }
    }
  }
`);

/**
 * An action of a moderator in the public log: who did what to whom, when and why, with the note for moderators, and
 * what has reverted it.
 */
export function ActionLine({ action: fragment }: { action: FragmentType<typeof ACTION_LINE> }) {
  const action = readFragment(ACTION_LINE, fragment);
  const { moderator, at, group, reason, note, revertedBy } = action;
  const [before, after] = wordsOf(action);
  return (
    <article
      className="line"
      data-keyboard-item=""
      tabIndex={-1}
      aria-label={`${moderator.username} ${before} ${action.subjectId} ${after}`.trim()}
    >
      <p className="done">
        <ModeratorLink username={moderator.username} /> {before} <SubjectLink action={action} /> {after}
      </p>
      <Reason text={reason} ban={banOf(action)} />
      {note && (
        <p className="excerpt note" dir="auto">
          <Words id="for-moderators" strong={(text) => <strong>{text}</strong>} note={note} />
        </p>
      )}
      <p className="details">
        <Time at={at} />
        {group && <GroupLink name={group.name} />}
        <Link href={logPath({ subject: action.subjectId })} aria-keyshortcuts="o">
          {t("all-about-it")}
        </Link>
        {revertedBy && <RevertedBy {...revertedBy} />}
      </p>
    </article>
  );
}

/** The ban because of which the server removed a text, or brought it back. */
export const banOf = ({ ban, reverts }: ActionLineFragment) => ban ?? reverts?.ban;

function RevertedBy({ at, reason, moderator }: NonNullable<ActionLineFragment["revertedBy"]>) {
  return (
    <span className="on">
      <Words id="reverted-by" user={<ModeratorLink username={moderator.username} />} time={<Time at={at} />} />
      {reason && (
        <>
          : <bdi>{reasonWords(reason) ?? reason}</bdi>
        </>
      )}
    </span>
  );
}

const OPERATOR = "operator"; // commands of the server's shell act under this name, which no user has

/** Who did it: a link to the user, unless it was done by a command of the shell. */
export function ModeratorLink({ username }: { username: string }) {
  return username === OPERATOR ? <span>{t("operator")}</span> : <UserLink username={username} />;
}

/** A link to what an action is about. What is gone, or not for everybody, is named by its id. */
function SubjectLink({ action: { subjectId, about } }: { action: Pick<ActionLineFragment, "subjectId" | "about"> }) {
  const [type = "", name = ""] = subjectId.split(":");
  if (about?.__typename === "Article") {
    return (
      <Link href={articlePath(about.id)} aria-keyshortcuts="c">
        <bdi>{about.title}</bdi>
      </Link>
    );
  }
  if (about?.__typename === "Comment") {
    return (
      <Words
        id="a-comment-on"
        link={(text) => (
          <Link href={commentPath(about.article.id, about.id)} aria-keyshortcuts="c">
            {text}
          </Link>
        )}
        title={<bdi>{about.article.title}</bdi>}
      />
    );
  }
  return type === "user" ? <UserLink username={name} /> : t("thing-of-type", { type, name });
}
