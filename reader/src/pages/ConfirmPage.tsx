import "./pages.css";
import { useState } from "react";
import { useMutation } from "urql";
import { Form } from "../components/Form";
import { Page } from "../components/Page";
import { explain, REFUSED, type Refusal } from "../errors";
import { graphql, readFragment } from "../gql";
import { say } from "../status";
import { t } from "../words";

const CONFIRM_EMAIL = graphql(`
  mutation ConfirmEmail($input: ConfirmEmailInput!) {
    confirmEmail(input: $input) {
      userErrors {
        ...Refused
      }
    }
  }
`);

/**
 * Confirms a mail address by the token of a link, which stands in the address after `#`. Opening the page changes
 * nothing.
 */
export default function ConfirmPage() {
  const [token] = useState(() => window.location.hash.slice(1));
  const [, confirm] = useMutation(CONFIRM_EMAIL);
  const [refusals, setRefusals] = useState<readonly Refusal[]>([]);
  const [fault, setFault] = useState<string | null>(null);
  const [isDone, setDone] = useState(false);

  async function send() {
    const { data, error } = await confirm({ input: { token } });
    const found = readFragment(REFUSED, data?.confirmEmail?.userErrors) ?? [];
    setFault(error ? explain(error) : null);
    setRefusals(found.map((refusal) => ({ ...refusal, field: null })));
    if (!data?.confirmEmail || found.length > 0) return;
    window.history.replaceState(null, "", window.location.pathname + window.location.search); // the token is used up
    setDone(true);
    say(t("address-confirmed"));
  }

  return (
    <Page title={t("confirm-title")}>
      {isDone && <p>{t("mails-go-here")}</p>}
      {!isDone && !token && <p>{t("mail-link-incomplete")}</p>}
      {!isDone && token && (
        <Form submit={t("confirm-address")} action={send} refusals={refusals} fault={fault}>
          <p>{t("confirm-text")}</p>
        </Form>
      )}
    </Page>
  );
}
