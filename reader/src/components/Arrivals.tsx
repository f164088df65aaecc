import { counted } from "../counts";
import { focusHeading } from "./Page";

interface ArrivalsProps {
  count: number;
  /** What there is one of, such as "article". */
  one: string;
  show: () => void;
}

/** Announces what is new in a list, with a button that shows it. */
export function Arrivals({ count, one, show }: ArrivalsProps) {
  function press() {
    focusHeading();
    show();
  }

  return (
    <div className="arrivals" role="status">
      {count > 0 && (
        <button type="button" className="primary" onClick={press}>
          {counted(count, `new ${one}`)}
        </button>
      )}
    </div>
  );
}
