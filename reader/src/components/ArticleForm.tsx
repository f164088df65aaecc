import "./thread.css";
import type { Draft } from "../drafts";
import type { Refusal } from "../errors";
import { Field, Form } from "./Form";
import { GroupNames } from "./GroupNames";
import { LinkNotes } from "./LinkNotes";
import { Preview } from "./Preview";
import { t } from "../words";

/** What is typed into the form of an article. */
export interface ArticleText {
  title: string;
  link: string;
  content: string;
  /** Names with blanks or commas between them. */
  groups: string;
}

interface ArticleFormProps {
  /** The id of the article that is edited; none for a new one. */
  edited?: string;
  draft: Draft<ArticleText>;
  /** The text of the button that sends it. */
  submit: string;
  action: () => Promise<void>;
  /** Why the server refused it; empty if it did not. `fault`: why the request failed, or null. */
  refusals: readonly Refusal[];
  fault: string | null;
  onCancel?: () => void;
}

/** The fields of an article, to post or to edit it. The link stands first, as its page proposes the title. */
export function ArticleForm({ edited, draft: { value, change }, ...form }: ArticleFormProps) {
  const field = (name: keyof ArticleText) => ({
    name,
    value: value[name],
    onChange: ({ target }: { target: { value: string } }) => change({ ...value, [name]: target.value }),
  });
  return (
    <Form {...form} label={t("form-article")} ofField={ofField}>
      <Field {...field("link")} label={t("field-link")} type="url" inputMode="url" hint={t("field-link-hint")} />
      <LinkNotes
        link={value.link}
        edited={edited ?? null}
        hasTitle={value.title.trim() !== ""}
        onTitle={(title) => change({ ...value, title })}
      />
      <Field {...field("title")} label={t("field-title")} most={300} autoComplete="off" />
      <Field {...field("content")} label={t("field-text")} rows={8} most={40_000} hint={t("markdown-hint")} />
      <Preview text={value.content} />
      <GroupNames text={value.groups} onChoose={(groups) => change({ ...value, groups })}>
        <Field
          {...field("groups")}
          label={t("field-groups")}
          hint={t("field-groups-hint")}
          autoCapitalize="none"
          autoComplete="off"
        />
      </GroupNames>
    </Form>
  );
}

/** The names of groups in what was typed, each once. */
export function groupsOf(text: string): string[] {
  return [
    ...new Set(
      text
        .toLowerCase()
        .split(/[\s,]+/)
        .filter(Boolean),
    ),
  ];
}

/**
 * A refusal with its field in this form. `field` is a path, such as `["input", "title"]`. `add` and `remove` of an edit
 * are about the groups. A refusal of a field that the form does not have is about the whole form.
 */
function ofField(refusal: Refusal): Refusal {
  const name = refusal.field?.[1];
  if (name === "add" || name === "remove") return { ...refusal, field: ["input", "groups"] };
  return FIELDS.has(name ?? "") ? refusal : { ...refusal, field: null };
}

/** The fields of the mutations' inputs that the form has. */
const FIELDS = new Set(["title", "link", "content", "groups"]);
