// @vitest-environment jsdom
import { expect, test } from "vitest";
import { rolesOf } from "../roles";
import { groupsToBan, groupsToLeave, mayAnnul, mayAnswer, mayBan, mayModerate, mayRevert } from "./authority";
import type { Moderator, UserWithRoles } from "./authority";

/** The role of a moderator of the whole site, and those of a moderator of groups. */
const SITE: UserWithRoles["roles"] = [{ role: "MODERATOR" }];
const of = (...groups: string[]): UserWithRoles["roles"] =>
  groups.map((name) => ({ role: "MODERATOR", group: { name } }));
const moderator = (roles: UserWithRoles["roles"], username = "mona"): Moderator => ({
  username,
  roles: rolesOf(roles),
});
const user = (username: string, roles: UserWithRoles["roles"] = []): UserWithRoles => ({ username, roles });
const article = (groups: string[], poster = user("vera")) => ({ id: "article:1", poster, groups });
const comment = (groups: string[], poster = user("vera")) => ({ id: "comment:1", poster, groups });
const ADMIN = moderator([{ role: "ADMIN" }]);

test("nobody but admins acts on their own texts, or on those of the same or a higher role", () => {
  expect(mayModerate(moderator(SITE), article([]))).toBe(true);
  expect(mayModerate(moderator(SITE), article([], user("mona")))).toBe(false);
  expect(mayModerate(moderator(SITE), article([], user("vera", SITE)))).toBe(false);
  expect(mayModerate(moderator(SITE), article(["lua"], user("vera", of("lua"))))).toBe(true);
  expect(mayModerate(moderator(of("lua")), comment(["lua"], user("vera", of("lua"))))).toBe(false);
  expect(mayModerate(moderator(of("lua")), comment(["lua"], user("vera", of("show"))))).toBe(true);
  expect(mayModerate(ADMIN, article([], user("mona", SITE)))).toBe(true);
});

test("a moderator of a group acts on all of an article that is in no other, and takes it out of the group", () => {
  const mona = moderator(of("lua"));

  expect(mayModerate(mona, article(["lua"]))).toBe(true);
  expect(mayModerate(mona, article(["lua", "show"]))).toBe(false);
  expect(mayModerate(mona, article([]))).toBe(false);
  expect(groupsToLeave(mona, article(["lua", "show"]))).toEqual(["lua"]);
  expect(groupsToLeave(mona, article(["lua"], user("mona")))).toEqual([]);
  expect(groupsToLeave(mona, comment(["lua"]))).toEqual([]);
  expect(mayModerate(mona, comment(["lua", "show"]))).toBe(true);
});

test("users are banned, and their votes annulled, by who has a higher role", () => {
  expect(mayBan(moderator(SITE), user("vera", of("lua")))).toBe(true);
  expect(mayBan(moderator(SITE), user("vera", SITE))).toBe(false);
  expect(mayBan(ADMIN, user("mona"))).toBe(false);
  expect(groupsToBan(moderator(of("lua", "show")), user("vera", of("lua")))).toEqual(["show"]);
  expect(mayBan(moderator(of("lua")), user("vera", of("lua")))).toBe(false);
  expect(mayAnnul(moderator(of("lua")), user("vera"))).toBe(false);
  expect(mayAnnul(moderator(SITE), user("vera"))).toBe(true);
});

test("an action is reverted by who might have done it, and an appeal answered by others than its author", () => {
  const removal = { kind: "REMOVE" as const, subjectId: "article:1" };
  const ban = { kind: "BAN" as const, subjectId: "user:vera", group: { name: "lua" } };
  const mona = moderator(of("lua"));

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
  expect(mayRevert(moderator(SITE), { ...ban, kind: "GRANT_ROLE" }, { user: user("vera") })).toBe(false);
});
