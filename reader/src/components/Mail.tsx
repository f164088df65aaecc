import { useState } from "react";
import { useMutation } from "urql";
import { explain, REFUSED, type Refusal } from "../errors";
import { graphql, readFragment, type FragmentType } from "../gql";
import type { EditAccountInput, MailFrequency, MailFragment } from "../gql/graphql";
import { say } from "../status";
import { Choice, Field, Form } from "./Form";
import { inProofForm, proofIn, ProofField, type Proof } from "./Proof";
import { t } from "../words";

const MAIL = graphql(`
  fragment Mail on Account {
    email
    pendingEmail
    isEmailRefused
    isMailOffered
    mailReplies
  }
`);

const EDIT_ACCOUNT = graphql(`
  mutation EditAccount($input: EditAccountInput!) {
    editAccount(input: $input) {
      account {
        ...Mail
      }
      userErrors {
        ...Refused
      }
    }
  }
`);

const FREQUENCIES: readonly { value: MailFrequency; text: string }[] = [
  { value: "NEVER", text: "mail-never" },
  { value: "AT_ONCE", text: "mail-at-once" },
  { value: "DAILY", text: "mail-daily" },
  { value: "WEEKLY", text: "mail-weekly" },
];

interface MailProps {
  account: FragmentType<typeof MAIL>;
  /** What a change to another address needs. */
  proof: Proof;
  /** Reads the account again. */
  renew: () => void;
}

/** The address of the viewer, and how often replies are mailed to it; nothing where the site sends no mail. */
export function Mail({ account, proof, renew }: MailProps) {
  const mail = readFragment(MAIL, account);
  if (!mail.isMailOffered) return null;
  return (
    <section aria-labelledby="mail">
      <h2 id="mail">{t("mail")}</h2>
      <Address mail={mail} proof={proof} renew={renew} />
      <Replies mail={mail} renew={renew} />
    </section>
  );
}

/** What both forms of the section need. */
interface PartProps {
  mail: MailFragment;
  /** Reads the account again. */
  renew: () => void;
}

function Address({ mail, proof, renew }: PartProps & { proof: Proof }) {
  const { email, pendingEmail, isEmailRefused } = mail;
  const { send, refusals, fault } = useEdit(renew, (refusal) => inProofForm(refusal, proof));
  const [edits, setEdits] = useState(0); // a new form after each change, so that no password stays in it

  async function change(form: FormData) {
    const address = String(form.get("email")).trim() || null;
    const saidIfDone = address ? t("address-mailed", { address }) : t("address-removed");
    if (await send({ email: address, ...proofIn(form, proof) }, saidIfDone)) setEdits((count) => count + 1);
  }

  return (
    <>
      {email && <p>{t("mails-go-to", { address: email })}</p>}
      {!email && !pendingEmail && proof.hasPassword && <p>{t("address-use")}</p>}
      {pendingEmail && (
        <p>
          {t("address-pending", { address: pendingEmail })}{" "}
          <button type="button" onClick={() => void send({ email: pendingEmail }, t("sent-again"))}>
            {t("send-again")}
          </button>
        </p>
      )}
      {isEmailRefused && <p className="refusal">{t("address-refused")}</p>}
      <Form
        key={edits}
        label={t("change-address")}
        submit={t("change-address")}
        action={change}
        refusals={refusals}
        fault={fault}
      >
        <Field
          name="email"
          label={t("address")}
          hint={t("address-hint")}
          type="email"
          autoComplete="email"
          defaultValue={pendingEmail ?? email ?? ""}
        />
        <ProofField proof={proof} label={t("address-password")} />
      </Form>
    </>
  );
}

function Replies({ mail: { mailReplies }, renew }: PartProps) {
  const { send, refusals, fault } = useEdit(renew);

  async function choose(form: FormData) {
    const chosen = FREQUENCIES.find(({ value }) => value === form.get("mailReplies"));
    if (chosen) await send({ mailReplies: chosen.value }, t("saved-setting"));
  }

  return (
    <Form label={t("replies-by-mail")} submit={t("save")} action={choose} refusals={refusals} fault={fault}>
      <Choice
        name="mailReplies"
        label={t("mail-inbox")}
        options={FREQUENCIES.map(({ value, text }) => ({ value, text: t(text) }))}
        defaultValue={mailReplies}
      />
    </Form>
  );
}

/** `send` changes the account, and returns whether it was changed. `inForm` gives a refusal as the form shows it. */
function useEdit(renew: () => void, inForm = (refusal: Refusal) => refusal) {
  const [, edit] = useMutation(EDIT_ACCOUNT);
  const [refusals, setRefusals] = useState<readonly Refusal[]>([]);
  const [fault, setFault] = useState<string | null>(null);

  async function send(input: EditAccountInput, saidIfDone: string): Promise<boolean> {
    const { data, error } = await edit({ input });
    setFault(error ? explain(error) : null);
    setRefusals((readFragment(REFUSED, data?.editAccount?.userErrors) ?? []).map(inForm));
    if (!data?.editAccount?.account) return false;
    renew();
    say(saidIfDone);
    return true;
  }

  return { send, refusals, fault };
}
