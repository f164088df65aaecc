import { useMemo } from "react";
import { hasOrder } from "./addresses";
import { t } from "./words";

const HOUR = 3_600_000; // milliseconds

const ALL: readonly { period: string; hours: number }[] = [
  { period: "day", hours: 24 },
  { period: "week", hours: 7 * 24 },
  { period: "month", hours: 30 * 24 },
];

/** The periods whose articles are listed with the most votes first; none if the site does not have this order. */
export const PERIODS = hasOrder("VOTES") ? ALL : [];

/**
 * What a link to the list of a period says, the title of the list, the title within another, and what an empty list
 * says.
 */
export const periodTexts = (period: string) => ({
  name: t(`list-${period}`),
  label: t(`list-${period}-title`),
  lower: t(`list-${period}-lower`),
  empty: t(`list-${period}-empty`),
});

/**
 * The start of a period that ends now, in ISO 8601; null without a period. It is rounded to the hour, so that the cache
 * finds the page when it is shown again. If the address has a start, `given`, it is that one.
 */
export function useSince(period: string | null, given: string | null): string | null {
  const hours = PERIODS.find((each) => each.period === period)?.hours;
  return useMemo(() => {
    if (hours === undefined) return null;
    if (given !== null && !Number.isNaN(Date.parse(given))) return new Date(given).toISOString();
    return new Date((Math.floor(Date.now() / HOUR) - hours) * HOUR).toISOString();
  }, [given, hours]);
}
