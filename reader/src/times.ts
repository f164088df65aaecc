import { useEffect } from "react";
import { Observable, useObservable } from "./observable";

const TICK = 15_000; // milliseconds
// Their lengths in seconds.
const UNITS: [Intl.RelativeTimeFormatUnit, number][] = [
  ["year", 365 * 86_400],
  ["month", 30 * 86_400],
  ["day", 86_400],
  ["hour", 3_600],
  ["minute", 60],
];

const relativeFormat = new Intl.RelativeTimeFormat("en", { numeric: "always" });
const fullFormat = new Intl.DateTimeFormat("en", { dateStyle: "long", timeStyle: "short" });
const clockFormat = new Intl.DateTimeFormat("en", { hour: "numeric", minute: "2-digit", second: "2-digit" });
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
  return unit ? relativeFormat.format(-Math.floor(seconds / unit[1]), unit[0]) : "just now";
}

/** Date and time of an instant in unix milliseconds. */
export const fullTime = (instant: number): string => fullFormat.format(instant);

/** Only the time of day, to the second. */
export const clockTime = (instant: Date): string => clockFormat.format(instant);
