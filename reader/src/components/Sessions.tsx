import { useId, useRef } from "react";
import { useMutation } from "urql";
import { reasonOf } from "../errors";
import { graphql, readFragment, type FragmentType } from "../gql";
import type { SessionsFragment } from "../gql/graphql";
import { say, sayProblem } from "../status";
import { Time } from "./Time";
import { t } from "../words";
import { Words } from "./Words";

const SESSIONS = graphql(`
  fragment Sessions on Account {
    sessions {
      id
      openedAt
      usedAt
      agent
      isCurrent
    }
  }
`);

const END_SESSION = graphql(`
  mutation EndSession($input: EndSessionInput!) {
    endSession(input: $input) {
      userErrors {
        ...Refused
      }
    }
  }
`);

interface SessionsProps {
  account: FragmentType<typeof SESSIONS>;
  /** Reads the sessions again. */
  renew: () => void;
}

/** The sessions in which the viewer is logged in, last used first, with buttons that end the others. */
export function Sessions({ account, renew }: SessionsProps) {
  const { sessions } = readFragment(SESSIONS, account);
  const heading = useRef<HTMLHeadingElement>(null);
  const [{ fetching }, end] = useMutation(END_SESSION);

  /** Ends a session; null ends all others. */
  async function leave(sessionId: string | null, saidIfDone: string) {
    if (fetching) return;
    const { data, error } = await end({ input: { sessionId } });
    const reason = reasonOf(error, data?.endSession?.userErrors);
    renew();
    if (reason) return sayProblem(reason);
    heading.current?.focus(); // the button is gone
    say(saidIfDone);
  }

  return (
    <section aria-labelledby="sessions">
      <h2 id="sessions" ref={heading} tabIndex={-1}>
        {t("sessions-title")}
      </h2>
      <ul className="items sessions">
        {sessions.map((each) => (
          <SessionLine key={each.id} session={each} leave={() => void leave(each.id, t("logged-out-there"))} />
        ))}
      </ul>
      {sessions.length > 1 && (
        <p>
          <button type="button" onClick={() => void leave(null, t("logged-out-else"))}>
            {t("log-out-else")}
          </button>
        </p>
      )}
    </section>
  );
}

/** A program and its system, which the server joins by "on" (server/agents.py), in the language of the page. */
function programOf(agent: string): string {
  const [program, system] = agent.split(" on ");
  return system ? t("session-agent", { program: program ?? "", system }) : agent;
}

type SessionLineProps = { session: SessionsFragment["sessions"][number]; leave: () => void };

function SessionLine({ session: { agent, openedAt, usedAt, isCurrent }, leave }: SessionLineProps) {
  const id = useId();
  return (
    <li>
      <div id={id}>
        <strong>{agent ? programOf(agent) : t("session-no-agent")}</strong>
        {isCurrent && ` ${t("session-current")}`}
        <p>
          <Words id="session-used" used={<Time at={usedAt} />} opened={<Time at={openedAt} />} />
        </p>
      </div>
      {!isCurrent && (
        <button type="button" aria-describedby={id} onClick={leave}>
          {t("log-out-there")}
        </button>
      )}
    </li>
  );
}
