import { useEffect, useRef, useState } from "react";
import { explainRefusal } from "../errors";
import type { AnnulVotesInput } from "../gql/graphql";
import { ANNUL, useSend, type Outcome } from "./mutations";
import { t } from "../words";

// To annul the votes of a user is to make them count no longer.

interface User {
  id: string;
  username: string;
}

/**
 * A function that annuls the votes of some users, one user after the other, until the form is closed; and the number of
 * users whose votes it has annulled so far. It goes on after a failure. Called again, it does only the rest.
 */
export function useAnnulEach(users: readonly User[]) {
  const send = useSend();
  const done = useRef(new Set<string>()); // the ids of users whose votes are annulled
  const isClosed = useRef(false);
  const [count, setCount] = useState(0);
  useEffect(() => {
    isClosed.current = false;
    return () => void (isClosed.current = true);
  }, []);

  async function annulEach(input: Omit<AnnulVotesInput, "userId">): Promise<Outcome> {
    const failures: string[] = [];
    let hasChanged = false;
    for (const { id, username } of users.filter((user) => !done.current.has(user.id))) {
      if (isClosed.current) break;
      const outcome = await send(ANNUL, { ...input, userId: id });
      if (users.length === 1 || isOfTexts(outcome)) return outcome;
      hasChanged ||= outcome.hasChanged;
      if (outcome.isDone) setCount(done.current.add(id).size);
      else failures.push(t("not-annulled-why", { name: username, reason: reasonOf(outcome) }));
    }
    const fault = failures.length > 0 ? t("not-annulled", { failures: failures.join(" ") }) : null;
    return { isDone: fault === null, hasChanged, refusals: [], fault };
  }

  return { annulEach, count };
}

/** Whether the reason or the note was refused, which is the same for all users. */
const isOfTexts = ({ refusals }: Outcome): boolean =>
  refusals.some(({ field }) => field?.[1] === "reason" || field?.[1] === "note");

const reasonOf = ({ fault, refusals }: Outcome): string => fault ?? refusals.map(explainRefusal).join(" ");
