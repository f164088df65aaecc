import { useEffect, useRef } from "react";
import { useRenewal } from "../changes";
import { counted } from "../counts";
import { graphql } from "../gql";
import type { AnnulledFragment } from "../gql/graphql";

export const ANNULLED = graphql(`
  fragment Annulled on ModerationAction {
    id
    annulledVotes
    annulment {
      id
      state
      done
      total
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

const PAUSE = 1_000; // milliseconds between two looks at how far it is

/** What an action that annuls votes has moved, or how far it is. */
export function Annulment({ action: id, ...props }: AnnulmentProps) {
  const isOver = props.state === "DONE" || props.state === "RESTORED";
  const renew = useRef(useRenewal(ANNULMENT, { id }));
  useEffect(() => {
    if (isOver) return;
    const timer = setInterval(() => void renew.current(), PAUSE);
    return () => clearInterval(timer);
  }, [isOver]);
  return <p className="note">{wordsOf(props)}</p>;
}

function wordsOf({ state, done, total, annulledVotes }: Omit<AnnulmentProps, "id" | "action">): string {
  const progress = total == null ? `${done}` : `${done} of ${total}`;
  switch (state) {
    case "RUNNING":
      return `Votes annulled so far: ${progress}.`;
    case "DONE":
      return `${counted(annulledVotes ?? 0, "vote")} ${annulledVotes === 1 ? "does" : "do"} not count.`;
    case "RESTORING":
      return `Votes restored so far: ${progress}.`;
    case "RESTORED":
      return "The votes count again.";
  }
}
