import "./thread.css";
import type { Draft } from "../drafts";
import type { Refusal } from "../errors";
import { Field, Form } from "./Form";
import { GroupNames } from "./GroupNames";
import { LinkNotes } from "./LinkNotes";
import { Preview } from "./Preview";

/** What is typed into the form of an article. */
export interface ArticleText {
  title: string;
  link: string;
  content: string;
  /** Names with blanks or commas between them. */
  groups: string;
}

interface ArticleFormProps {
  draft: Draft<ArticleText>;
  submit: string;
  action: () => Promise<void>;
  refusals: readonly Refusal[];
  fault: string | null;
  onCancel?: () => void;
}

/** The fields of an article, to post or to edit it. */
export function ArticleForm({ draft: { value, change }, refusals, ...form }: ArticleFormProps) {
  const field = (name: keyof ArticleText) => ({
    name,
    value: value[name],
    onChange: ({ target }: { target: { value: string } }) => change({ ...value, [name]: target.value }),
  });
  return (
    <Form {...form} label="Article" refusals={refusals.map(ofField)}>
      <Field {...field("title")} label="Title" most={300} autoComplete="off" />
      <Field
        {...field("link")}
        label="Link"
        type="url"
        inputMode="url"
        hint="An http or https address, a text, or both."
      />
      <LinkNotes
        link={value.link}
        hasTitle={value.title.trim() !== ""}
        onTitle={(title) => change({ ...value, title })}
      />
      <Field {...field("content")} label="Text" rows={8} hint={MARKDOWN_HINT} />
      <Preview text={value.content} />
      <Field
        {...field("groups")}
        label="Groups"
        hint="At most 10 names with blanks between them, such as programming show."
        autoCapitalize="none"
        autoComplete="off"
      />
      <GroupNames text={value.groups} onChoose={(groups) => change({ ...value, groups })} />
    </Form>
  );
}

export const MARKDOWN_HINT = "Markdown: *emphasis*, `code`, > quotation, [a link](https://…), @name.";

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

/** Refusals of `add` and `remove` are about the groups. */
function ofField(refusal: Refusal): Refusal {
  const name = refusal.field?.[1];
  if (name === "add" || name === "remove") return { ...refusal, field: ["input", "groups"] };
  return FIELDS.has(name ?? "") ? refusal : { ...refusal, field: null };
}

const FIELDS = new Set(["title", "link", "content", "groups"]);
