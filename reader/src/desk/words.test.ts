import { expect, test } from "vitest";
import { fullTime } from "../times";
import { kindOf, subjectPath } from "./subjects";
import { saidOf, summary } from "./words";

const LUA = { id: "group:lua", name: "lua" };
const UNTIL = "2026-11-30T12:00:00Z";

const said = (kind: Parameters<typeof saidOf>[0]["kind"], subjectId: string, rest = {}) =>
  saidOf({ kind, subjectId, group: null, expiresAt: null, reverts: null, ...rest });

test("the most frequent reason of flags comes first", () => {
  expect(summary(["ABUSE", "SPAM", "SPAM"])).toBe("2 spam, 1 abuse");
  expect(summary(["OFF_TOPIC"])).toBe("1 off topic");
});

test("an action says where it was done, and a ban until when", () => {
  expect(said("REMOVE", "article:1")).toBe("removed");
  expect(said("REMOVE", "article:1", { group: LUA })).toBe("removed out of the group lua");
  expect(said("REMOVE", "comment:1", { group: LUA })).toBe("removed in the group lua");
  expect(said("BAN", "user:alice", { group: LUA })).toBe("banned in the group lua for good");
  expect(said("BAN", "user:alice", { expiresAt: UNTIL })).toBe(`banned until ${fullTime(Date.parse(UNTIL))}`);
  expect(said("REVERT", "article:1", { reverts: { id: "action:1", kind: "LOCK" } })).toBe(
    "reverted \u201clocked\u201d",
  );
});

test("an address names an article, a comment or a user", () => {
  expect(subjectPath("article:12")).toBe("/moderation/article:12");
  expect(["article:12", "comment:7", "user:al-ice_1"].map(kindOf)).toEqual(["article", "comment", "user"]);
  expect(["roles", "article:0", "article:", "user:a", "group:lua", "article:1x"].map(kindOf)).toEqual(
    Array(6).fill(null),
  );
});
