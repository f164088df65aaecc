import "./thread.css";
import { useRef, useState } from "react";
import { useClient } from "urql";
import { explain, REFUSED, type Refusal } from "../errors";
import { graphql, readFragment } from "../gql";
import { say } from "../status";
import { Field, Form } from "./Form";
import { t } from "../words";

const ADD_GROUP = graphql(`
  mutation AddGroup($input: EditGroupInput!) {
    editGroup(input: $input) {
      group {
        id
        name
      }
      userErrors {
        ...Refused
      }
    }
  }
`);

/**
 * A button for admins that opens a form which makes a group: it is listed from then on, also without articles. `onDone`
 * is called when it is made.
 */
export function AddGroup({ onDone }: { onDone: () => void }) {
  const button = useRef<HTMLButtonElement>(null);
  const [isOpen, setOpen] = useState(false);

  function close() {
    button.current?.focus();
    setOpen(false);
  }

  return (
    <>
      <button ref={button} type="button" aria-expanded={isOpen} onClick={() => setOpen(!isOpen)}>
        {t("add-group")}
      </button>
      {isOpen && <GroupForm close={close} onDone={onDone} />}
    </>
  );
}

function GroupForm({ close, onDone }: { close: () => void; onDone: () => void }) {
  const client = useClient();
  const [refusals, setRefusals] = useState<readonly Refusal[]>([]);
  const [fault, setFault] = useState<string | null>(null);

  async function send(form: FormData) {
    const text = (name: string) => String(form.get(name)).trim();
    const input = { group: text("group"), ...(text("title") && { title: text("title") }) };
    const { data, error } = await client.mutation(ADD_GROUP, { input });
    const refused = readFragment(REFUSED, data?.editGroup?.userErrors) ?? [];
    setFault(error ? explain(error) : null);
    setRefusals(refused);
    if (error || !data?.editGroup?.group || refused.length > 0) return;
    close();
    say(t("group-is-there", { name: data.editGroup.group.name }));
    onDone();
  }

  return (
    <Form label={t("add-group")} submit={t("add-the-group")} action={send} onCancel={close} {...{ refusals, fault }}>
      <Field
        name="group"
        label={t("group-name")}
        hint={t("group-name-hint")}
        autoComplete="off"
        autoCapitalize="none"
      />
      <Field name="title" label={t("group-title")} hint={t("group-shown-title-hint")} autoComplete="off" />
    </Form>
  );
}
