import { BASE_PATH, withQuery } from "./addresses";

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

const isAccountPath = (path: string): boolean => path.startsWith("/log-in") || path.startsWith("/register");
