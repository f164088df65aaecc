import { useRef, useState } from "react";
import { useClient } from "urql";
import { useDraft } from "../drafts";
import { explain, REFUSED, type Refusal } from "../errors";
import { graphql, readFragment, type FragmentType } from "../gql";
import { useWriter } from "../session";
import { say } from "../status";
import { Field, Form } from "./Form";
import { Markdown } from "./Markdown";
import { t } from "../words";

const ABOUT = graphql(`
  fragment GroupAbout on Group {
    id
    name
    title
    about
    viewerCanModerate
  }
`);

const EDIT_GROUP = graphql(`
  mutation EditGroup($input: EditGroupInput!) {
    editGroup(input: $input) {
      group {
        id
        title
        about
      }
      userErrors {
        ...Refused
      }
    }
  }
`);

/** What belongs in a group, and for its moderators a form that changes that and the title. */
export function GroupAbout({ group: fragment }: { group: FragmentType<typeof ABOUT> }) {
  const group = readFragment(ABOUT, fragment);
  const writer = useWriter(); // the viewer, also after the session has ended
  const button = useRef<HTMLButtonElement>(null);
  const [isEditing, setEditing] = useState(false);
  const mayEdit = writer !== null && group.viewerCanModerate;

  function close() {
    button.current?.focus();
    setEditing(false);
  }

  return (
    <section className="about" aria-label={t("about-group", { name: group.name })}>
      {group.about && !isEditing && <Markdown text={group.about} />}
      {mayEdit && (
        <button ref={button} type="button" aria-expanded={isEditing} onClick={() => setEditing(!isEditing)}>
          {t("edit-group")}
        </button>
      )}
      {mayEdit && isEditing && <GroupForm key={group.name} group={group} writer={writer} onDone={close} />}
    </section>
  );
}

interface GroupText {
  title: string;
  about: string;
}

interface GroupFormProps {
  group: { name: string; title: string | null; about: string | null };
  /** Whose draft it is: a username. */
  writer: string;
  /** Called when it is saved, and when the form is cancelled. */
  onDone: () => void;
}

function GroupForm({ group: { name, title, about }, writer, onDone }: GroupFormProps) {
  const client = useClient();
  const draft = useDraft<GroupText>(`${writer}:group:${name}`, { title: title ?? "", about: about ?? "" });
  const [refusals, setRefusals] = useState<readonly Refusal[]>([]);
  const [fault, setFault] = useState<string | null>(null);

  const field = (name: keyof GroupText) => ({
    name,
    value: draft.value[name],
    onChange: ({ target }: { target: { value: string } }) => draft.change({ ...draft.value, [name]: target.value }),
  });

  async function save() {
    const texts = {
      title: draft.value.title.trim() || null,
      about: draft.value.about.trim() ? draft.value.about : null,
    };
    const { data, error } = await client.mutation(EDIT_GROUP, { input: { group: name, ...texts } });
    setFault(error ? explain(error) : null);
    setRefusals(readFragment(REFUSED, data?.editGroup?.userErrors) ?? []);
    if (error || data?.editGroup?.userErrors.length !== 0) return;
    leave();
    say(t("group-changed"));
  }

  function leave() {
    draft.clear();
    onDone();
  }

  return (
    <Form {...{ refusals, ofField, fault }} label={t("group")} submit={t("save")} action={save} onCancel={leave}>
      <Field
        {...field("title")}
        label={t("group-title")}
        most={100}
        hint={t("group-title-hint", { name })}
        autoComplete="off"
      />
      <Field {...field("about")} label={t("group-belongs")} rows={6} most={5_000} hint={t("markdown-hint")} />
    </Form>
  );
}

/** Refusals of other fields are about the whole form. */
function ofField(refusal: Refusal): Refusal {
  const name = refusal.field?.[1];
  return name === "title" || name === "about" ? refusal : { ...refusal, field: null };
}
