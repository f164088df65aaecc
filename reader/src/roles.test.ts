// @vitest-environment jsdom
import { expect, test } from "vitest";
import { moderates, moderatesAnything, rolesOf } from "./roles";

const LUA = { name: "lua" };
const SHOW = { name: "show" };

test("whoever has no role moderates nothing", () => {
  const roles = rolesOf([]);

  expect(moderatesAnything(roles)).toBe(false);
  expect(moderates(roles, [])).toBe(false);
  expect(moderates(roles, ["lua"])).toBe(false);
});

test("a moderator of groups moderates what is in one of them", () => {
  const roles = rolesOf([
    { role: "MODERATOR", group: LUA },
    { role: "MODERATOR", group: SHOW },
  ]);

  expect(roles).toEqual({ isAdmin: false, isOfSite: false, groups: ["lua", "show"] });
  expect(moderatesAnything(roles)).toBe(true);
  expect(moderates(roles, ["ask", "show"])).toBe(true);
  expect(moderates(roles, ["ask"])).toBe(false);
  expect(moderates(roles, [])).toBe(false);
});

test("a role of the whole site is for everything, also for what is in no group", () => {
  const moderator = rolesOf([{ role: "MODERATOR", group: null }]);
  const admin = rolesOf([{ role: "ADMIN" }, { role: "MODERATOR", group: LUA }]);

  expect(moderator).toEqual({ isAdmin: false, isOfSite: true, groups: [] });
  expect(admin).toEqual({ isAdmin: true, isOfSite: true, groups: ["lua"] });
  expect(moderates(moderator, [])).toBe(true);
  expect(moderates(admin, ["ask"])).toBe(true);
});
