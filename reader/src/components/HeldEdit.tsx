import { graphql, readFragment, type FragmentType } from "../gql";
import { Markdown } from "./Markdown";
import { Time } from "./Time";

export const HELD_EDIT = graphql(`
  fragment HeldEditText on HeldEdit {
    title
    link
    content
    heldBy
    at
  }
`);

interface HeldEditProps {
  edit: FragmentType<typeof HELD_EDIT> | null | undefined;
  isOwn?: boolean;
}

/** The edit that waits for a moderator, below the text that others read meanwhile. */
export function HeldEdit({ edit: masked, isOwn = false }: HeldEditProps) {
  const edit = readFragment(HELD_EDIT, masked);
  if (!edit) return null;
  return (
    <div role="group" className="notice" aria-label="The edit that waits">
      <p>
        {isOwn ? "Your edit" : "An edit"} waits for a moderator <Time at={edit.at} />: {heldWords(edit.heldBy)}.
        {isOwn && " Until then others read the old text."}
      </p>
      {edit.title && (
        <p dir="auto">
          <strong>{edit.title}</strong>
        </p>
      )}
      {edit.link && (
        <p dir="ltr">
          <bdi>{edit.link}</bdi>
        </p>
      )}
      {edit.content && <Markdown text={edit.content} />}
    </div>
  );
}

export const EDIT_WAITS = "Your edit waits for a moderator. Until then others read the old text.";

const RULES: Record<string, string> = {
  words: "it has a word that is looked at first",
  domains: "it names a domain that is looked at first",
  first_texts: "the first texts of an account are looked at",
  links: "links of new accounts are looked at",
  repeated_text: "it repeats a text",
  check: "the check of texts asks for a look",
};

/** Why a text is held, by the rule of the site. */
export const heldWords = (rule: string): string => RULES[rule] ?? `the rule ${rule} holds it`;
