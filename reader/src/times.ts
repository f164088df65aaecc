import { useEffect } from "react";
import { Observable, useObservable } from "./observable";
import { LANGUAGE, t } from "./words";

const TICK = 15_000; // milliseconds
// The ids of their texts, and their lengths in seconds.
const UNITS: readonly [string, number][] = [
  ["years-ago", 365 * 86_400],
  ["months-ago", 30 * 86_400],
  ["days-ago", 86_400],
  ["hours-ago", 3_600],
  ["minutes-ago", 60],
];

const fullFormat = new Intl.DateTimeFormat(LANGUAGE, { dateStyle: "long", timeStyle: "short" });
const utcFormat = new Intl.DateTimeFormat(LANGUAGE, { dateStyle: "long", timeStyle: "short", timeZone: "UTC" });
const dayFormat = new Intl.DateTimeFormat(LANGUAGE, { dateStyle: "long", timeZone: "UTC" });
const clockFormat = new Intl.DateTimeFormat(LANGUAGE, { hour: "numeric", minute: "2-digit", second: "2-digit" });
const now = new Observable(Date.now());

let mounted = 0; // components that show the time
let timer: ReturnType<typeof setInterval> | undefined;

/** The time, renewed every 15 seconds. All components share one timer. */
export function useNow(): number {
  useEffect(() => {
    if (mounted++ === 0) timer = setInterval(() => now.set(Date.now()), TICK);
    return () => {
      if (--mounted === 0) clearInterval(timer);
    };
  }, []);
  return useObservable(now);
}

/** "3 hours ago"; "just now" within the first minute, also if the server's clock is ahead. */
export function ago(instant: number, now: number): string {
  const seconds = Math.floor((now - instant) / 1000);
  const unit = UNITS.find(([, length]) => seconds >= length);
  return unit ? t(unit[0], { count: Math.floor(seconds / unit[1]) }) : t("just-now");
}

/** Date and time of an instant in unix milliseconds. */
export const fullTime = (instant: number): string => fullFormat.format(instant);

/** Date and time with "UTC", for what the server's HTML shows, too: the server does not know the reader's zone. */
export const utcTime = (instant: number): string => `${utcFormat.format(instant)} UTC`;

/** A UTC day such as 2026-11-22. */
export const fullDay = (day: string): string => dayFormat.format(Date.parse(day));

/** Only the time of day, to the second. */
export const clockTime = (instant: Date): string => clockFormat.format(instant);
