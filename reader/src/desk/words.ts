import type { DeedFragment, FlagReason } from "../gql/graphql";
import { endOf, isOutOfGroup, placeOf } from "../moderation";

// How the pages of moderators call reasons of flags, and what moderators did.

export const REASONS: Record<FlagReason, string> = {
  SPAM: "spam",
  ABUSE: "abuse",
  OFF_TOPIC: "off topic",
  ILLEGAL: "illegal",
  OTHER: "another reason",
};

/** "2 spam, 1 abuse", the most frequent first. */
export function summary(reasons: readonly FlagReason[]): string {
  const counts = new Map<FlagReason, number>();
  for (const reason of reasons) counts.set(reason, (counts.get(reason) ?? 0) + 1);
  const sorted = [...counts].sort(([, one], [, other]) => other - one);
  return sorted.map(([reason, count]) => `${count} ${REASONS[reason]}`).join(", ");
}

const VERBS: Record<DeedFragment["kind"], string> = {
  ANNUL_VOTES: "annulled votes",
  APPROVE: "approved",
  BAN: "banned",
  GRANT_ROLE: "gave a role",
  LOCK: "locked",
  PURGE: "purged",
  REMOVE: "removed",
  REVERT: "reverted",
  REVOKE_ROLE: "took a role",
};

/** What was done, in a few words. */
export function saidOf(action: Pick<DeedFragment, "kind" | "group" | "expiresAt" | "reverts" | "subjectId">): string {
  const { kind, group, reverts } = action;
  const isOut = kind === "REMOVE" && isOutOfGroup(action);
  const place = group ? ` ${isOut ? "out of" : "in"} ${placeOf(action)}` : "";
  if (kind === "REVERT") return `reverted ${reverts ? `“${VERBS[reverts.kind]}”` : "an action"}${place}`;
  const end = kind === "BAN" ? ` ${endOf(action)}` : "";
  return `${VERBS[kind]}${place}${end}`;
}
