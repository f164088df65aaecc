import { useState } from "react";
import type { CombinedError } from "urql";
import { useLocation, useSearch } from "wouter";
import { explain, type Refusal } from "./errors";
import { graphql, readFragment, type FragmentType } from "./gql";
import { nextPath } from "./log-in";
import { beginSession } from "./session";
import { say } from "./status";

const NEW_SESSION = graphql(`
  fragment NewSession on SessionPayload {
    token
    user {
      id
      username
    }
    userErrors {
      code
      field
      message
      ... on RateLimited {
        retryAt
      }
    }
  }
`);

interface Answer {
  payload: FragmentType<typeof NEW_SESSION> | null | undefined;
  error: CombinedError | undefined;
}

/** What forms that open a session do: begin it, and go back to where it was asked for, or say why there is none. */
export function useEntrance() {
  const search = useSearch();
  const [, navigate] = useLocation();
  const [refusals, setRefusals] = useState<readonly Refusal[]>([]);
  const [fault, setFault] = useState<string | null>(null);

  function enter({ payload, error }: Answer): void {
    const { token, user, userErrors = [] } = readFragment(NEW_SESSION, payload) ?? {};
    setFault(error ? explain(error) : null);
    setRefusals(userErrors);
    if (!token || !user) return;
    beginSession({ token, username: user.username });
    navigate(nextPath(search), { replace: true });
    say(`You are logged in as ${user.username}.`);
  }

  return { refusals, fault, enter };
}

/** The input of both forms. */
export function credentials(form: FormData): { username: string; password: string } {
  return { username: String(form.get("username")).trim(), password: String(form.get("password")) };
}
