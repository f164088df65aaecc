import { useEffect } from "react";
import { Observable, useObservable } from "./observable";

const TICK = 15_000;
const UNITS: [Intl.RelativeTimeFormatUnit, number][] = [
  ["year", 365 * 86_400],
  ["month", 30 * 86_400],
  ["day", 86_400],
  ["hour", 3_600],
  ["minute", 60],
];

const relative = new Intl.RelativeTimeFormat("en", { numeric: "always" });
const whole = new Intl.DateTimeFormat("en", { dateStyle: "long", timeStyle: "short" });
const time = new Intl.DateTimeFormat("en", { hour: "numeric", minute: "2-digit", second: "2-digit" });
const now = new Observable(Date.now());

let users = 0;
let timer: ReturnType<typeof setInterval> | undefined;

/** The time, renewed every 15 seconds. All components share one timer. */
export function useNow(): number {
  useEffect(() => {
    if (users++ === 0) timer = setInterval(() => now.set(Date.now()), TICK);
    return () => {
      if (--users === 0) clearInterval(timer);
    };
  }, []);
  return useObservable(now);
}

/** "3 hours ago"; "just now" within the first minute, also if the server's clock is ahead. */
export function ago(instant: number, now: number): string {
  const seconds = Math.floor((now - instant) / 1000);
  const unit = UNITS.find(([, length]) => seconds >= length);
  return unit ? relative.format(-Math.floor(seconds / unit[1]), unit[0]) : "just now";
}

export const fullTime = (instant: number): string => whole.format(instant);

export const clock = (instant: Date): string => time.format(instant);
