import { useMemo } from "react";

const HOUR = 3_600_000;

/** Periods of which there is a list with the most votes first. */
export const PERIODS: readonly { period: string; hours: number; name: string; label: string }[] = [
  { period: "day", hours: 24, name: "Day", label: "Top of the day" },
  { period: "week", hours: 7 * 24, name: "Week", label: "Top of the week" },
  { period: "month", hours: 30 * 24, name: "Month", label: "Top of the month" },
];

/** The start of a period, by the hour, so that the cache knows the page again; `given` is that of an earlier page. */
export function useSince(period: string | null, given: string | null): string | null {
  const hours = PERIODS.find((each) => each.period === period)?.hours;
  return useMemo(() => {
    if (hours === undefined) return null;
    return given ?? new Date((Math.floor(Date.now() / HOUR) - hours) * HOUR).toISOString();
  }, [given, hours]);
}
