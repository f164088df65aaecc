import "./pages.css";
import { useState } from "react";
import { useMutation, useQuery } from "urql";
import { Link, useLocation } from "wouter";
import { HAS_PASSWORDS } from "../addresses";
import { LogInElsewhere } from "../components/LogInElsewhere";
import { NEW_SESSION, withoutCookie } from "../components/SessionForm";
import { Field, Form } from "../components/Form";
import { Loading, Page } from "../components/Page";
import { explain, REFUSED, type Refusal } from "../errors";
import { graphql, readFragment } from "../gql";
import { beginSession } from "../session";
import { say } from "../status";
import { t } from "../words";
import { Words } from "../components/Words";

const RESET_PASSWORD = graphql(`
  mutation ResetPassword($input: ResetPasswordInput!) {
    resetPassword(input: $input) {
      ...NewSession
    }
  }
`);

const RESET_USER = graphql(`
  query ResetUser($token: String!) {
    passwordResetUser(token: $token) {
      id
      username
    }
  }
`);

/** Sets a password by the token of a link, which stands in the address after `#`. Opening the page changes nothing. */
export default function ResetPage() {
  const [token] = useState(() => window.location.hash.slice(1));
  const [{ data: found, fetching: isLooking }] = useQuery({ query: RESET_USER, variables: { token }, pause: !token });
  const [, reset] = useMutation(RESET_PASSWORD);
  const [, navigate] = useLocation();
  const [refusals, setRefusals] = useState<readonly Refusal[]>([]);
  const [fault, setFault] = useState<string | null>(null);

  async function send(form: FormData) {
    const input = { token, newPassword: String(form.get("newPassword")), cookie: true };
    const { data, error } = await reset({ input });
    const { user, userErrors } = readFragment(NEW_SESSION, data?.resetPassword) ?? {};
    setFault(error ? explain(error) : null);
    setRefusals((readFragment(REFUSED, userErrors) ?? []).map(withoutToken).map(withoutCookie));
    if (!user) return;
    beginSession(user.username);
    navigate("/", { replace: true }); // the token is used up
    say(t("password-set", { name: user.username }));
  }

  if (!HAS_PASSWORDS) return <LogInElsewhere title={t("choose-password")} />;
  if (!token)
    return (
      <Page title={t("choose-password")}>
        <p>
          <Words id="link-incomplete" link={(text) => <Link href="/forgot">{text}</Link>} />
        </p>
      </Page>
    );
  if (isLooking)
    return (
      <Page title={t("choose-password")} isReady={false}>
        <Loading />
      </Page>
    );
  const username = found?.passwordResetUser?.username;
  return (
    <Page title={t("choose-password")}>
      <Form submit={t("set-password")} action={send} refusals={refusals} fault={fault}>
        {username && (
          <p>
            <Words id="password-of" user={<bdi>{username}</bdi>} />
          </p>
        )}
        {/* for managers of passwords, which keep a password with a name */}
        {username && <input value={username} autoComplete="username" readOnly hidden />}
        <Field
          name="newPassword"
          label={t("new-password")}
          hint={t("new-password-hint")}
          type="password"
          autoComplete="new-password"
          required
        />
      </Form>
    </Page>
  );
}

/** A refusal of the token is about the whole form, which has no field for it. */
const withoutToken = (refusal: Refusal): Refusal =>
  refusal.field?.[1] === "token" ? { ...refusal, field: null } : refusal;
