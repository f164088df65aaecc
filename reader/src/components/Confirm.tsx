import { useState } from "react";
import { Dialog } from "./Dialog";
import { t } from "../words";

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
  const [isSending, setSending] = useState(false);

  async function confirm() {
    if (isSending) return;
    setSending(true);
    await onConfirm();
    setSending(false);
  }

  return (
    <Dialog title={question} description={consequence} onCancel={onCancel}>
      <div className="buttons">
        <button type="button" onClick={onCancel}>
          {t("cancel")}
        </button>
        <button type="button" className="danger" aria-disabled={isSending} onClick={() => void confirm()}>
          {action}
        </button>
      </div>
    </Dialog>
  );
}
