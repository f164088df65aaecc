import { focusHeading } from "./Page";

interface AnnouncementProps {
  /** What is new; null for nothing. */
  text: string | null;
  show: () => void;
}

/** Announces what is new in the list below, with a button that shows it. It takes no room, so nothing moves. */
export function Announcement({ text, show }: AnnouncementProps) {
  function press() {
    focusHeading();
    show();
  }

  return (
    <div className="arrivals" aria-live="polite">
      {text !== null && (
        <button type="button" className="primary" onClick={press}>
          {text}
        </button>
      )}
    </div>
  );
}
