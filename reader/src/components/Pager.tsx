import { Link } from "wouter";
import { t } from "../words";

interface PagerProps {
  /** The addresses of the pages before and after this one; null where there is none. */
  previous: string | null;
  next: string | null;
}

/** Links to the pages before and after this one. */
export function Pager({ previous, next }: PagerProps) {
  if (previous === null && next === null) return null;
  return (
    <nav className="pager" aria-label={t("pages")}>
      {previous !== null && (
        <Link href={previous} rel="prev" aria-keyshortcuts="p">
          {t("previous")}
        </Link>
      )}
      {next !== null && (
        <Link href={next} rel="next" aria-keyshortcuts="n">
          {t("next")}
        </Link>
      )}
    </nav>
  );
}
