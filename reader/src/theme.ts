import { Observable, useObservable } from "./observable";
import { storage } from "./storage";

export type Theme = "light" | "dark";

const KEY = "upvote-theme"; // src/before-paint.js reads it before the first paint
const DARK = matchMedia("(prefers-color-scheme: dark)");

const theme = new Observable<Theme>(chosen() ?? system());

export const useTheme = (): Theme => useObservable(theme);

/** Sets the theme. The theme of the system is not kept: the page then follows the system. */
export function chooseTheme(choice: Theme): void {
  const own = choice === system() ? null : choice;
  storage.write(KEY, own);
  show(own);
}

DARK.addEventListener("change", () => theme.set(chosen() ?? system()));

// A choice in another tab; without a key, all that was stored is gone.
window.addEventListener("storage", ({ key, newValue }) => {
  if (key === KEY || key === null) show(isTheme(newValue) ? newValue : null);
});

function show(own: Theme | null): void {
  if (own) document.documentElement.dataset.theme = own;
  else delete document.documentElement.dataset.theme;
  theme.set(own ?? system());
}

function chosen(): Theme | null {
  const value = document.documentElement.dataset.theme;
  return isTheme(value) ? value : null;
}

function isTheme(value: unknown): value is Theme {
  return value === "dark" || value === "light";
}

function system(): Theme {
  return DARK.matches ? "dark" : "light";
}
