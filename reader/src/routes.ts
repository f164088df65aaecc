import { lazy } from "react";

/** Each page but the first is a file of its own. Patterns are those of wouter; the first that matches is shown. */
export const PAGES = [
  ["/top/:period", lazy(() => import("./pages/TopPage"))],
  ["/good", lazy(() => import("./pages/GoodPage"))],
] as const;

/** Whether there is a page with this pattern: links to others are not shown. */
export const isRouted = (pattern: string): boolean => PAGES.some(([path]) => path === pattern);
