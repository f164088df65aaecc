import { Observable, useObservable } from "./observable";
import { storage } from "./storage";

export type Theme = "light" | "dark";

const KEY = "upvote-theme"; // src/before-paint.js reads it before the first paint
const DARK = matchMedia("(prefers-color-scheme: dark)");

const theme = new Observable<Theme>(chosen() ?? system());

export const useTheme = (): Theme => useObservable(theme);

/** Sets the theme. The theme of the system is not kept: the page then follows the system. */
export function chooseTheme(choice: Theme): void {
  const isOwn = choice !== system();
  storage.write(KEY, isOwn ? choice : null);
  if (isOwn) document.documentElement.dataset.theme = choice;
  else delete document.documentElement.dataset.theme;
  theme.set(choice);
}

DARK.addEventListener("change", () => theme.set(chosen() ?? system()));

function chosen(): Theme | null {
  const value = document.documentElement.dataset.theme;
  return value === "dark" || value === "light" ? value : null;
}

function system(): Theme {
  return DARK.matches ? "dark" : "light";
}
