import { Observable, useObservable } from "./observable";
import { storage } from "./storage";

// Keyboard shortcuts. The keys j and k go to the next and the previous item, such as an article or a comment: an
// element with `data-keyboard-item`. Any other key does what a click does on the element that names the key in
// `aria-keyshortcuts`: one within the item that has the focus, or else one outside of all items.

const KEY = "upvote-shortcuts"; // of localStorage: "off" if the user has switched the shortcuts off
const TYPING = "input, textarea, select, [contenteditable], dialog"; // where keys have their usual meaning

const enabled = new Observable(storage.read(KEY) !== "off");

export const useShortcutsEnabled = (): boolean => useObservable(enabled);

export function enableShortcuts(isOn: boolean): void {
  storage.write(KEY, isOn ? null : "off");
  enabled.set(isOn);
}

/** Listens to keys, until the returned function is called. */
export function listenToKeys(showHelp: () => void): () => void {
  const onKey = (event: KeyboardEvent) => press(event, showHelp);
  window.addEventListener("keydown", onKey);
  return () => window.removeEventListener("keydown", onKey);
}

function press(event: KeyboardEvent, showHelp: () => void): void {
  const { key, target } = event;
  if (event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey || event.isComposing) return;
  if (target instanceof Element && target.closest(TYPING)) return;
  if (key === "?") showHelp();
  else if (!enabled.get()) return;
  else if (key === "j") move(1);
  else if (key === "k") move(-1);
  else if (key === "Enter" && target instanceof Element && target.matches("[data-keyboard-item]")) activate("o");
  else if (!activate(key)) return;
  event.preventDefault();
}

function move(step: 1 | -1): void {
  const items = [...document.querySelectorAll<HTMLElement>("[data-keyboard-item]")].filter((item) =>
    item.checkVisibility(),
  );
  const current = currentItem();
  const index = current ? items.indexOf(current) + step : step > 0 ? 0 : -1;
  focusItem(items[index]);
}

/** Moves the focus to an article or a comment, and scrolls no further than to show it. */
export function focusItem(item: HTMLElement | undefined): void {
  item?.focus({ preventScroll: true });
  item?.scrollIntoView({ block: "nearest" });
}

/** Does what a click on the element with this key does; returns whether there is one. */
function activate(key: string): boolean {
  const selector = `[aria-keyshortcuts="${CSS.escape(key)}"]`;
  const element = currentItem()?.querySelector<HTMLElement>(selector) ?? outsideOfItems(selector);
  if (!element) return false;
  if (element.matches("input, textarea")) element.focus();
  else element.click();
  return true;
}

function outsideOfItems(selector: string): HTMLElement | undefined {
  return [...document.querySelectorAll<HTMLElement>(selector)].find(
    (element) => !element.closest("[data-keyboard-item]"),
  );
}

function currentItem(): HTMLElement | null {
  return document.activeElement?.closest<HTMLElement>("[data-keyboard-item]") ?? null;
}
