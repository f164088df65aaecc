import { useMemo } from "react";
import { isKept } from "./addresses";

const HOUR = 3_600_000;

const ALL: readonly { period: string; hours: number; name: string; label: string }[] = [
  { period: "day", hours: 24, name: "Day", label: "Top of the day" },
  { period: "week", hours: 7 * 24, name: "Week", label: "Top of the week" },
  { period: "month", hours: 30 * 24, name: "Month", label: "Top of the month" },
];

/** Periods of which there is a list with the most votes first, if the site keeps this order. */
export const PERIODS = isKept("VOTES") ? ALL : [];

/** The start of a period, by the hour, so that the cache knows the page again; `given` is that of an earlier page. */
export function useSince(period: string | null, given: string | null): string | null {
  const hours = PERIODS.find((each) => each.period === period)?.hours;
  return useMemo(() => {
    if (hours === undefined) return null;
    if (given !== null && !Number.isNaN(Date.parse(given))) return new Date(given).toISOString();
    return new Date((Math.floor(Date.now() / HOUR) - hours) * HOUR).toISOString();
  }, [given, hours]);
}
