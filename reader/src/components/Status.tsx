import { useEffect } from "react";
import { useObservable } from "../observable";
import { message } from "../status";
import { t } from "../words";

const SHOWN = 6_000; // milliseconds
const SHOWN_TO_UNDO = 15_000; // milliseconds, of a message with a button that undoes

/** The status line: screen readers read out what it shows. A problem stays until it is dismissed. */
export function Status() {
  const shown = useObservable(message);
  useEffect(() => {
    if (!shown || shown.isProblem) return;
    const timer = setTimeout(() => message.set(null), shown.undo ? SHOWN_TO_UNDO : SHOWN);
    return () => clearTimeout(timer);
  }, [shown]);
  return (
    <div className={shown?.isProblem ? "status problem" : "status"} role="status" aria-live="polite">
      {shown && (
        <>
          <span>{shown.text}</span>
          {shown.undo && (
            <button type="button" className="undo" onClick={shown.undo}>
              {t("undo")}
            </button>
          )}
          <button type="button" onClick={() => message.set(null)} aria-label={t("dismiss")}>
            ×
          </button>
        </>
      )}
    </div>
  );
}
