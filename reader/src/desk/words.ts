import type { FlagReason } from "../gql/graphql";
import { t } from "../words";

// The words of the pages of moderators for the reasons of flags.

export const reasonText = (reason: FlagReason): string => t(`reason-${reason.toLowerCase().replace("_", "-")}`);

/** "2 spam, 1 abuse", the most frequent first. */
export function summary(reasons: readonly FlagReason[]): string {
  const counts = new Map<FlagReason, number>();
  for (const reason of reasons) counts.set(reason, (counts.get(reason) ?? 0) + 1);
  const sorted = [...counts].sort(([, one], [, other]) => other - one);
  return sorted.map(([reason, count]) => t("count-of-reason", { count, reason: reasonText(reason) })).join(", ");
}
