import { Link } from "wouter";
import { withQuery } from "../addresses";
import type { ArticleOrder } from "../gql/graphql";

/** What the orders are called, in the order of the links. The first is the default. */
export const ORDERS: readonly { order: ArticleOrder; name: string }[] = [
  { order: "SCORE", name: "Score" },
  { order: "TIME", name: "New" },
  { order: "HOT", name: "Hot" },
  { order: "GRAVITY", name: "Gravity" },
  { order: "ACTIVE", name: "Active" },
  { order: "BEST", name: "Best" },
  { order: "VOTES", name: "Votes" },
  { order: "CONTROVERSIAL", name: "Controversial" },
];

/** The order and the page that an address names; null if it names others than there are. */
export function rankingOf(search: string): { order: ArticleOrder; page: number } | null {
  const parameters = new URLSearchParams(search);
  const name = parameters.get("order") ?? "SCORE";
  const page = Number(parameters.get("page") ?? 1);
  const found = ORDERS.find(({ order }) => order === name);
  return found && Number.isInteger(page) && page > 0 ? { order: found.order, page } : null;
}

/** The address of a page of a ranking. */
export function rankingPath(path: string, order: ArticleOrder, page = 1): string {
  return withQuery(path, { order: order === "SCORE" ? null : order, page: page === 1 ? null : page });
}

/** Links to the orders of the site or of a group. */
export function Orders({ path, current }: { path: string; current: ArticleOrder | null }) {
  return (
    <ul className="tabs">
      {ORDERS.map(({ order, name }) => (
        <li key={order}>
          <Link href={rankingPath(path, order)} aria-current={order === current ? "page" : undefined}>
            {name}
          </Link>
        </li>
      ))}
    </ul>
  );
}
