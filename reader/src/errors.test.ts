import { CombinedError } from "urql";
import { expect, test } from "vitest";
import { explain, explainRefusal } from "./errors";

test("a refusal is shown as a sentence", () => {
  expect(explainRefusal({ code: "INVALID", message: "a title has 1 to 300 characters" })).toBe(
    "A title has 1 to 300 characters.",
  );
});

test("a refusal because of the rate says when to try again", () => {
  const refusal = { code: "RATE_LIMITED", message: "too often: try again after 2026-11-22T14:05:09.000Z" };
  const retryAt = new Date(2026, 10, 22, 14, 5, 9).toISOString();

  // before PM stands a narrow space
  expect(explainRefusal({ ...refusal, retryAt })).toMatch(/^This was too often\. Try again at 2:05:09.PM\.$/);
  expect(explainRefusal(refusal)).toBe("This was too often. Try again later.");
});

test("a refusal because of a ban says until when", () => {
  const refusal = { code: "BANNED", message: "you are banned from the group lua for good" };
  const until = new Date(2026, 10, 30, 14, 5).toISOString();
  const message = `you are banned from the group lua until ${until}`;

  expect(explainRefusal({ ...refusal, message, until })).toMatch(
    /^You are banned from the group lua until November 30, 2026 at 2:05.PM\.$/,
  );
  expect(explainRefusal({ ...refusal, until: null })).toBe("You are banned from the group lua for good.");
});

test("why the server does not do something is said, unless it does not answer at all", () => {
  const unavailable = (message: string) =>
    new CombinedError({ graphQLErrors: [{ message, extensions: { code: "UNAVAILABLE" } }] });

  expect(explain(unavailable("the store does not answer"))).toBe("The server is not available at the moment.");
  expect(explain(unavailable("the store is out of memory: it can be read only, and nothing was changed"))).toBe(
    "The store is out of memory: it can be read only, and nothing was changed.",
  );
});
