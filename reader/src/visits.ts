import { useEffect, useState } from "react";
import { articlePath, BASE_PATH, numberOf } from "./addresses";
import { Observable, useObservable } from "./observable";
import { storage } from "./storage";

// When the articles that this browser has visited were last read. The server does not know.

const KEY = "upvote-visits"; // of localStorage
const MOST = 500; // articles that are kept

interface Visit {
  /** The time of the newest comment that was shown, or else of the article: unix milliseconds by the server's clock. */
  readonly seen: number;
  /** The number of comments. */
  readonly count: number;
}

const visits = new Observable(read());
window.addEventListener("storage", ({ key }) => key === KEY && visits.set(read()));

/** By the numbers of articles, those that were visited last at the end. */
function read(): ReadonlyMap<string, Visit> {
  try {
    const entries = JSON.parse(storage.read(KEY) ?? "[]") as [number: string, seen: number, count: number][];
    return new Map(entries.map(([number, seen, count]) => [number, { seen, count }]));
  } catch {
    return new Map();
  }
}

/** Notes the visit of an article. Only the visits of the last `MOST` articles are kept. */
function note(id: string, visit: Visit): void {
  const all = new Map(read()); // other tabs write, too
  all.delete(numberOf(id));
  all.set(numberOf(id), visit);
  const latest = [...all].slice(-MOST);
  storage.write(KEY, JSON.stringify(latest.map(([number, { seen, count }]) => [number, seen, count])));
  visits.set(new Map(latest));
}

/** How many comments an article has got since it was visited; 0 if it never was. */
export function useNewCount(id: string, commentCount: number): number {
  const visit = useObservable(visits).get(numberOf(id));
  return visit ? Math.max(0, commentCount - visit.count) : 0;
}

/**
 * The visit that goes on, also in other orders of the comments and on their branches: the id of its article, and `seen`
 * of the visit before.
 */
let current: { id: string; before: number | null } | null = null;

/** The time up to which comments had been shown when an article was visited before; null if it never was. */
export function useVisitBefore(id: string): number | null {
  const [{ before }] = useState(() => {
    if (current?.id !== id) current = { id, before: visits.get().get(numberOf(id))?.seen ?? null };
    return current;
  });
  useEffect(
    () => () => {
      const isSame = `${location.pathname}/`.startsWith(`${BASE_PATH}${articlePath(id)}/`);
      if (!isSame) current = null;
    },
    [id],
  );
  return before;
}

/**
 * Notes the visit of an article whose comments are shown. `commentCount` leaves out comments that wait to be shown;
 * without it nothing is noted.
 */
export function useNotedVisit(id: string, postedAt: readonly string[], commentCount: number | undefined): void {
  const seen = postedAt.reduce((latest, at) => Math.max(latest, Date.parse(at)), 0);
  useEffect(() => {
    if (commentCount !== undefined) note(id, { seen, count: commentCount });
  }, [id, seen, commentCount]);
}
