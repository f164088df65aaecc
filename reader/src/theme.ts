import { Observable, useObservable } from "./observable";
import { storage } from "./storage";

// The theme of the pages: light or dark colours.

export type Theme = "light" | "dark";
/** What the user chose: a theme, or to follow the system. */
export type ThemeChoice = "system" | Theme;

const KEY = "upvote-theme"; // src/before-paint.js reads it before the first paint
const DARK = matchMedia("(prefers-color-scheme: dark)");

const choice = new Observable<ThemeChoice>(choiceOf(document.documentElement.dataset.theme));
const theme = new Observable<Theme>(themeOf(choice.get()));

export const useThemeChoice = (): ThemeChoice => useObservable(choice);

/** The theme that is shown. */
export const useTheme = (): Theme => useObservable(theme);

export function chooseTheme(chosen: ThemeChoice): void {
  storage.write(KEY, chosen === "system" ? null : chosen);
  show(chosen);
}

/** Shows a theme. If it is the system's, none is kept, and the page follows the system. */
export function switchTheme(shown: Theme): void {
  chooseTheme(shown === system() ? "system" : shown);
}

DARK.addEventListener("change", () => theme.set(themeOf(choice.get())));

// A choice in another tab; without a key, all that was stored is gone.
window.addEventListener("storage", ({ key, newValue }) => {
  if (key === KEY || key === null) show(choiceOf(newValue));
});

function show(chosen: ThemeChoice): void {
  if (chosen === "system") delete document.documentElement.dataset.theme;
  else document.documentElement.dataset.theme = chosen;
  choice.set(chosen);
  theme.set(themeOf(chosen));
}

function choiceOf(value: unknown): ThemeChoice {
  return isTheme(value) ? value : "system";
}

function themeOf(chosen: ThemeChoice): Theme {
  return chosen === "system" ? system() : chosen;
}

function isTheme(value: unknown): value is Theme {
  return value === "dark" || value === "light";
}

function system(): Theme {
  return DARK.matches ? "dark" : "light";
}
