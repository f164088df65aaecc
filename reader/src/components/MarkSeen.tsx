import { useState } from "react";
import type { CombinedError } from "urql";
import { reasonOf, type Refusals } from "../errors";
import { sayProblem } from "../status";
import { focusHeading } from "./Page";
import { t } from "../words";

// For the inbox and the feed, the server keeps the time up to which the viewer has seen everything.

interface MarkSeenProps {
  /** How many items the viewer has not seen. */
  count: number;
  /** Marks all as seen. */
  mark: () => Promise<{ error: CombinedError | undefined; refusals: Refusals | undefined }>;
}

/** Says how much of a list is not seen yet, with a button that marks it as seen. It keeps its place when empty. */
export function MarkSeen({ count, mark }: MarkSeenProps) {
  const [isSending, setSending] = useState(false);

  async function press() {
    setSending(true);
    const { error, refusals } = await mark();
    setSending(false);
    const reason = reasonOf(error, refusals);
    if (reason) sayProblem(t("mark-not-moved", { reason }));
    else if (document.activeElement === document.body) focusHeading(); // the button is gone, and had the focus
  }

  return (
    <p className="mark-seen">
      {count > 0 && (
        <>
          <span>{t("not-seen", { count })}</span>
          <button type="button" disabled={isSending} onClick={() => void press()}>
            {t("mark-all-seen")}
          </button>
        </>
      )}
    </p>
  );
}

/** Whether something of this time is newer than `seenThrough`, the time up to which the viewer has seen all. */
export function isUnseen(at: string, seenThrough?: string | null): boolean {
  return !seenThrough || Date.parse(at) > Date.parse(seenThrough);
}

/** A dot beside what is not seen, which screen readers read as "New". */
export function New() {
  return <span className="new" role="img" aria-label={t("new-dot")} />;
}
