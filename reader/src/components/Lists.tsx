import { Link } from "wouter";
import type { ArticleOrder } from "../gql/graphql";
import { PERIODS } from "../periods";
import { Orders } from "./Orders";

const OTHERS = [
  ...PERIODS.map(({ period, name, label }) => ({ path: `/top/${period}`, name, label })),
  { path: "/good", name: "Good", label: "Good articles" },
];

/** Links to the lists of the whole site: its orders, the top of the day, week and month, and good articles. */
export function Lists({ order = null, path }: { order?: ArticleOrder | null; path?: string }) {
  return (
    <nav className="lists" aria-label="Lists">
      <Orders path="/" current={order} />
      <ul className="tabs">
        {OTHERS.map((other) => (
          <li key={other.path}>
            <Link
              href={other.path}
              title={other.label}
              aria-label={other.label}
              aria-current={other.path === path ? "page" : undefined}
            >
              {other.name}
            </Link>
          </li>
        ))}
      </ul>
    </nav>
  );
}
