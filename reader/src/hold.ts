import { useEffect, useLayoutEffect, useRef, useState, type RefObject } from "react";
import { storage } from "./storage";

// A list does not move while one points at it, as a click would hit something else: while a pointer is over it, or over what
// is below and moves with it, while a finger, a mouse button or a key is down, while the focus is in it, and for a second
// after. Where nothing hovers, nobody knows what a finger is about to hit: there it does not move as long as it is looked at.

const AFTER = 1_000;
const POINTER = "upvote-pointer";
const PASSIVE = { capture: true, passive: true };

const cannotHover = matchMedia("(hover: none)");
const keys = new Set<string>();
const holds = new Set<Hold>();
let pointer: { x: number; y: number } | null = restingPlace();
let buttons = 0;
let fingers = 0;

export interface Handlers {
  /** One begins to point at the list. */
  onHold: () => void;
  /** Nobody has pointed at the list for a second. */
  onRelease: () => void;
}

/** Whether one list is held. */
export class Hold {
  private readonly list: RefObject<Element | null>;
  private readonly handlers: RefObject<Handlers>;
  private isHolding = false;
  private timer: ReturnType<typeof setTimeout> | undefined;

  constructor(list: RefObject<Element | null>, handlers: RefObject<Handlers>) {
    this.list = list;
    this.handlers = handlers;
  }

  isHeld(): boolean {
    this.update();
    return this.isHolding;
  }

  update(): void {
    if (isPointedAt(this.list.current)) {
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
    this.isHolding = isPointedAt(this.list.current);
    if (!this.isHolding) this.handlers.current.onRelease();
  }
}

export function useHold(list: RefObject<Element | null>, handlers: Handlers): Hold {
  const latest = useRef(handlers);
  useEffect(() => void (latest.current = handlers));
  const hold = useRef<Hold>(null);
  hold.current ??= new Hold(list, latest);
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

/** Whether something that appears would be below the pointer. It stays hidden until the pointer leaves its place. */
export function useCovered(box: RefObject<Element | null>, isShown: boolean): boolean {
  const [isCovered, setCovered] = useState(false);
  useLayoutEffect(() => {
    if (!isShown) return;
    const isFree = () => {
      const isBelow = isPointerIn(box.current?.firstElementChild);
      setCovered(isBelow);
      return !isBelow;
    };
    if (isFree()) return;
    const stop = new AbortController();
    document.addEventListener("pointermove", () => isFree() && stop.abort(), stop);
    return () => stop.abort();
  }, [box, isShown]);
  return isCovered;
}

function isPointerIn(element: Element | null | undefined): boolean {
  if (!element || !pointer) return false;
  const { left, right, top, bottom } = element.getBoundingClientRect();
  return pointer.x >= left && pointer.x <= right && pointer.y >= top && pointer.y <= bottom;
}

/** Where the pointer was when the page before was left, if it did not leave the window: it moves before it is told again. */
function restingPlace(): typeof pointer {
  return JSON.parse(storage.read(POINTER, "sessionStorage") ?? "null") as typeof pointer;
}

function isPointedAt(list: Element | null): boolean {
  if (!list || document.hidden) return false;
  if (keys.size > 0 || buttons > 0 || fingers > 0 || cannotHover.matches) return true;
  if (list.contains(document.activeElement)) return true;
  const element = pointer && document.elementFromPoint(pointer.x, pointer.y);
  return element !== null && (list.contains(element) || isAfter(element, list));
}

function isAfter(element: Element, list: Element): boolean {
  return (list.compareDocumentPosition(element) & Node.DOCUMENT_POSITION_FOLLOWING) !== 0;
}

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
on(["focusin", "focusout", "scroll"], () => {});
window.addEventListener("blur", () => keys.clear());
window.addEventListener("pagehide", () => storage.write(POINTER, JSON.stringify(pointer), "sessionStorage"));
