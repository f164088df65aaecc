import { useState } from "react";
import { Link } from "wouter";
import { ModeratorLink } from "../components/ActionLine";
import { APPEALED } from "../components/Appeal";
import { LiveList } from "../components/LiveList";
import { Reason } from "../components/Reason";
import { Time } from "../components/Time";
import { graphql, readFragment, type FragmentType } from "../gql";
import type { AppealedFragment, DeedFragment } from "../gql/graphql";
import { ActDialog } from "./ActDialog";
import { ActButton } from "./Acts";
import { subjectPath } from "./subjects";
import { saidOf } from "./words";

const DEED = graphql(`
  fragment Deed on ModerationAction {
    id
    kind
    at
    reason
    note
    expiresAt
    subjectId
    ...Appealed
    about: subject {
      __typename
      id
      ... on Article {
        title
      }
      ... on User {
        username
      }
    }
    moderator {
      id
      username
    }
    group {
      id
      name
    }
    reverts {
      id
      kind
    }
    revertedBy {
      id
      at
      moderator {
        id
        username
      }
    }
  }
`);

interface DeedsProps {
  actions: readonly (FragmentType<typeof DEED> & { id: string })[];
  empty: string;
}

/** What moderators did about one thing or one user, newest first, each with a button that reverts it. */
export function Deeds({ actions, empty }: DeedsProps) {
  if (actions.length === 0) return <p className="empty">{empty}</p>;
  return (
    <ol className="items">
      {readFragment(DEED, actions).map((action) => (
        <li key={action.id}>
          <Deed action={action} />
        </li>
      ))}
    </ol>
  );
}

interface DeedProps {
  action: DeedFragment;
  /** Whether it says what it is about, as where it stands among others. */
  isNamed?: boolean;
}

/** What a moderator did, why, what somebody says against it, and buttons that revert it and answer that. */
function Deed({ action, isNamed = false }: DeedProps) {
  const [doing, setDoing] = useState<"revert" | "answer" | null>(null);
  const { id, kind, at, reason, note, moderator, revertedBy, subjectId } = action;
  const { appeal } = readFragment(APPEALED, action);
  const said = saidOf(action);
  return (
    <article className="line deed" data-item="" tabIndex={-1} aria-label={`${moderator.username}: ${said}`}>
      <p className="details">
        <ModeratorLink username={moderator.username} /> <span>{said}</span>
        {isNamed && (
          <span className="on">
            <Link href={subjectPath(subjectId)} aria-keyshortcuts="o">
              <bdi>{nameOf(action)}</bdi>
            </Link>
          </span>
        )}
        <Time at={at} />
        {revertedBy && (
          <span className="settled">
            reverted by <ModeratorLink username={revertedBy.moderator.username} /> <Time at={revertedBy.at} />
          </span>
        )}
      </p>
      <Reason text={reason} />
      {note && (
        <p className="note" dir="auto">
          Note: {note}
        </p>
      )}
      {appeal && <Appeal appeal={appeal} />}
      <div className="acts">
        {appeal && !appeal.answeredAt && (
          <ActButton name="Answer" about={said} shortcut="a" onClick={() => setDoing("answer")} />
        )}
        {kind !== "REVERT" && !revertedBy && (
          <ActButton name="Revert" about={said} shortcut="r" onClick={() => setDoing("revert")} />
        )}
      </div>
      {doing && <ActDialog task={{ act: doing, action: { id, said } }} onClose={() => setDoing(null)} />}
    </article>
  );
}

function Appeal({ appeal }: { appeal: NonNullable<AppealedFragment["appeal"]> }) {
  const { text, at, answer, answeredBy, answeredAt } = appeal;
  return (
    <div className="flags">
      <p>
        Appeal <Time at={at} />
      </p>
      <p dir="auto">{text}</p>
      {answeredAt && (
        <p>
          Answered {answeredBy && <ModeratorLink username={answeredBy.username} />} <Time at={answeredAt} />
        </p>
      )}
      {answer && <p dir="auto">{answer}</p>}
    </div>
  );
}

function nameOf({ about, subjectId }: DeedFragment): string {
  if (about?.__typename === "Article") return about.title;
  if (about?.__typename === "User") return about.username;
  return subjectId.startsWith("comment:") ? "a comment" : subjectId;
}

/** The actions whose appeals wait for an answer. */
export function Appeals({ actions }: Pick<DeedsProps, "actions">) {
  return (
    <LiveList
      items={readFragment(DEED, actions)}
      idOf={({ id }) => id}
      one="appeal"
      className="items"
      empty={<p className="empty">No appeal waits for an answer.</p>}
    >
      {(action) => <Deed action={action} isNamed />}
    </LiveList>
  );
}
