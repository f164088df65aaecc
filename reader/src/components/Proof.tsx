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

/** By what a viewer can show once more who they are, before something that cannot be undone. */
export interface Proof {
  hasPassword: boolean;
  /** Of a link by mail, for who has no password; null without one. */
  token: string | null;
  /** Whether there is an address that gets such a link. */
  hasAddress: boolean;
}

/** Asks for the password; says what there is in place of it for who has none. */
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

/** What a mutation gets of it. */
export function proofIn(form: FormData, { hasPassword, token }: Proof): { currentPassword?: string; token?: string } {
  if (hasPassword) return { currentPassword: String(form.get("currentPassword")) };
  return token ? { token } : {};
}

/** What a form says of a proof that is refused: the name is that of the session, so it is the password that is wrong. */
export function ofProof({ hasPassword }: Proof): (refusal: Refusal) => Refusal {
  return (refusal) => {
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
  };
}
