import type { CombinedError } from "urql";
import { graphql } from "./gql";
import { clockTime, fullTime } from "./times";

/** What forms show of a refusal. */
export const REFUSED = graphql(`
  fragment Refused on UserError {
    code
    field
    message
    ... on RateLimited {
      retryAt
    }
    ... on Banned {
      until
    }
  }
`);

/** A refusal, as `userErrors` have it. */
export interface Refusal {
  code: string;
  message: string;
  field?: string[] | null;
  /** Of a mutation that was sent too often, if the document asks for it. */
  retryAt?: string;
  /** When a ban ends, if the document asks for it; null if it is for good. */
  until?: string | null;
}

/** Why a request failed, in a sentence. */
export function explain(error: CombinedError): string {
  if (error.networkError && error.graphQLErrors.length === 0) return explainNetwork(error);
  const [first] = error.graphQLErrors;
  const { code, retryAt } = first?.extensions ?? {};
  if (code === "RATE_LIMITED") return `Too many requests. ${when(retryAt)}`;
  if (code === "UNAVAILABLE") return "The server is not available at the moment.";
  return sentence(first?.message ?? error.message);
}

/** Why a mutation was refused, in a sentence. */
export function explainRefusal(refusal: Refusal): string {
  if (refusal.code === "UNAUTHENTICATED") return "Your session has ended. Log in again.";
  if (refusal.code === "RATE_LIMITED") return `This was too often. ${when(refusal.retryAt)}`;
  const { code, message, until } = refusal;
  if (code === "BANNED" && until) return sentence(`${message} until ${fullTime(Date.parse(until))}`);
  return sentence(message);
}

/** Why a mutation did not do what it was sent for, in a sentence; null if it did. */
export function reasonOf(error: CombinedError | undefined, [refusal]: readonly Refusal[] = []): string | null {
  if (error) return explain(error);
  return refusal ? explainRefusal(refusal) : null;
}

function explainNetwork({ response }: CombinedError): string {
  return explainResponse(response instanceof Response ? response : undefined);
}

/** Why a request failed, in a sentence, by the response if there was one. */
export function explainResponse(response?: Response): string {
  if (response?.status === 401) return "Your session has ended. Log in again.";
  if (response?.status === 429) {
    return `Too many requests. ${when(Date.now() + 1000 * Number(response.headers.get("Retry-After")))}`;
  }
  if (response && response.status >= 500) return "The server is not available at the moment.";
  return navigator.onLine ? "The server cannot be reached." : "You are offline.";
}

function when(instant: unknown): string {
  const date = new Date(typeof instant === "string" || typeof instant === "number" ? instant : NaN);
  return Number.isNaN(date.getTime()) ? "Try again later." : `Try again at ${clockTime(date)}.`;
}

function sentence(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1) + (/[.!?]$/.test(text) ? "" : ".");
}
