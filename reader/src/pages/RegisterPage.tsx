import { useState } from "react";
import { HAS_PASSWORDS, REGISTRATION } from "../addresses";
import { LogInElsewhere } from "../components/LogInElsewhere";
import { SessionForm } from "../components/SessionForm";
import { OtherWays } from "../components/OtherWays";
import { Page } from "../components/Page";
import { graphql } from "../gql";
import { t } from "../words";

const REGISTER = graphql(`
  mutation Register($input: RegisterInput!) {
    session: register(input: $input) {
      ...NewSession
    }
  }
`);

/**
 * Creates a user, who is then logged in. An invitation stands in the address after `#`; opening the page does not use
 * it up.
 */
export default function RegisterPage() {
  const [invitation] = useState(() => window.location.hash.slice(1));
  if (!HAS_PASSWORDS) return <LogInElsewhere title={t("register")} />;
  if (REGISTRATION === "closed" || (REGISTRATION === "invited" && !invitation))
    return (
      <Page title={t("register")}>
        <p>{REGISTRATION === "closed" ? t("registration-closed") : t("registration-invited")}</p>
        <OtherWays />
      </Page>
    );
  return (
    <SessionForm
      title={t("register")}
      mutation={REGISTER}
      given={invitation ? { invitation } : {}}
      nameHint={t("username-hint")}
      passwordHint={t("password-hint")}
      password="new-password"
      other={{ question: t("registered-already"), path: "/log-in", name: t("log-in") }}
    >
      <OtherWays />
    </SessionForm>
  );
}
