import { Link } from "wouter";

interface PagerProps {
  /** The addresses of the pages before and after this one; null where there is none. */
  previous: string | null;
  next: string | null;
}

/** Links to the pages before and after this one. */
export function Pager({ previous, next }: PagerProps) {
  if (previous === null && next === null) return null;
  return (
    <nav className="pager" aria-label="Pages">
      {previous !== null && (
        <Link href={previous} rel="prev" aria-keyshortcuts="p">
          ← Previous
        </Link>
      )}
      {next !== null && (
        <Link href={next} rel="next" aria-keyshortcuts="n">
          Next →
        </Link>
      )}
    </nav>
  );
}
