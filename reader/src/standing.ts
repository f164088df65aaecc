import type { ArticleOrder } from "./gql/graphql";
import { LANGUAGE, t } from "./words";

// Why an article has its rank: the terms of its value, as the field `standing` of the API has them, in words for
// readers.

/** One of the numbers whose sum an order sorts by. */
export interface Term {
  /** Such as `votes` or `posting time`. */
  name: string;
  value: number;
}

/** A part of a value: what it adds or, below 0, takes away. */
export interface Part extends Term {
  /** The value with its sign, as readers see it. */
  text: string;
}

const HOT_EPOCH = 1_134_028_003; // unix seconds, as store/ranking/formulas.py has it
const NUMBER = new Intl.NumberFormat(LANGUAGE, { maximumSignificantDigits: 3, signDisplay: "always" });

/**
 * The parts of an article's value, the greatest first. An instant says nothing, so an age stands in its place: what the
 * article has lost since it was posted, or since its newest comment. `postedAt` and `now` are unix milliseconds.
 */
export function partsOf(order: ArticleOrder, terms: readonly Term[], postedAt: number, now: number): Part[] {
  const seconds = Math.max(0, now - postedAt) / 1000;
  const parts = agedTerms(order, terms, postedAt / 1000, seconds).filter(({ value }) => value !== 0);
  return parts
    .map((part) => ({ ...part, text: IN_SECONDS.has(order) ? duration(part.value) : NUMBER.format(part.value) }))
    .sort((one, other) => Math.abs(other.value) - Math.abs(one.value));
}

/** The orders whose parts are told in seconds. */
const IN_SECONDS = new Set<ArticleOrder>(["SCORE", "TIME", "ACTIVE", "HOT"]);

/** The terms with ages in place of instants. `postedAt` is in unix seconds, `age` in seconds since then. */
function agedTerms(order: ArticleOrder, terms: readonly Term[], postedAt: number, age: number): Term[] {
  const term = (name: string) => terms.find((each) => each.name === name)?.value ?? 0;
  switch (order) {
    case "SCORE":
      return [
        { name: "votes", value: term("votes") },
        { name: "age", value: -age },
      ];
    case "TIME":
      return [{ name: "age", value: -age }];
    case "ACTIVE":
      // the term is in seconds after the posting
      return [{ name: "since the newest comment", value: term("newest comment") - age }];
    case "HOT":
      return [
        // posting time = (posted at - epoch) / divisor, so votes times the divisor is the age that they make up for
        { name: "votes", value: (term("votes") * (postedAt - HOT_EPOCH)) / term("posting time") },
        { name: "age", value: -age },
      ];
    default:
      return [...terms];
  }
}

/** Units and their lengths in seconds. */
const UNITS = [
  ["day", 86_400],
  ["hour", 3_600],
  ["minute", 60],
  ["second", 1],
] as const;

/** "+2 hr 24 min", "-3 days 4 hr", "+43 sec". */
function duration(seconds: number): string {
  const rounded = Math.round(Math.abs(seconds));
  const first = UNITS.findIndex(([, length]) => rounded >= length || length === 1);
  let rest = rounded;
  const words = UNITS.slice(first, first + 2).map(([unit, length], index) => {
    const count = Math.floor(rest / length);
    rest -= count * length;
    const signDisplay = index === 0 ? ("always" as const) : ("auto" as const);
    const format = new Intl.NumberFormat(LANGUAGE, { style: "unit", unit, unitDisplay: "short", signDisplay });
    return index > 0 && count === 0 ? "" : format.format(index === 0 && seconds < 0 ? -count : count);
  });
  return words.filter(Boolean).join(" ");
}

/** What would move an article up, in a sentence. `votes` is how many it needs; null if votes cannot move it. */
export function wayUp(order: ArticleOrder, rank: number, votes: number | null, isVotingOpen: boolean): string | null {
  if (rank === 1) return t("standing-first");
  if (order === "TIME" || order === "ACTIVE") return t("standing-no-votes");
  if (!isVotingOpen) return t("standing-closed");
  if (votes === null) return t("standing-stays");
  return t("standing-missing", { count: votes });
}
