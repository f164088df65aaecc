import { useEffect, useRef, useState, type FocusEvent, type KeyboardEvent, type RefObject } from "react";

export interface Menu {
  isOpen: boolean;
  toggle: () => void;
  /**
   * Closes it, and moves the focus to its button, as the focused item is gone. A dialog that is opened after that
   * returns the focus there when it is closed.
   */
  close: () => void;
  /** What opens it. */
  button: RefObject<HTMLButtonElement | null>;
  /** For the element around the button and the list. */
  area: {
    ref: RefObject<HTMLSpanElement | null>;
    onKeyDown: (event: KeyboardEvent) => void;
    onBlur: (event: FocusEvent) => void;
  };
}

/** A list below a button, which closes by Escape, and when something beside it is pressed or gets the focus. */
export function useMenu(): Menu {
  const button = useRef<HTMLButtonElement>(null);
  const ref = useRef<HTMLSpanElement>(null);
  const [isOpen, setOpen] = useState(false);

  useEffect(() => {
    if (!isOpen) return;
    const onPointer = ({ target }: PointerEvent) => {
      if (!(target instanceof Node) || !ref.current?.contains(target)) close();
    };
    document.addEventListener("pointerdown", onPointer);
    return () => document.removeEventListener("pointerdown", onPointer);
  }, [isOpen]);

  function close() {
    button.current?.focus();
    setOpen(false);
  }

  function onKeyDown(event: KeyboardEvent) {
    if (event.key === "Escape" && isOpen) close();
  }

  function onBlur({ currentTarget, relatedTarget }: FocusEvent) {
    if (relatedTarget !== null && !currentTarget.contains(relatedTarget)) setOpen(false);
  }

  return { isOpen, toggle: () => setOpen(!isOpen), close, button, area: { ref, onKeyDown, onBlur } };
}

/** Gives the focus to the first item of a list that has just been opened. */
export function useFirstItem(list: RefObject<HTMLElement | null>): void {
  useEffect(() => list.current?.querySelector<HTMLElement>("a, button")?.focus(), []);
}
