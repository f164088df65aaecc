import "./pages.css";
import { useState } from "react";
import { useMutation } from "urql";
import { HAS_PASSWORDS } from "../addresses";
import { Elsewhere } from "../components/Elsewhere";
import { Field, Form } from "../components/Form";
import { Page } from "../components/Page";
import { explain, REFUSED, type Refusal } from "../errors";
import { graphql, readFragment } from "../gql";
import { say } from "../status";

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
    if (data?.requestPasswordReset && found.length === 0)
      say("If there is such a user with a confirmed address, a mail is on its way.");
  }

  if (!HAS_PASSWORDS) return <Elsewhere title="Forgotten password" />;
  return (
    <Page title="Forgotten password">
      <Form submit="Send me a link" action={send} refusals={refusals} fault={fault}>
        <Field
          name="usernameOrEmail"
          label="Name or address"
          hint="A mail goes to the address that you have confirmed, with a link to choose a new password."
          autoComplete="username"
          autoCapitalize="none"
          spellCheck={false}
          required
        />
      </Form>
    </Page>
  );
}
