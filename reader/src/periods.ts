import { useMemo } from "react";
import { isKept } from "./addresses";
import { t } from "./words";

const HOUR = 3_600_000; // milliseconds

const ALL: readonly { period: string; hours: number }[] = [
  { period: "day", hours: 24 },
  { period: "week", hours: 7 * 24 },
  { period: "month", hours: 30 * 24 },
];

/** Periods of which there is a list with the most votes first, if the site has this order. */
export const PERIODS = isKept("VOTES") ? ALL : [];

/** What a link to the list of a period says, its title, the same within a title, and what an empty one says. */
export const periodTexts = (period: string) => ({
  name: t(`list-${period}`),
  label: t(`list-${period}-title`),
  lower: t(`list-${period}-lower`),
  empty: t(`list-${period}-empty`),
});

/** The start of a period, to the hour, so that the cache knows the page again; `given` is the one in the address. */
export function useSince(period: string | null, given: string | null): string | null {
  const hours = PERIODS.find((each) => each.period === period)?.hours;
  return useMemo(() => {
    if (hours === undefined) return null;
    if (given !== null && !Number.isNaN(Date.parse(given))) return new Date(given).toISOString();
    return new Date((Math.floor(Date.now() / HOUR) - hours) * HOUR).toISOString();
  }, [given, hours]);
}
