import { useLayoutEffect, useRef, useState } from "react";
import { useHold, type Handlers, type Held, type Hold } from "./hold";

// Which items of a list are shown, and in which order, while the list itself changes.

/** A list as it is shown. While the user points at it, it is held (see hold.ts): it keeps its items and their order. */
export interface Still<Item> {
  items: readonly Item[];
  hold: Hold;
  /** The ids of shown items that are no longer in the list. */
  gone: readonly string[];
  /** How many items of the list are not shown yet. */
  news: number;
  /** Whether the list has the shown items in another order. */
  isReordered: boolean;
  /** Shows the list as it is, even if it is held. */
  show: () => void;
}

const RENDERED = 1_000; // milliseconds after `show` in which new items are shown even while the list is held

/** Keeps the items of a list in their places while the list is held. The contents of the items still change. */
export function useStill<Item>(
  items: readonly Item[],
  idOf: (item: Item) => string,
  held: Held,
  handlers: Handlers,
): Still<Item> {
  const current = new Map(items.map((item) => [idOf(item), item]));
  const ids = [...current.keys()];
  const [shown, setShown] = useState<readonly string[]>(ids);
  const known = useRef(current); // the shown items by id, as they last were
  const latest = useRef(ids);
  const isOpen = useRef(false); // whether new items are shown even while the list is held
  const onRelease = () => {
    handlers.onRelease();
    setShown(latest.current);
  };
  const hold = useHold(held, { ...handlers, onRelease });
  if (!isEqual(ids, shown) && (isOpen.current || !hold.isHeld())) {
    isOpen.current = false;
    setShown(ids);
  }
  const all = shown.map((id) => current.get(id) ?? known.current.get(id)).filter((item) => item !== undefined);
  useLayoutEffect(() => {
    latest.current = ids;
    known.current = new Map(all.map((item) => [idOf(item), item]));
  });

  function show() {
    isOpen.current = true;
    setTimeout(() => (isOpen.current = false), RENDERED);
    setShown(latest.current);
  }

  return { items: all, ...differences(ids, shown), hold, show };
}

function differences(ids: readonly string[], shown: readonly string[]) {
  const both = shown.filter((id) => ids.includes(id));
  return {
    gone: shown.filter((id) => !ids.includes(id)),
    news: ids.length - both.length,
    isReordered: !isEqual(
      ids.filter((id) => both.includes(id)),
      both,
    ),
  };
}

const isEqual = (one: readonly string[], other: readonly string[]): boolean =>
  one.length === other.length && one.every((id, index) => id === other[index]);
