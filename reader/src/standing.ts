import type { ArticleOrder } from "./gql/graphql";

// Why an article stands where it does: the terms of its value, as `standing` has them, told so that they mean something.

export interface Term {
  name: string;
  value: number;
}

/** A part of a value: what it adds or, below 0, takes away. */
export interface Part extends Term {
  /** The value with its sign, as readers see it. */
  text: string;
}

const HOT_EPOCH = 1_134_028_003; // unix seconds, as store/ranking/formulas.py has it
const NUMBER = new Intl.NumberFormat("en", { maximumSignificantDigits: 3, signDisplay: "always" });

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

const IN_SECONDS = new Set<ArticleOrder>(["SCORE", "TIME", "ACTIVE"]);

function agedTerms(order: ArticleOrder, terms: readonly Term[], postedAt: number, age: number): Term[] {
  const of = (name: string) => terms.find((term) => term.name === name)?.value ?? 0;
  switch (order) {
    case "SCORE":
      return [
        { name: "votes", value: of("votes") },
        { name: "age", value: -age },
      ];
    case "TIME":
      return [{ name: "age", value: -age }];
    case "ACTIVE":
      return [{ name: "since the newest comment", value: of("newest comment") - age }];
    case "HOT":
      return [
        { name: "votes", value: of("votes") },
        { name: "age", value: (-age * of("posting time")) / (postedAt - HOT_EPOCH) },
      ];
    default:
      return [...terms];
  }
}

const UNITS: [string, number][] = [
  ["d", 86_400],
  ["h", 3_600],
  ["min", 60],
];

/** "+2 h 24 min", "−3 d 4 h", "+432 s". */
function duration(seconds: number): string {
  const sign = seconds < 0 ? "−" : "+";
  let rest = Math.round(Math.abs(seconds));
  const first = UNITS.findIndex(([, length]) => rest >= length);
  if (first < 0) return `${sign}${rest} s`;
  const words = UNITS.slice(first, first + 2).map(([unit, length]) => {
    const count = Math.floor(rest / length);
    rest -= count * length;
    return count === 0 ? "" : `${count} ${unit}`;
  });
  return sign + words.filter(Boolean).join(" ");
}

/** What would move it up, in a sentence; null if nothing can be said. */
export function wayUp(order: ArticleOrder, rank: number, votes: number | null, isVotingOpen: boolean): string | null {
  if (rank === 1) return "It is the first.";
  if (order === "TIME" || order === "ACTIVE") return "Votes do not move it in this order.";
  if (!isVotingOpen) return "Voting has closed.";
  if (votes === null) return "More votes up do not pass the one above.";
  return votes === 1 ? "1 more vote passes the one above." : `${votes} more votes pass the one above.`;
}
