import { useMutation } from "urql";
import { reasonOf, type Refusal } from "../errors";
import { graphql } from "../gql";
import { say, sayProblem } from "../status";
import { Field } from "./Form";
import { t } from "../words";

const REQUEST_CONFIRMATION = graphql(`
  mutation RequestConfirmation {
    requestConfirmation {
      userErrors {
        ...Refused
      }
    }
  }
`);

/** How the viewer can prove who they are again, before something that cannot be undone: by password, or by a link. */
export interface Proof {
  hasPassword: boolean;
  /** The token of a link sent by mail, for viewers without a password; null without a link. */
  token: string | null;
  /** Whether the viewer has a mail address that such a link can be sent to. */
  hasAddress: boolean;
}

/** Asks for the password or, if the viewer has none, says what takes its place. */
export function ProofField({ proof, label }: { proof: Proof; label: string }) {
  if (proof.hasPassword)
    return <Field name="currentPassword" label={label} type="password" autoComplete="current-password" />;
  if (proof.token) return <p className="hint">{t("proof-confirmed")}</p>;
  return (
    <p className="hint">
      {t("proof-no-password")} {proof.hasAddress && <LinkByMail />}
    </p>
  );
}

function LinkByMail() {
  const [{ fetching }, request] = useMutation(REQUEST_CONFIRMATION);

  async function send() {
    if (fetching) return;
    const { data, error } = await request({});
    const reason = reasonOf(error, data?.requestConfirmation?.userErrors);
    if (reason) sayProblem(reason);
    else say(t("proof-mail-sent"));
  }

  return (
    <button type="button" aria-disabled={fetching} onClick={() => void send()}>
      {t("proof-send")}
    </button>
  );
}

/** The fields of a mutation's input that carry the proof. */
export function proofIn(form: FormData, { hasPassword, token }: Proof): { currentPassword?: string; token?: string } {
  if (hasPassword) return { currentPassword: String(form.get("currentPassword")) };
  return token ? { token } : {};
}

/**
 * A refusal as a form with a proof shows it. `BAD_CREDENTIALS` can only mean that the password is wrong, as the server
 * takes the name from the session. For a viewer without a password it means that the log-in is too old.
 */
export function inProofForm(refusal: Refusal, { hasPassword }: Proof): Refusal {
  if (refusal.code === "BAD_TOKEN") return { ...refusal, field: null };
  if (refusal.code !== "BAD_CREDENTIALS") return refusal;
  if (hasPassword)
    return {
      ...refusal,
      field: ["input", "currentPassword"],
      code: "WRONG_PASSWORD",
      message: t("refused-wrong-password"),
    };
  return { ...refusal, field: null, code: "OLD_LOG_IN", message: t("refused-old-log-in") };
}
