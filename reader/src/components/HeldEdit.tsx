import { graphql, readFragment, type FragmentType } from "../gql";
import { Markdown } from "./Markdown";
import { Time } from "./Time";
import { t } from "../words";
import { Words } from "./Words";

// A rule of the site can hold what somebody posts or edits: until a moderator approves it, others do not see it.

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
  /** What the service that checks texts has said of it, for moderators. */
  reason?: string | null | undefined;
  isOwn?: boolean;
}

/** The edit that waits for a moderator, below the text that others read meanwhile. */
export function HeldEdit({ edit: fragment, reason, isOwn = false }: HeldEditProps) {
  const edit = readFragment(HELD_EDIT, fragment);
  if (!edit) return null;
  return (
    <div role="group" className="notice" aria-label={t("held-edit")}>
      <p>
        <Words
          id={isOwn ? "own-edit-waits" : "an-edit-waits"}
          time={<Time at={edit.at} />}
          why={<HeldWhy rule={edit.heldBy} reason={reason} />}
        />
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

/** The ids of texts for the rules of a site that can hold a text. */
const RULES: Record<string, string> = {
  words: "held-words",
  domains: "held-domains",
  first_texts: "held-first-texts",
  links: "held-links",
  repeated_text: "held-repeated-text",
  check: "held-check",
};

interface HeldWhyProps {
  /** The name of the rule by which it is held. */
  rule: string;
  /** What the service that checks texts has said, for moderators. */
  reason: string | null | undefined;
}

/** Why a text is held. */
export function HeldWhy({ rule, reason }: HeldWhyProps) {
  return (
    <>
      {heldWords(rule)}
      {reason && (
        <>
          : <q dir="auto">{reason}</q>
        </>
      )}
    </>
  );
}

/** What is said of a text that waits for a moderator, with the rule that holds it, if one does. */
export const waitsWords = (said: string, rule: string | null | undefined): string =>
  rule ? t("waits-because", { said, why: heldWords(rule) }) : said;

/** Why a text is held, by the name of the rule that holds it. */
const heldWords = (rule: string): string => t(RULES[rule] ?? "held-rule", { rule });
