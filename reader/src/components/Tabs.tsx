import { Link } from "wouter";

interface Tab {
  name: string;
  /** The name at length. */
  label?: string;
  path: string;
  isCurrent: boolean;
}

interface TabsProps {
  /** What a screen reader calls them. */
  label: string;
  tabs: readonly Tab[];
}

/** Links to the parts of a page, or to its other orders. */
export function Tabs({ label, tabs }: TabsProps) {
  return (
    <nav aria-label={label}>
      <ul className="tabs">
        {tabs.map(({ name, label, path, isCurrent }) => (
          <li key={path}>
            <Link href={path} title={label} aria-label={label} aria-current={isCurrent ? "page" : undefined}>
              {name}
            </Link>
          </li>
        ))}
      </ul>
    </nav>
  );
}
