import { useState } from "react";
import { HAS_PASSWORDS, REGISTRATION } from "../addresses";
import { Elsewhere } from "../components/Elsewhere";
import { Entrance } from "../components/Entrance";
import { OtherWays } from "../components/OtherWays";
import { Page } from "../components/Page";
import { graphql } from "../gql";

const REGISTER = graphql(`
  mutation Register($input: RegisterInput!) {
    session: register(input: $input) {
      ...NewSession
    }
  }
`);

/** Creates a user with a session. An invitation stands in the fragment; opening the page does not use it up. */
export default function RegisterPage() {
  const [invitation] = useState(() => window.location.hash.slice(1));
  if (!HAS_PASSWORDS) return <Elsewhere title="Register" />;
  if (REGISTRATION === "closed" || (REGISTRATION === "invited" && !invitation))
    return (
      <Page title="Register">
        <p>
          {REGISTRATION === "closed"
            ? "Nobody can register on this site."
            : "Only who is invited can register on this site: open the link of your invitation."}
        </p>
        <OtherWays />
      </Page>
    );
  return (
    <Entrance
      title="Register"
      mutation={REGISTER}
      given={invitation ? { invitation } : {}}
      nameHint="2 to 20 letters, digits, _ and -. Everybody can see it."
      passwordHint="At least 8 characters."
      password="new-password"
      other={{ question: "Registered already?", path: "/log-in", name: "Log in" }}
    >
      <OtherWays />
    </Entrance>
  );
}
