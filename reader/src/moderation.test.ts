import { expect, test } from "vitest";
import { banIn, reasonWords, mayAppeal, phraseOf, removalIn, sentenceOf, wordsOf, type Action } from "./moderation";
import { fullTime, utcTime } from "./times";

const NOW = Date.parse("2026-11-23T12:00:00Z");
const LATER = "2026-11-30T12:00:00Z";
const LUA = { name: "lua" };
const REVERTED = { id: "action:2" };

/** The sentence about an action for the user whom it concerns. */
const said = (kind: Action["kind"], subjectId: string, rest: Partial<Action> = {}) =>
  sentenceOf({ kind, subjectId, ...rest }, NOW);

test("an action about a text says what was done to it", () => {
  expect(said("REMOVE", "article:1")).toBe("A moderator removed your article");
  expect(said("REMOVE", "comment:1", { group: LUA })).toBe("A moderator removed your comment");
  expect(said("REMOVE", "article:1", { group: LUA })).toBe("A moderator took your article out of the group lua");
  expect(said("APPROVE", "comment:1")).toBe("A moderator approved your comment");
  expect(said("LOCK", "article:1")).toBe("A moderator locked your article");
  expect(said("PURGE", "article:1")).toBe("A moderator deleted your article for good");
});

test("reasons that the server gives itself are said in the words of the page", () => {
  expect(reasonWords("removed with the ban action:12")).toBe("with a ban of its poster");
  expect(reasonWords("the ban action:12 is reverted")).toBe("the ban of its poster was taken back");
  expect(reasonWords("by a command of the shell")).toBe("by a command of the shell");
  expect(reasonWords("removed with the ban action:12, and more")).toBeNull();
});

test("a user is told of annulled votes, and of restored ones", () => {
  expect(said("ANNUL_VOTES", "user:alice")).toBe("A moderator annulled votes of yours: they do not count any more");
  expect(said("REVERT", "user:alice", { reverts: { kind: "ANNUL_VOTES" } })).toBe(
    "A moderator restored votes of yours: they count again",
  );
  expect(wordsOf({ kind: "ANNUL_VOTES", subjectId: "user:alice" })).toEqual(["annulled votes of", ""]);
});

test("a ban says from where and until when, and whether it is over", () => {
  const end = fullTime(Date.parse(LATER));

  expect(said("BAN", "user:alice")).toBe("You are banned from this site for good");
  expect(said("BAN", "user:alice", { group: LUA, expiresAt: LATER })).toBe(
    `You are banned from the group lua until ${end}`,
  );
  expect(said("BAN", "user:alice", { expiresAt: LATER, revertedBy: REVERTED })).toBe(
    `You were banned from this site until ${end}`,
  );
  expect(said("BAN", "user:alice", { expiresAt: "2026-11-23T12:00:00Z" })).toMatch(/^You were banned/);
});

test("a role is named where it is known", () => {
  expect(said("GRANT_ROLE", "user:alice", { group: LUA })).toBe("You are now a moderator of the group lua");
  expect(said("REVOKE_ROLE", "user:alice", { group: LUA })).toBe("You are no longer a moderator of the group lua");
  expect(said("GRANT_ROLE", "user:alice")).toBe("You were given a role on this site");
  expect(said("REVOKE_ROLE", "user:alice")).toBe("A role that you had on this site was taken from you");
});

test("a revert says what is so again", () => {
  const reverted = (kind: Action["kind"], subjectId: string, group: typeof LUA | null = null) =>
    said("REVERT", subjectId, { group, reverts: { kind } });

  expect(reverted("REMOVE", "comment:1")).toBe("A moderator restored your comment");
  expect(reverted("REMOVE", "article:1", LUA)).toBe("A moderator put your article back into the group lua");
  expect(reverted("APPROVE", "article:1")).toBe("A moderator took back the approval of your article");
  expect(reverted("LOCK", "article:1")).toBe("A moderator unlocked your article");
  expect(reverted("BAN", "user:alice", LUA)).toBe("A moderator took back your ban from the group lua");
  expect(reverted("GRANT_ROLE", "user:alice", LUA)).toBe("You are no longer a moderator of the group lua");
  expect(reverted("REVOKE_ROLE", "user:alice", LUA)).toBe("You are a moderator of the group lua again");
  expect(reverted("REVOKE_ROLE", "user:alice")).toBe("A role on this site was given back to you");
  expect(said("REVERT", "user:alice")).toBe("A moderator took back a decision about your account");
});

test("the second revert of a ban says that it has restored votes", () => {
  const revert = (id: string) =>
    wordsOf({ id, kind: "REVERT", subjectId: "user:alice", reverts: { kind: "BAN", revertedBy: { id: "action:2" } } });

  expect(revert("action:2")).toEqual(["took back the ban of", "from this site"]);
  expect(revert("action:3")).toEqual(["restored votes of", ""]);
});

/** The words before and after the name of the subject, as the public log has them. */
const done = (kind: Action["kind"], subjectId: string, rest: Partial<Action> = {}) =>
  wordsOf({ kind, subjectId, ...rest });

test("the log says what was done to whom", () => {
  const end = utcTime(Date.parse(LATER));

  expect(done("REMOVE", "article:1")).toEqual(["removed", ""]);
  expect(done("REMOVE", "comment:1", { group: LUA })).toEqual(["removed", ""]);
  expect(done("REMOVE", "article:1", { group: LUA })).toEqual(["took", "out of the group lua"]);
  expect(done("BAN", "user:alice")).toEqual(["banned", "from this site for good"]);
  expect(done("BAN", "user:alice", { group: LUA, expiresAt: LATER })).toEqual([
    "banned",
    `from the group lua until ${end}`,
  ]);
  expect(done("GRANT_ROLE", "user:alice", { role: "ADMIN" })).toEqual(["made", "an admin"]);
  expect(done("GRANT_ROLE", "user:alice", { group: LUA })).toEqual(["made", "a moderator of the group lua"]);
  expect(done("GRANT_ROLE", "user:alice")).toEqual(["gave", "a role on this site"]);
  expect(done("REVOKE_ROLE", "user:alice", { role: "MODERATOR" })).toEqual([
    "took from",
    "the role of a moderator of this site",
  ]);
});

test("the log says what a revert has restored", () => {
  const reverted = (kind: Action["kind"], subjectId: string, rest: Partial<Action> = {}) =>
    done("REVERT", subjectId, { reverts: { kind }, ...rest });

  expect(reverted("REMOVE", "article:1")).toEqual(["restored", ""]);
  expect(reverted("REMOVE", "article:1", { group: LUA })).toEqual(["put", "back into the group lua"]);
  expect(reverted("LOCK", "article:1")).toEqual(["unlocked", ""]);
  expect(reverted("BAN", "user:alice")).toEqual(["took back the ban of", "from this site"]);
  expect(reverted("GRANT_ROLE", "user:alice", { role: "ADMIN" })).toEqual(["took from", "the role of an admin"]);
  expect(reverted("REVOKE_ROLE", "user:alice", { role: "ADMIN" })).toEqual(["made", "an admin again"]);
  expect(done("REVERT", "user:alice")).toEqual(["took back a decision about", ""]);
});

test("the pages of moderators say what was done to what they show", () => {
  expect(phraseOf({ kind: "REMOVE", subjectId: "comment:1", group: LUA })).toBe("removed it");
  expect(phraseOf({ kind: "REMOVE", subjectId: "article:1", group: LUA })).toBe("took it out of the group lua");
  expect(phraseOf({ kind: "BAN", subjectId: "user:alice" })).toBe("banned them from this site for good");
  expect(phraseOf({ kind: "REVERT", subjectId: "article:1", reverts: { kind: "LOCK" } })).toBe("unlocked it");
});

test("a removal stands until it is reverted or the thing is approved", () => {
  // `removalIn` gets the newest action first
  const removal: Action = { kind: "REMOVE", subjectId: "article:1" };
  const outOfGroup: Action = { ...removal, group: LUA };
  const lock: Action = { kind: "LOCK", subjectId: "article:1" };
  const approval: Action = { kind: "APPROVE", subjectId: "article:1" };

  expect(removalIn([lock, outOfGroup, removal])).toBe(removal);
  expect(removalIn([outOfGroup, lock])).toBeUndefined();
  expect(removalIn([{ ...removal, revertedBy: REVERTED }])).toBeUndefined();
  expect(removalIn([approval, removal])).toBeUndefined();
  expect(removalIn([{ ...approval, revertedBy: REVERTED }, removal])).toBe(removal);
  const comment: Action = { kind: "REMOVE", subjectId: "comment:2", group: LUA };
  expect(removalIn([comment])).toBe(comment);
  const purge: Action = { kind: "PURGE", subjectId: "article:1" };
  expect(removalIn([purge, removal])).toBe(purge);
});

test("the ban that counts is the one from the whole site that ends last", () => {
  const ban = (rest: Partial<Action>): Action => ({ kind: "BAN", subjectId: "user:alice", ...rest });
  const week = ban({ expiresAt: LATER });
  const forGood = ban({});

  expect(banIn([week, forGood], NOW)).toBe(forGood);
  expect(banIn([week, { ...forGood, revertedBy: REVERTED }], NOW)).toBe(week);
  expect(banIn([week], Date.parse(LATER))).toBeUndefined();
  expect(banIn([ban({ group: LUA })], NOW)).toBeUndefined();
});

test("the user whom an action is against may appeal until it is reverted", () => {
  expect(mayAppeal({ kind: "REMOVE", subjectId: "article:1" })).toBe(true);
  expect(mayAppeal({ kind: "REMOVE", subjectId: "article:1", revertedBy: REVERTED })).toBe(false);
  expect(mayAppeal({ kind: "APPROVE", subjectId: "article:1" })).toBe(false);
  expect(mayAppeal({ kind: "GRANT_ROLE", subjectId: "user:alice" })).toBe(false);
});
