import type { RefObject } from "react";
import { useCovered } from "../hold";
import { focusHeading } from "./Page";

interface AnnouncementProps {
  /** What is around the button. */
  box: RefObject<HTMLDivElement | null>;
  /** What is new; null for nothing. */
  text: string | null;
  show: () => void;
}

/**
 * Announces what is new in the list below, with a button that shows it. It takes no room, so nothing moves, and does not
 * appear below the pointer.
 */
export function Announcement({ box, text, show }: AnnouncementProps) {
  const isCovered = useCovered(box, text !== null);

  function press() {
    focusHeading();
    show();
  }

  return (
    <div className="arrivals" aria-live="polite" ref={box}>
      {text !== null && (
        <button type="button" className="primary" data-covered={isCovered || undefined} onClick={press}>
          {text}
        </button>
      )}
    </div>
  );
}
