import { expect, test } from "vitest";
import { kindOf, subjectPath } from "./subjects";
import { summary } from "./words";

test("the most frequent reason of flags comes first", () => {
  expect(summary(["ABUSE", "SPAM", "SPAM"])).toBe("2 spam, 1 abuse");
  expect(summary(["OFF_TOPIC"])).toBe("1 off topic");
});

test("an address names an article, a comment or a user", () => {
  expect(subjectPath("article:12")).toBe("/moderation/article:12");
  expect(["article:12", "comment:7", "user:al-ice_1"].map(kindOf)).toEqual(["article", "comment", "user"]);
  expect(["roles", "article:0", "article:", "user:a", "group:lua", "article:1x"].map(kindOf)).toEqual(
    Array(6).fill(null),
  );
});
