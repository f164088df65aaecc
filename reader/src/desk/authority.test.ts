// @vitest-environment jsdom
import { expect, test } from "vitest";
import { rolesOf } from "../roles";
import { groupsToBan, groupsToLeave, mayAnnul, mayAnswer, mayBan, mayModerate, mayRevert } from "./authority";
import type { Moderator, UserWithRoles } from "./authority";

/** The roles of a moderator of the whole site; and below, of a moderator of these groups. Mona acts on Vera. */
const SITE: UserWithRoles["roles"] = [{ role: "MODERATOR" }];
const inGroups = (...groups: string[]): UserWithRoles["roles"] =>
  groups.map((name) => ({ role: "MODERATOR", group: { name } }));
const moderator = (roles: UserWithRoles["roles"], username = "mona"): Moderator => ({
  username,
  roles: rolesOf(roles),
});
const user = (username: string, roles: UserWithRoles["roles"] = []): UserWithRoles => ({ username, roles });
const article = (groups: string[], poster = user("vera")) => ({ id: "article:1", poster, groups });
const comment = (groups: string[], poster = user("vera")) => ({ id: "comment:1", poster, groups });
const ADMIN = moderator([{ role: "ADMIN" }]);

test("only admins act on their own texts, and on texts of users with the same or a higher role", () => {
  expect(mayModerate(moderator(SITE), article([]))).toBe(true);
  expect(mayModerate(moderator(SITE), article([], user("mona")))).toBe(false);
  expect(mayModerate(moderator(SITE), article([], user("vera", SITE)))).toBe(false);
  expect(mayModerate(moderator(SITE), article(["lua"], user("vera", inGroups("lua"))))).toBe(true);
  expect(mayModerate(moderator(inGroups("lua")), comment(["lua"], user("vera", inGroups("lua"))))).toBe(false);
  expect(mayModerate(moderator(inGroups("lua")), comment(["lua"], user("vera", inGroups("show"))))).toBe(true);
  expect(mayModerate(ADMIN, article([], user("mona", SITE)))).toBe(true);
});

test("a moderator of a group acts on a whole article if it is in no other, else takes it out of the group", () => {
  const mona = moderator(inGroups("lua"));

  expect(mayModerate(mona, article(["lua"]))).toBe(true);
  expect(mayModerate(mona, article(["lua", "show"]))).toBe(false);
  expect(mayModerate(mona, article([]))).toBe(false);
  expect(groupsToLeave(mona, article(["lua", "show"]))).toEqual(["lua"]);
  expect(groupsToLeave(mona, article(["lua"], user("mona")))).toEqual([]);
  expect(groupsToLeave(mona, comment(["lua"]))).toEqual([]);
  expect(mayModerate(mona, comment(["lua", "show"]))).toBe(true);
});

test("users are banned, and their votes annulled, by moderators with a higher role", () => {
  expect(mayBan(moderator(SITE), user("vera", inGroups("lua")))).toBe(true);
  expect(mayBan(moderator(SITE), user("vera", SITE))).toBe(false);
  expect(mayBan(ADMIN, user("mona"))).toBe(false);
  expect(groupsToBan(moderator(inGroups("lua", "show")), user("vera", inGroups("lua")))).toEqual(["show"]);
  expect(mayBan(moderator(inGroups("lua")), user("vera", inGroups("lua")))).toBe(false);
  expect(mayAnnul(moderator(inGroups("lua")), user("vera"))).toBe(false);
  expect(mayAnnul(moderator(SITE), user("vera"))).toBe(true);
});

test("an action is reverted by those who might have done it, and an appeal is not answered by its author", () => {
  const removal = { kind: "REMOVE" as const, subjectId: "article:1" };
  const ban = { kind: "BAN" as const, subjectId: "user:vera", group: { name: "lua" } };
  const mona = moderator(inGroups("lua"));

  expect(mayRevert(mona, removal, { text: article(["lua"]) })).toBe(true);
  expect(mayRevert(mona, removal, { text: article(["lua", "show"]) })).toBe(false);
  expect(mayRevert(mona, removal, null)).toBe(false);
  expect(mayRevert(mona, { ...removal, group: { name: "lua" } }, null)).toBe(true);
  expect(mayRevert(mona, { ...removal, revertedBy: {} }, { text: article(["lua"]) })).toBe(false);
  expect(mayRevert(ADMIN, { ...removal, kind: "PURGE" }, { text: article(["lua"]) })).toBe(false);
  expect(mayAnswer(ADMIN, { ...removal, kind: "PURGE" }, { text: article(["lua"]) })).toBe(true);
  expect(mayAnswer(ADMIN, removal, { text: article(["lua"], user("mona")) })).toBe(false);
  expect(mayRevert(mona, ban, { user: user("vera") })).toBe(true);
  expect(mayRevert(mona, { ...ban, group: null }, { user: user("vera") })).toBe(false);
  expect(mayRevert(mona, ban, { user: user("mona") })).toBe(false);
  const reverted = { ...ban, group: null, revertedBy: {} };
  expect(mayRevert(moderator(SITE), { ...reverted, annulment: { state: "DONE" } }, { user: user("vera") })).toBe(true);
  expect(mayRevert(moderator(SITE), { ...reverted, annulment: { state: "RESTORED" } }, { user: user("vera") })).toBe(
    false,
  );
  expect(mayRevert(moderator(SITE), { ...ban, kind: "GRANT_ROLE" }, { user: user("vera") })).toBe(false);
});
