import { useEffect, useRef } from "react";
import { useRenewal } from "../changes";
import { graphql } from "../gql";
import type { AnnulledFragment } from "../gql/graphql";
import { fullTime } from "../times";
import { t } from "../words";

// Annulled votes of a user count no longer. The server annuls them, or restores them, in the background.

export const ANNULLED = graphql(`
  fragment Annulled on ModerationAction {
    id
    annulledVotes
    annulment {
      id
      state
      done
      total
      reachesBackTo
    }
  }
`);

const ANNULMENT = graphql(`
  query Annulment($id: ID!) {
    node(id: $id) {
      ... on ModerationAction {
        id
        ...Annulled
      }
    }
  }
`);

interface AnnulmentProps extends NonNullable<AnnulledFragment["annulment"]> {
  /** The id of the action. */
  action: string;
  annulledVotes: AnnulledFragment["annulledVotes"];
}

const PAUSE = 1_000; // milliseconds after which the page asks again

/** How many votes an action has annulled or restored; while it goes on, how many so far. */
export function Annulment({ action: id, ...props }: AnnulmentProps) {
  const isOver = props.state === "DONE" || props.state === "RESTORED";
  // The function of the first rendering: a new one in each would start the timer anew.
  const renew = useRef(useRenewal(ANNULMENT, { id }));
  useEffect(() => {
    if (isOver) return;
    const timer = setInterval(() => void renew.current(), PAUSE);
    return () => clearInterval(timer);
  }, [isOver]);
  return (
    <p className="note">
      {wordsOf(props)} {props.reachesBackTo && t("annulled-since", { time: fullTime(Date.parse(props.reachesBackTo)) })}
    </p>
  );
}

function wordsOf({
  state,
  done,
  total,
  annulledVotes,
}: Pick<AnnulmentProps, "state" | "done" | "total" | "annulledVotes">): string {
  const progress = total == null ? `${done}` : t("progress-of", { done, total });
  switch (state) {
    case "RUNNING":
      return t("annulled-so-far", { progress });
    case "DONE":
      return t("votes-do-not-count", { count: annulledVotes ?? 0 });
    case "RESTORING":
      return t("restored-so-far", { progress });
    case "RESTORED":
      return t("votes-count-again");
  }
}
