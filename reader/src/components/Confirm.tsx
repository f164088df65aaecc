import { useId, useLayoutEffect, useRef, useState } from "react";

interface ConfirmProps {
  question: string;
  /** What happens then, in a sentence. */
  consequence: string;
  /** The text of the button that does it. */
  action: string;
  /** Does it, once: until it is done, the button does nothing. */
  onConfirm: () => Promise<void>;
  onCancel: () => void;
}

/** A dialog that asks before something is deleted. It is open as long as it is shown; Escape cancels. */
export function Confirm({ question, consequence, action, onConfirm, onCancel }: ConfirmProps) {
  const dialog = useRef<HTMLDialogElement>(null);
  const id = useId();
  const [isSending, setSending] = useState(false);
  useLayoutEffect(() => {
    const element = dialog.current;
    element?.showModal();
    return () => element?.close(); // moves the focus back to the button that opened it
  }, []);

  async function confirm() {
    if (isSending) return;
    setSending(true);
    await onConfirm();
    setSending(false);
  }

  return (
    <dialog
      ref={dialog}
      aria-labelledby={`${id}-question`}
      aria-describedby={`${id}-consequence`}
      onCancel={(event) => {
        event.preventDefault();
        onCancel();
      }}
    >
      <h2 id={`${id}-question`}>{question}</h2>
      <p id={`${id}-consequence`}>{consequence}</p>
      <div className="buttons">
        <button type="button" onClick={onCancel}>
          Cancel
        </button>
        <button type="button" className="danger" aria-disabled={isSending} onClick={() => void confirm()}>
          {action}
        </button>
      </div>
    </dialog>
  );
}
