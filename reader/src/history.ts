import { useLayoutEffect, type RefObject } from "react";
import { Observable, useObservable } from "./observable";
import { storage } from "./storage";

// Browsers restore the scroll position before the content is there, so it is done here. Each entry of the history has a
// key in its state, and sessionStorage keeps the scroll position of each key.

interface Visit {
  key: string;
  /** How the user came: by a link of the site; by back, forward or a reload; or from elsewhere. */
  by: "link" | "history" | "address";
}

const POSITIONS = "upvote-positions"; // the key of sessionStorage
const MOST_POSITIONS = 100; // that are kept: those of the latest visits

const positions = new Map<string, number>(stored());
const visit = new Observable<Visit>({ key: "", by: "address" });
/** The key of the visit for which `useScrollAndFocus` has done its work. */
let handled = "";

/** Starts to keep the scroll positions. Wouter sends the events of `pushState` and `replaceState`. */
export function keepScrollPositions(): void {
  history.scrollRestoration = "manual";
  visit.set(keyOfState() ? { key: keyOfState(), by: "history" } : { key: mark(newKey()), by: "address" });
  window.addEventListener("pagehide", remember);
  window.addEventListener("pushState", () => {
    remember();
    enter("link");
  });
  window.addEventListener("popstate", revisit);
  window.addEventListener("replaceState", () => {
    if (!keyOfState()) enter("link");
  });
}

/** Scrolls the HTML of the server to where the page was left. For the rest of this visit only the user scrolls. */
export function scrollHtml(): void {
  const { key, by } = visit.get();
  if (by === "history") window.scrollTo(0, positions.get(key) ?? 0);
  handled = key;
}

/** Once a visit: scrolls to where the page was left, or after a link to its top, and moves the focus to its heading. */
export function useScrollAndFocus(heading: RefObject<HTMLElement | null>, isReady: boolean): void {
  const current = useObservable(visit);
  useLayoutEffect(() => {
    if (handled === current.key || (current.by === "history" && !isReady)) return;
    const isFirst = handled === "";
    handled = current.key;
    if (current.by === "history") window.scrollTo(0, positions.get(current.key) ?? 0);
    if (current.by === "link") window.scrollTo(0, 0);
    if (!isFirst) heading.current?.focus({ preventScroll: true });
  }, [current, isReady, heading]);
}

function enter(by: Visit["by"]): void {
  visit.set({ key: keyOfState() || mark(newKey()), by });
}

/**
 * After back or forward. The visit begins once all listeners of the event have run, as React may render between two.
 */
function revisit(): void {
  remember();
  setTimeout(() => enter("history"));
}

function remember(): void {
  positions.delete(visit.get().key);
  positions.set(visit.get().key, window.scrollY);
  storage.write(POSITIONS, JSON.stringify([...positions].slice(-MOST_POSITIONS)), "sessionStorage");
}

function keyOfState(): string {
  const key: unknown = history.state?.visit;
  return typeof key === "string" ? key : "";
}

/** Writes a key into the state of the current entry of the history. */
function mark(key: string): string {
  history.replaceState({ ...history.state, visit: key }, "");
  return key;
}

function newKey(): string {
  return Math.random().toString(36).slice(2);
}

/** Keys and positions, in CSS pixels, as sessionStorage has them. */
function stored(): [string, number][] {
  try {
    const value: unknown = JSON.parse(storage.read(POSITIONS, "sessionStorage") ?? "[]");
    return Array.isArray(value) ? (value as [string, number][]) : [];
  } catch {
    return [];
  }
}
