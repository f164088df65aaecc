import { BASE_PATH, withQuery } from "./addresses";
import { storage } from "./storage";

/** The address of the page to log in, which leads back to the page that is shown now. */
export function logInPath(page: "/log-in" | "/register" = "/log-in"): string {
  const here = location.pathname.slice(BASE_PATH.length) + location.search;
  return withQuery(page, { next: isAccountPath(here) || here === "/" ? null : here });
}

/** Where to go after logging in: only a path of this site, whatever the address says. */
export function nextPath(search: string): string {
  const next = new URLSearchParams(search).get("next") ?? "/";
  return /^\/(?![/\\])/.test(next) ? next : "/";
}

const NEXT = "upvote-next"; // the key of sessionStorage

/** Keeps the path to go to after a log-in, in this tab: the operator's own page to log in does not pass it on. */
export const rememberNext = (next: string): void => storage.write(NEXT, next, "sessionStorage");

/**
 * The path to go to after a log-in elsewhere: `next` of the address, or else the remembered path. Either way the
 * remembered one is removed.
 */
export function nextAfterEntering(search: string): string {
  const remembered = storage.read(NEXT, "sessionStorage");
  storage.write(NEXT, null, "sessionStorage");
  const isInAddress = remembered === null || new URLSearchParams(search).has("next");
  return nextPath(isInAddress ? search : String(new URLSearchParams({ next: remembered })));
}

const isAccountPath = (path: string): boolean => path.startsWith("/log-in") || path.startsWith("/register");
