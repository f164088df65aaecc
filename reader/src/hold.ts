import { useEffect, useLayoutEffect, useRef, useState, type RefObject } from "react";
import { storage } from "./storage";

// While the user points at a list, it is held: its rows do not move, as a click would hit something else.
// The user points at it while
// - a pointer is over the list, over the button that shows what is new in it, or over what is below and moves with it,
// - a finger, a mouse button or a key is down, or
// - the focus is in the list or on the button;
// and for a second after. On devices that cannot hover, nothing tells what a finger is about to hit: there a list is
// held as long as the page is visible.

const AFTER = 1_000; // milliseconds that a list stays held after the user pointed at it
const POINTER = "upvote-pointer"; // the key of sessionStorage for where the pointer was
const PASSIVE = { capture: true, passive: true };

const cannotHover = matchMedia("(hover: none)");
const keys = new Set<string>(); // that are down
const holds = new Set<Hold>(); // of all lists on the page
let pointer: { x: number; y: number } | null = restingPlace();
let buttons = 0; // of the mouse that are down, a bit each
let fingers = 0; // that touch the screen

export interface Handlers {
  /** The user begins to point at the list. */
  onHold: () => void;
  /** The user has not pointed at the list for a second. */
  onRelease: () => void;
}

/** A list, and what is around the button that shows what is new in it. */
export interface Held {
  list: RefObject<Element | null>;
  announcement?: RefObject<Element | null>;
}

/** Knows whether one list is held. */
export class Hold {
  private readonly held: Held;
  private readonly handlers: RefObject<Handlers>;
  private isHolding = false;
  private timer: ReturnType<typeof setTimeout> | undefined;

  constructor(held: Held, handlers: RefObject<Handlers>) {
    this.held = held;
    this.handlers = handlers;
  }

  isHeld(): boolean {
    this.update();
    return this.isHolding;
  }

  /** Looks again where the user points. */
  update(): void {
    if (isPointedAt(this.held)) {
      this.stop();
      if (!this.isHolding) this.handlers.current.onHold();
      this.isHolding = true;
    } else if (this.isHolding) {
      this.timer ??= setTimeout(() => this.release(), AFTER);
    }
  }

  stop(): void {
    clearTimeout(this.timer);
    this.timer = undefined;
  }

  private release(): void {
    this.timer = undefined;
    this.isHolding = isPointedAt(this.held);
    if (!this.isHolding) this.handlers.current.onRelease();
  }
}

/** The hold of a list, as long as the component is shown. */
export function useHold(held: Held, handlers: Handlers): Hold {
  const latest = useRef(handlers);
  useEffect(() => void (latest.current = handlers));
  const hold = useRef<Hold>(null);
  hold.current ??= new Hold(held, latest);
  useEffect(() => {
    const { current } = hold;
    if (!current) return;
    holds.add(current);
    return () => {
      holds.delete(current);
      current.stop();
    };
  }, []);
  return hold.current;
}

/** Whether what appears in a box is below the pointer. It stays hidden until the pointer leaves its place. */
export function useCovered(box: RefObject<Element | null>, isShown: boolean): boolean {
  const [isCovered, setCovered] = useState(false);
  useLayoutEffect(() => {
    if (!isShown) return;
    /** Notes whether the pointer is over what is in the box. Returns whether it is not. */
    const noteIsFree = () => {
      const isBelow = isPointerIn(box.current?.firstElementChild);
      setCovered(isBelow);
      return !isBelow;
    };
    if (noteIsFree()) return;
    const stop = new AbortController();
    document.addEventListener("pointermove", () => noteIsFree() && stop.abort(), { signal: stop.signal });
    return () => stop.abort();
  }, [box, isShown]);
  return isCovered;
}

function isPointerIn(element: Element | null | undefined): boolean {
  if (!element || !pointer) return false;
  const { left, right, top, bottom } = element.getBoundingClientRect();
  return pointer.x >= left && pointer.x <= right && pointer.y >= top && pointer.y <= bottom;
}

/** Where the pointer was when the page before was left, or null: browsers tell its place only when it moves. */
function restingPlace(): typeof pointer {
  return JSON.parse(storage.read(POINTER, "sessionStorage") ?? "null") as typeof pointer;
}

function isPointedAt({ list: { current: list }, announcement }: Held): boolean {
  if (!list || document.hidden) return false;
  if (keys.size > 0 || buttons > 0 || fingers > 0 || cannotHover.matches) return true;
  const isIn = (element: Element | null) => list.contains(element) || announcement?.current?.contains(element);
  if (isIn(document.activeElement)) return true;
  const element = pointer && document.elementFromPoint(pointer.x, pointer.y);
  return element !== null && (isIn(element) || isAfter(element, list));
}

function isAfter(element: Element, list: Element): boolean {
  return (list.compareDocumentPosition(element) & Node.DOCUMENT_POSITION_FOLLOWING) !== 0;
}

/** Gives events of the document to `note`, and lets all holds look again after each. */
function on<Name extends keyof DocumentEventMap>(
  names: readonly Name[],
  note: (event: DocumentEventMap[Name]) => void,
): void {
  for (const name of names) {
    document.addEventListener(
      name,
      (event) => {
        note(event);
        for (const hold of holds) hold.update();
      },
      PASSIVE,
    );
  }
}

on(["pointerover", "pointermove", "pointerdown", "pointerup"], ({ pointerType, clientX, clientY, buttons: down }) => {
  if (pointerType === "touch") return;
  pointer = { x: clientX, y: clientY };
  buttons = down;
});
on(["pointerout"], ({ relatedTarget }) => {
  if (relatedTarget === null) pointer = null; // it has left the window
});
on(["touchstart", "touchend", "touchcancel"], ({ touches }) => void (fingers = touches.length));
on(["keydown"], ({ code, metaKey }) => {
  if (!metaKey) keys.add(code); // macOS does not tell when a key goes up beside the command key
});
on(["keyup"], ({ code }) => void keys.delete(code));
on(["visibilitychange"], () => keys.clear());
on(["focusin", "focusout", "scroll"], () => {}); // nothing to note, but the holds look again
window.addEventListener("blur", () => keys.clear());
window.addEventListener("pagehide", () => storage.write(POINTER, JSON.stringify(pointer), "sessionStorage"));
