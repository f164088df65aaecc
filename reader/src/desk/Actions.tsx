import { useState } from "react";
import { Link } from "wouter";
import { ACTION_LINE, banOf, ModeratorLink } from "../components/ActionLine";
import { APPEALED } from "../components/Appeal";
import { LiveList } from "../components/LiveList";
import { Reason } from "../components/Reason";
import { Time } from "../components/Time";
import { graphql, readFragment, type FragmentType } from "../gql";
import type { ActionAboutFragment, ActionLineFragment, AppealedFragment, DeskActionFragment } from "../gql/graphql";
import { phraseOf, wordsOf } from "../moderation";
import { ActionDialog } from "./ActionDialog";
import { Annulment, ANNULLED } from "./Annulment";
import { mayAnswer, mayRevert, useModerator, type About } from "./authority";
import { ActionButton } from "./Buttons";
import { subjectPath } from "./subjects";
import { t } from "../words";
import { Words } from "../components/Words";

// Lists of what moderators did ("actions"), for moderators. The desk is the pages of moderators.

export const DESK_ACTION = graphql(`
  fragment DeskAction on ModerationAction {
    id
    ...ActionLine
    ...Appealed
    ...Annulled
  }
`);

/** An action whose appeal waits. */
const APPEAL_LINE = graphql(`
  fragment AppealLine on ModerationAction {
    id
    ...DeskAction
    ...ActionAbout
  }
`);

/** What an action is about, where actions about different things are listed. */
const ABOUT = graphql(`
  fragment ActionAbout on ModerationAction {
    of: subject {
      __typename
      id
      ... on Article {
        poster {
          id
          username
          roles {
            role
            group {
              id
              name
            }
          }
        }
        groups {
          id
          name
        }
      }
      ... on Comment {
        author: poster {
          id
          username
          roles {
            role
            group {
              id
              name
            }
          }
        }
        article {
          id
          groups {
            id
            name
          }
        }
      }
      ... on User {
        username
        roles {
          role
          group {
            id
            name
          }
        }
      }
    }
  }
`);

interface ActionsProps {
  actions: readonly (FragmentType<typeof DESK_ACTION> & { id: string })[];
  /** The text or the user that they are about. */
  about: About;
  /** What stands instead of an empty list. */
  empty: string;
}

/** What moderators did about one thing or one user, newest first, each with a button that reverts it. */
export function Actions({ actions, about, empty }: ActionsProps) {
  if (actions.length === 0) return <p className="empty">{empty}</p>;
  return (
    <ol className="items">
      {readFragment(DESK_ACTION, actions).map((action) => (
        <li key={action.id}>
          <Action action={action} about={about} />
        </li>
      ))}
    </ol>
  );
}

interface ActionProps {
  action: DeskActionFragment;
  about: About;
  /** Whether it names what it is about, as in a list of actions about different things. */
  isNamed?: boolean;
}

/** What a moderator did and why, the appeal against it, and buttons that revert the action and answer the appeal. */
function Action({ action: fragment, about, isNamed = false }: ActionProps) {
  const [doing, setDoing] = useState<"revert" | "answer" | null>(null);
  const action = readFragment(ACTION_LINE, fragment);
  const { id, kind, at, reason, note, revertedBy } = action;
  const { username } = action.moderator;
  const { appeal } = readFragment(APPEALED, fragment);
  const { annulment, annulledVotes } = readFragment(ANNULLED, fragment);
  const moderator = useModerator();
  const said = phraseOf(action);
  // What a revert would undo: of a ban that is reverted already, the annulment of votes that was kept.
  const undone = revertedBy ? phraseOf({ ...action, kind: "ANNUL_VOTES" }) : said;
  return (
    <article
      className="line desk-action"
      data-keyboard-item=""
      tabIndex={-1}
      aria-label={t("said-by", { name: username, said })}
    >
      <p className="details">
        <ModeratorLink username={username} /> {isNamed ? <Named action={action} /> : <span>{said}</span>}
        <Time at={at} />
        {revertedBy && (
          <span className="settled">
            <Words
              id="desk-reverted-by"
              user={<ModeratorLink username={revertedBy.moderator.username} />}
              time={<Time at={revertedBy.at} />}
            />
          </span>
        )}
      </p>
      <Reason text={reason} ban={banOf(action)} />
      {note && (
        <p className="note" dir="auto">
          {t("desk-note", { note })}
        </p>
      )}
      {annulment && <Annulment action={id} annulledVotes={annulledVotes} {...annulment} />}
      {appeal && <Appeal appeal={appeal} />}
      <div className="action-buttons">
        {appeal && !appeal.answeredAt && mayAnswer(moderator, action, about) && (
          <ActionButton name={t("do-answer")} about={said} shortcut="a" onClick={() => setDoing("answer")} />
        )}
        {mayRevert(moderator, { ...action, annulment }, about) && (
          <ActionButton name={t("do-revert")} about={undone} shortcut="r" onClick={() => setDoing("revert")} />
        )}
      </div>
      {doing && (
        <ActionDialog
          task={{
            act: doing,
            action: {
              id,
              said: doing === "revert" ? undone : said,
              isBanWithVotes: kind === "BAN" && annulment != null && !revertedBy,
            },
          }}
          onClose={() => setDoing(null)}
        />
      )}
    </article>
  );
}

/** What was done, with a link to what it was done to. */
function Named({ action }: { action: ActionLineFragment }) {
  const [before, after] = wordsOf(action);
  return (
    <span>
      {before}{" "}
      <Link href={subjectPath(action.subjectId)} aria-keyshortcuts="o">
        <bdi>{nameOf(action)}</bdi>
      </Link>{" "}
      {after}
    </span>
  );
}

function Appeal({ appeal }: { appeal: NonNullable<AppealedFragment["appeal"]> }) {
  const { text, at, answer, answeredBy, answeredAt } = appeal;
  return (
    <div className="flags">
      <p>
        <Words id="desk-appeal" time={<Time at={at} />} />
      </p>
      <p dir="auto">{text}</p>
      {answeredAt && (
        <p>
          <Words
            id="desk-answered"
            user={answeredBy && <ModeratorLink username={answeredBy.username} />}
            time={<Time at={answeredAt} />}
          />
        </p>
      )}
      {answer && <p dir="auto">{answer}</p>}
    </div>
  );
}

function nameOf({ about, subjectId }: ActionLineFragment): string {
  if (about?.__typename === "Article") return about.title;
  if (about?.__typename === "User") return about.username;
  return subjectId.startsWith("comment:") ? t("a-comment") : subjectId;
}

/** The actions whose appeals wait for an answer. */
export function Appeals({ actions }: { actions: readonly FragmentType<typeof APPEAL_LINE>[] }) {
  return (
    <LiveList
      items={readFragment(APPEAL_LINE, actions)}
      idOf={({ id }) => id}
      textOfNews="new-appeals"
      className="items"
      empty={<p className="empty">{t("appeals-empty")}</p>}
    >
      {(line) => <Action action={readFragment(DESK_ACTION, line)} about={aboutOf(readFragment(ABOUT, line))} isNamed />}
    </LiveList>
  );
}

function aboutOf({ of }: ActionAboutFragment): About {
  if (of?.__typename === "User") return { user: of };
  if (of?.__typename === "Article") {
    return { text: { id: of.id, poster: of.poster, groups: of.groups.map(({ name }) => name) } };
  }
  if (of?.__typename !== "Comment") return null;
  return { text: { id: of.id, poster: of.author ?? null, groups: of.article.groups.map(({ name }) => name) } };
}
