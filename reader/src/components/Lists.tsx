import { Link } from "wouter";
import type { ArticleOrder } from "../gql/graphql";
import { Orders } from "./Orders";

const OTHERS = [
  { path: "/top/day", name: "Top of the day" },
  { path: "/top/week", name: "Week" },
  { path: "/top/month", name: "Month" },
  { path: "/good", name: "Good" },
];

/** Links to the lists of the whole site: its orders, the top of the day, week and month, and good articles. */
export function Lists({ order = null, path }: { order?: ArticleOrder | null; path?: string }) {
  return (
    <nav className="lists" aria-label="Lists">
      <Orders path="/" current={order} />
      <ul className="tabs">
        {OTHERS.map((other) => (
          <li key={other.path}>
            <Link href={other.path} aria-current={other.path === path ? "page" : undefined}>
              {other.name}
            </Link>
          </li>
        ))}
      </ul>
    </nav>
  );
}
