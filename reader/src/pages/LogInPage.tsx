import { useEffect } from "react";
import { useQuery } from "urql";
import { useLocation, useSearch } from "wouter";
import { CAN_REGISTER, HAS_PASSWORDS } from "../addresses";
import { LogInElsewhere } from "../components/LogInElsewhere";
import { SessionForm } from "../components/SessionForm";
import { OtherWays } from "../components/OtherWays";
import { graphql } from "../gql";
import { nextAfterEntering } from "../log-in";
import { beginSession } from "../session";
import { say } from "../status";
import { t } from "../words";

const LOG_IN = graphql(`
  mutation LogIn($input: LogInInput!) {
    session: logIn(input: $input) {
      ...NewSession
    }
  }
`);

const ENTERED = graphql(`
  query Entered {
    viewer {
      id
      username
    }
  }
`);

/** The page to log in. */
export default function LogInPage() {
  const other = CAN_REGISTER ? { question: t("new-here"), path: "/register", name: t("register") } : undefined;
  useEntered();
  if (!HAS_PASSWORDS) return <LogInElsewhere title={t("log-in")} />;
  return (
    <SessionForm title={t("log-in")} mutation={LOG_IN} password="current-password" other={other}>
      <OtherWays />
    </SessionForm>
  );
}

/** After a log-in elsewhere, the browser comes back with a cookie: asks whose session it is, begins it and goes on. */
function useEntered(): void {
  const search = useSearch();
  const [, navigate] = useLocation();
  const pause = !new URLSearchParams(search).has("entered");
  const [{ data }] = useQuery({ query: ENTERED, requestPolicy: "network-only", pause });
  const username = data?.viewer?.username;
  useEffect(() => {
    if (!username) return;
    beginSession(username);
    navigate(nextAfterEntering(search), { replace: true });
    say(t("logged-in-as", { name: username }));
  }, [username, search, navigate]);
}
