import { useState } from "react";
import { useMutation } from "urql";
import { useLocation } from "wouter";
import { explain, REFUSED, type Refusal } from "../errors";
import { graphql, readFragment } from "../gql";
import type { DeletedTexts, DeleteUserInput } from "../gql/graphql";
import { endSession } from "../session";
import { say } from "../status";
import { Confirm } from "./Confirm";
import { Choice, Form } from "./Form";
import { inProofForm, proofIn, ProofField, type Proof } from "./Proof";
import { t } from "../words";

const DELETE_USER = graphql(`
  mutation DeleteUser($input: DeleteUserInput!) {
    deleteUser(input: $input) {
      deletedUserId
      userErrors {
        ...Refused
      }
    }
  }
`);

const TEXTS: readonly { value: DeletedTexts; text: string }[] = [
  { value: "KEEP", text: "texts-stay" },
  { value: "REMOVE", text: "texts-go" },
];

/** A form that deletes the account of the viewer, who confirms it. `proof` is how they prove who they are. */
export function Leaving({ proof }: { proof: Proof }) {
  const [asked, setAsked] = useState<DeleteUserInput | null>(null);
  const { leave, refusals, fault } = useLeaving(proof);

  async function ask(form: FormData) {
    const texts = TEXTS.find(({ value }) => value === form.get("texts"))?.value ?? "KEEP";
    setAsked({ texts, ...proofIn(form, proof) });
  }

  return (
    <section aria-labelledby="leaving">
      <h2 id="leaving">{t("delete-account")}</h2>
      <p>{t("delete-account-text")}</p>
      <Form label={t("delete-account")} submit={t("delete-account")} action={ask} refusals={refusals} fault={fault}>
        <Choice
          name="texts"
          label={t("my-texts")}
          options={TEXTS.map(({ value, text }) => ({ value, text: t(text) }))}
        />
        <ProofField proof={proof} label={t("delete-account-password")} />
      </Form>
      {asked && (
        <Confirm
          question={t("delete-account-question")}
          consequence={t(asked.texts === "REMOVE" ? "delete-account-texts-go" : "delete-account-texts-stay")}
          action={t("delete-my-account")}
          onConfirm={async () => {
            await leave(asked);
            setAsked(null);
          }}
          onCancel={() => setAsked(null)}
        />
      )}
    </section>
  );
}

/** Deletes the account, and ends the session of all tabs. */
function useLeaving(proof: Proof) {
  const [, deleteUser] = useMutation(DELETE_USER);
  const [, navigate] = useLocation();
  const [refusals, setRefusals] = useState<readonly Refusal[]>([]);
  const [fault, setFault] = useState<string | null>(null);

  async function leave(input: DeleteUserInput) {
    const { data, error } = await deleteUser({ input });
    setFault(error ? explain(error) : null);
    // refusals of the proof, such as a wrong password, as the form can show them
    const refused = readFragment(REFUSED, data?.deleteUser?.userErrors) ?? [];
    setRefusals(refused.map((refusal) => inProofForm(refusal, proof)));
    if (!data?.deleteUser?.deletedUserId) return;
    endSession();
    navigate("/", { replace: true });
    say(t("account-deleted"));
  }

  return { leave, refusals, fault };
}
