import type { CombinedError } from "urql";
import { graphql, readFragment, type FragmentType } from "./gql";
import { clockTime, fullTime } from "./times";
import { hasText, t } from "./words";

// Why something was not done, in sentences for readers. A refusal is an answer of the API that tells a user why a
// mutation changed nothing (`userErrors`); all else, such as a lost connection, is an error.

/** What forms show of a refusal. */
export const REFUSED = graphql(`
  fragment Refused on UserError {
    code
    field
    message
    rule
    params {
      name
      value
    }
    ... on RateLimited {
      retryAt
    }
    ... on Banned {
      until
    }
  }
`);

/** The `userErrors` of a payload. */
export type Refusals = readonly FragmentType<typeof REFUSED>[];

/** A refusal, as `userErrors` have it. */
export interface Refusal {
  code: string;
  message: string;
  /** The rule of the site that was broken, with its numbers. */
  rule?: string | null;
  params?: readonly { name: string; value: string }[];
  /** The path of the refused field, such as `["input", "title"]`. */
  field?: string[] | null;
  /** When a mutation that was sent too often may be sent again. */
  retryAt?: string;
  /** When a ban ends; null if it is for good. */
  until?: string | null;
}

/** Why a request failed, in a sentence. */
export function explain(error: CombinedError): string {
  if (error.networkError && error.graphQLErrors.length === 0) return explainNetwork(error);
  const [first] = error.graphQLErrors;
  const { code, retryAt } = first?.extensions ?? {};
  if (code === "RATE_LIMITED") return t("too-many-requests", { when: when(retryAt) });
  const message = first?.message ?? error.message;
  if (code !== "UNAVAILABLE") return sentence(t("request-failed", { message }));
  // Another reason, such as a full store, may last: readers are told.
  return message.endsWith("does not answer")
    ? t("server-unavailable")
    : sentence(t("server-unavailable-because", { message }));
}

/** Why a mutation was refused, in a sentence. */
export function explainRefusal(refusal: Refusal): string {
  if (refusal.code === "UNAUTHENTICATED") return t("session-ended");
  if (refusal.code === "RATE_LIMITED") return t("too-often", { when: when(refusal.retryAt) });
  const { code, message, until } = refusal;
  if (code === "BANNED" && until)
    return sentence(
      t("refused-banned-until", {
        message: message.replace(until, fullTime(Date.parse(until))),
        until: fullTime(Date.parse(until)),
      }),
    );
  return sentence(t(textOf(refusal), { message, ...numbersOf(refusal) }));
}

/**
 * The id of the text for a refusal: `refused-rule-RULE`, `refused-invalid-FIELD` or `refused-CODE`, if the language has
 * it. In English it shows the server's message.
 */
function textOf({ code, rule, field }: Refusal): string {
  const detail = code === "RULE" ? rule : code === "INVALID" ? field?.[1] : null;
  const names = [...(detail ? [`refused-${kebab(code)}-${kebab(detail)}`] : []), `refused-${kebab(code)}`];
  return names.find(hasText) ?? "refused";
}

/** "voting-closed" of `VOTING_CLOSED`, "new-password" of `newPassword`. */
const kebab = (name: string): string =>
  name
    .replace(/(?<=[a-z])[A-Z]/g, "-$&")
    .replaceAll("_", "-")
    .toLowerCase();

/** The numbers of the broken rule, by their names. */
const numbersOf = ({ params = [] }: Refusal): Record<string, number> =>
  Object.fromEntries(params.map(({ name, value }) => [name, Number(value)]));

/** Why a mutation did not do what it was sent for, in a sentence; null if it did. */
export function reasonOf(error: CombinedError | undefined, refusals: Refusals = []): string | null {
  if (error) return explain(error);
  const [refusal] = readFragment(REFUSED, refusals);
  return refusal ? explainRefusal(refusal) : null;
}

function explainNetwork({ response }: CombinedError): string {
  return explainResponse(response instanceof Response ? response : undefined);
}

/** Why a request failed, in a sentence, by the response if there was one. */
export function explainResponse(response?: Response): string {
  if (response?.status === 401) return t("session-ended");
  if (response?.status === 429) {
    return t("too-many-requests", { when: when(Date.now() + 1000 * Number(response.headers.get("Retry-After"))) });
  }
  if (response && response.status >= 500) return t("server-unavailable");
  return navigator.onLine ? t("server-unreachable") : t("offline");
}

/** "at 2:05:09 PM" for an instant, or "later" if none is known. */
function when(instant: unknown): string {
  const date = new Date(typeof instant === "string" || typeof instant === "number" ? instant : NaN);
  return Number.isNaN(date.getTime()) ? t("try-later") : t("try-at", { time: clockTime(date) });
}

function sentence(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1) + (/[.!?]$/.test(text) ? "" : ".");
}
