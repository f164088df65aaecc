import { expect, test } from "vitest";
import { partsOf, wayUp } from "./standing";

const POSTED = 1_470_000_000; // unix seconds
const HOUR = 3_600;
/** The parts of the value, as "name text", of an article that was posted `age` seconds ago. */
const told = (order: Parameters<typeof partsOf>[0], terms: { name: string; value: number }[], age: number) =>
  partsOf(order, terms, POSTED * 1000, (POSTED + age) * 1000).map(({ name, text }) => `${name} ${text}`);

test("by score votes are shown as the age that they make up for", () => {
  const terms = [
    { name: "posting time", value: POSTED },
    { name: "votes", value: 432 * 20 }, // 432 seconds for each vote
  ];
  expect(told("SCORE", terms, 30 * HOUR)).toEqual(["age -1 day 6 hr", "votes +2 hr 24 min"]);
  expect(told("SCORE", terms, 0)).toEqual(["votes +2 hr 24 min"]);
});

test("by heat votes are shown as the age that they make up for, too", () => {
  const terms = [
    { name: "votes", value: 2 }, // 100 votes
    { name: "posting time", value: (POSTED - 1_134_028_003) / 45_000 }, // as store/ranking/formulas.py has it
  ];
  expect(told("HOT", terms, 5 * HOUR)).toEqual(["votes +1 day 1 hr", "age -5 hr"]);
});

test("what was posted ahead of this clock has no age", () => {
  expect(told("TIME", [{ name: "posting time", value: POSTED }], -50)).toEqual([]);
});

test("an active article is as old as its newest comment", () => {
  const terms = [
    { name: "posting time", value: POSTED },
    { name: "newest comment", value: 50 * HOUR },
  ];
  expect(told("ACTIVE", terms, 52 * HOUR)).toEqual(["since the newest comment -2 hr"]);
});

test("in other orders the terms are shown as the API has them, the greatest first", () => {
  const terms = [
    { name: "upvotes", value: 3 },
    { name: "downvotes", value: -5 },
  ];
  expect(told("VOTES", terms, HOUR)).toEqual(["downvotes -5", "upvotes +3"]);
});

test("a sentence says what would move an article up", () => {
  // order, rank, votes to the next rank, whether voting is open
  expect(wayUp("HOT", 1, null, true)).toBe("It is the first.");
  expect(wayUp("HOT", 2, 1, true)).toBe("1 more vote passes the one above.");
  expect(wayUp("SCORE", 2, 12, true)).toBe("12 more votes pass the one above.");
  expect(wayUp("SCORE", 2, 12, false)).toBe("Voting has closed.");
  expect(wayUp("BEST", 2, null, true)).toBe("More votes up do not pass the one above.");
  expect(wayUp("ACTIVE", 2, null, true)).toBe("Votes do not move it in this order.");
});
