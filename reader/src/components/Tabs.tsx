import { Link } from "wouter";

interface TabsProps {
  /** What a screen reader calls them. */
  label: string;
  tabs: readonly { name: string; path: string; isCurrent: boolean }[];
}

/** Links to the parts of a page, or to its other orders. */
export function Tabs({ label, tabs }: TabsProps) {
  return (
    <nav aria-label={label}>
      <ul className="tabs">
        {tabs.map(({ name, path, isCurrent }) => (
          <li key={path}>
            <Link href={path} aria-current={isCurrent ? "page" : undefined}>
              {name}
            </Link>
          </li>
        ))}
      </ul>
    </nav>
  );
}
