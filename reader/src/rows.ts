import { useLayoutEffect, useRef, type RefObject } from "react";
import type { Hold } from "./hold";

// How the rows of a list that changes by itself move, and how they keep their heights while the list is held: while the
// user points at it (see hold.ts).

// How rows glide; the duration is in milliseconds.
const MOVE = { duration: 450, easing: "cubic-bezier(0.2, 0, 0, 1)", id: "move" };

/**
 * Lets rows glide to their new places, and marks them, whenever `ids` changes: the ids of all rows, separated by spaces.
 * Readers who want less motion see the mark only.
 */
export function useMarkedMoves(list: RefObject<HTMLElement | null>, ids: string): void {
  const places = useRef(new Map<string, { index: number; top: number }>());
  useLayoutEffect(() => {
    const before = places.current;
    const rows = rowsOf(list.current);
    places.current = new Map(rows.map((row, index) => [row.dataset.id ?? "", { index, top: row.offsetTop }]));
    if (before.size === 0) return;
    for (const [index, row] of rows.entries()) {
      const old = before.get(row.dataset.id ?? "");
      if (old?.index === index) continue;
      mark(row);
      if (old && !matchMedia("(prefers-reduced-motion: reduce)").matches) {
        row.animate([{ transform: `translateY(${old.top - row.offsetTop}px)` }, { transform: "none" }], MOVE);
      }
    }
  }, [list, ids]);
}

function mark(row: HTMLElement): void {
  row.classList.remove("moved");
  void row.offsetWidth; // starts the animation of the class again
  row.classList.add("moved");
}

/** Puts gliding rows where they belong at once, so that a click does not hit one that is passing. */
export function finishMoves(list: HTMLElement | null): void {
  const moves = rowsOf(list).flatMap((row) => row.getAnimations());
  for (const move of moves) if (move.id === MOVE.id) move.finish();
}

/**
 * Keeps the heights of the lines of articles while the list is held: a longer title would move what is below it. `ids` as in
 * `useMarkedMoves`.
 */
export function usePinnedRows(list: RefObject<HTMLElement | null>, ids: string, hold: Hold): void {
  const sizes = useRef<Sizes>(new WeakMap());
  useLayoutEffect(() => {
    const observer = new ResizeObserver((entries) => {
      for (const { target } of entries) pin(target.closest("li"), sizes.current, hold);
    });
    for (const line of list.current?.querySelectorAll("article.line") ?? []) observer.observe(line);
    return () => observer.disconnect();
  }, [list, ids, hold]);
}

const OPENED = "[aria-expanded=true]:not(.line-menu *)"; // a form or a text, but not a menu, which takes no room

type Sizes = WeakMap<Element, { width: number; height: number }>;

/**
 * Gives a row the height that it had, while the list is held and as wide as before; else notes its height. A row in which
 * the user has opened something is as tall as that makes it.
 */
function pin(row: HTMLElement | null, sizes: Sizes, hold: Hold): void {
  if (!row) return;
  const before = sizes.get(row);
  if (row.querySelector(OPENED)) {
    row.style.blockSize = "";
  } else if (before?.width === row.offsetWidth && hold.isHeld()) {
    row.style.blockSize = `${before.height}px`;
  } else {
    row.style.blockSize = "";
    sizes.set(row, { width: row.offsetWidth, height: row.getBoundingClientRect().height });
  }
}

/** Gives rows the heights of their contents again. */
export function unpin(list: HTMLElement | null): void {
  for (const row of rowsOf(list)) row.style.blockSize = "";
}

function rowsOf(list: HTMLElement | null): HTMLElement[] {
  return [...(list?.children ?? [])].filter((row) => row instanceof HTMLElement);
}
