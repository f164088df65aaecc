import { useLayoutEffect, type RefObject } from "react";
import { Observable, useObservable } from "./observable";
import { storage } from "./storage";

// Browsers restore the scroll position before the content is there, so it is done here. Each entry of the history has a
// key in its state, by which sessionStorage has its position.

interface Visit {
  key: string;
  /** By a link, by the buttons back and forward or a reload, or from elsewhere. */
  by: "link" | "history" | "address";
}

const POSITIONS = "upvote-positions";
const MOST_POSITIONS = 100;

const positions = new Map<string, number>(stored());
const visit = new Observable<Visit>({ key: "", by: "address" });
let arrived = "";

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

/** Scrolls to where the page was left: it is there as HTML. From then on the reader scrolls, not the script. */
export function arriveAtHtml(): void {
  const { key, by } = visit.get();
  if (by === "history") window.scrollTo(0, positions.get(key) ?? 0);
  arrived = key;
}

/** Scrolls to where the page was left, or to its top and moves the focus to its heading. Once for each visit. */
export function useArrival(heading: RefObject<HTMLElement | null>, isReady: boolean): void {
  const current = useObservable(visit);
  useLayoutEffect(() => {
    if (arrived === current.key || (current.by === "history" && !isReady)) return;
    const isFirst = arrived === "";
    arrived = current.key;
    if (current.by === "history") window.scrollTo(0, positions.get(current.key) ?? 0);
    if (current.by === "link") window.scrollTo(0, 0);
    if (!isFirst) heading.current?.focus({ preventScroll: true });
  }, [current, isReady, heading]);
}

function enter(by: Visit["by"]): void {
  visit.set({ key: keyOfState() || mark(newKey()), by });
}

/** React renders between the listeners of an event: the page that is left would take the position of the other one. */
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

function mark(key: string): string {
  history.replaceState({ ...history.state, visit: key }, "");
  return key;
}

function newKey(): string {
  return Math.random().toString(36).slice(2);
}

function stored(): [string, number][] {
  try {
    const value: unknown = JSON.parse(storage.read(POSITIONS, "sessionStorage") ?? "[]");
    return Array.isArray(value) ? (value as [string, number][]) : [];
  } catch {
    return [];
  }
}
