import { Fragment } from "react";

const MATCH = /\ue000([^\ue001]*)\ue001/; // with a group: `split` gives the matches at the odd places

/** An excerpt of a search: plain text, in which each match stands between U+E000 and U+E001. */
export function Matches({ excerpt }: { excerpt: string }) {
  return (
    <>
      {excerpt.split(MATCH).map((part, index) => (
        <Fragment key={index}>{index % 2 === 1 ? <mark>{part}</mark> : part}</Fragment>
      ))}
    </>
  );
}

/** The excerpt without its marks. */
export const unmarked = (excerpt: string): string => excerpt.replace(/[\ue000\ue001]/g, "");

/** A text as an excerpt has it: in Unicode's composed form, and with one space for each run of blanks. */
export const inOneLine = (text: string): string => text.normalize().trim().replace(/\s+/g, " ");
