import type { FlagReason } from "../gql/graphql";

// How the pages of moderators call reasons of flags.

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
