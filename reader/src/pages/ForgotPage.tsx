import "./pages.css";
import { useState } from "react";
import { useMutation } from "urql";
import { HAS_PASSWORDS, SENDS_MAIL } from "../addresses";
import { LogInElsewhere } from "../components/LogInElsewhere";
import { Field, Form } from "../components/Form";
import { Page } from "../components/Page";
import { explain, REFUSED, type Refusal } from "../errors";
import { graphql, readFragment } from "../gql";
import { say } from "../status";
import { t } from "../words";

const REQUEST_PASSWORD_RESET = graphql(`
  mutation RequestPasswordReset($input: RequestPasswordResetInput!) {
    requestPasswordReset(input: $input) {
      userErrors {
        ...Refused
      }
    }
  }
`);

/** Asks for a mail with a link to choose a new password. It says the same whether or not there is such a user. */
export default function ForgotPage() {
  const [, request] = useMutation(REQUEST_PASSWORD_RESET);
  const [refusals, setRefusals] = useState<readonly Refusal[]>([]);
  const [fault, setFault] = useState<string | null>(null);

  async function send(form: FormData) {
    const input = { usernameOrEmail: String(form.get("usernameOrEmail")).trim() };
    const { data, error } = await request({ input });
    const found = readFragment(REFUSED, data?.requestPasswordReset?.userErrors) ?? [];
    setFault(error ? explain(error) : null);
    setRefusals(found);
    if (data?.requestPasswordReset && found.length === 0) say(t("mail-if-known"));
  }

  if (!HAS_PASSWORDS) return <LogInElsewhere title={t("forgotten-title")} />;
  if (!SENDS_MAIL)
    return (
      <Page title={t("forgotten-title")}>
        <p>{t("forgotten-without-mail")}</p>
      </Page>
    );
  return (
    <Page title={t("forgotten-title")}>
      <Form submit={t("send-link")} action={send} refusals={refusals} fault={fault}>
        <Field
          name="usernameOrEmail"
          label={t("name-or-address")}
          hint={t("name-or-address-hint")}
          autoComplete="username"
          autoCapitalize="none"
          spellCheck={false}
          required
        />
      </Form>
    </Page>
  );
}
