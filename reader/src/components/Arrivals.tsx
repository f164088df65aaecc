import { counted } from "../counts";

interface ArrivalsProps {
  count: number;
  /** What there is one of, such as "article". */
  one: string;
  show: () => void;
}

/** Announces what is new in a list, with a button that shows it. */
export function Arrivals({ count, one, show }: ArrivalsProps) {
  return (
    <div className="arrivals" role="status">
      {count > 0 && (
        <button type="button" className="primary" onClick={show}>
          {counted(count, `new ${one}`)}
        </button>
      )}
    </div>
  );
}
