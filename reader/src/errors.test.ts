import { expect, test } from "vitest";
import { explainRefusal } from "./errors";

test("a refusal is a sentence", () => {
  expect(explainRefusal({ code: "INVALID", message: "a title has 1 to 300 characters" })).toBe(
    "A title has 1 to 300 characters.",
  );
});

test("a refusal because of the rate says when to try again", () => {
  const refusal = { code: "RATE_LIMITED", message: "too often: try again later" };
  const retryAt = new Date(2026, 10, 22, 14, 5, 9).toISOString();

  expect(explainRefusal({ ...refusal, retryAt })).toMatch(/^This was too often\. Try again at 2:05:09.PM\.$/);
  expect(explainRefusal(refusal)).toBe("This was too often. Try again later.");
});
