import { useId, useLayoutEffect, useRef, type ReactNode } from "react";

interface DialogProps {
  title: string;
  /** What the dialog is about, or what follows from it. */
  description?: string;
  onCancel: () => void;
  children: ReactNode;
}

/** A dialog that is open as long as it is shown; Escape cancels. When it closes, the focus goes back where it was. */
export function Dialog({ title, description, onCancel, children }: DialogProps) {
  const dialog = useRef<HTMLDialogElement>(null);
  const id = useId();
  useLayoutEffect(() => {
    const element = dialog.current;
    element?.showModal();
    return () => element?.close(); // moves the focus back to the button that opened it
  }, []);

  return (
    <dialog
      ref={dialog}
      aria-labelledby={`${id}-title`}
      aria-describedby={description && `${id}-description`}
      onCancel={(event) => {
        event.preventDefault();
        onCancel();
      }}
    >
      <h2 id={`${id}-title`}>{title}</h2>
      {description && <p id={`${id}-description`}>{description}</p>}
      {children}
    </dialog>
  );
}
