import { Link } from "wouter";
import { isKept, withQuery } from "../addresses";
import type { ArticleOrder } from "../gql/graphql";

/** Orders as their links follow each other, and what their pages are called. */
const ALL: readonly { order: ArticleOrder; name: string; title: string }[] = [
  { order: "SCORE", name: "Score", title: "Top articles" },
  { order: "TIME", name: "New", title: "New articles" },
  { order: "HOT", name: "Hot", title: "Hot articles" },
  { order: "GRAVITY", name: "Gravity", title: "Articles by gravity" },
  { order: "ACTIVE", name: "Active", title: "Active articles" },
  { order: "BEST", name: "Best", title: "Best articles" },
  { order: "VOTES", name: "Votes", title: "Articles with most votes" },
  { order: "CONTROVERSIAL", name: "Controversial", title: "Controversial articles" },
];

const ORDERS = ALL.filter(({ order }) => isKept(order));
const DEFAULT = ORDERS[0]?.order ?? "SCORE";

/** What a page of a ranking is called. */
export function rankingTitle(order: ArticleOrder, page: number): string {
  const title = ORDERS.find((each) => each.order === order)?.title ?? "Articles";
  return page === 1 ? title : `${title}, page ${page}`;
}

/** The order and the page that an address names; null if it names others than there are. */
export function rankingOf(search: string): { order: ArticleOrder; page: number } | null {
  const parameters = new URLSearchParams(search);
  const name = parameters.get("order") ?? DEFAULT;
  const page = Number(parameters.get("page") ?? 1);
  const found = ORDERS.find(({ order }) => order === name);
  return found && Number.isInteger(page) && page > 0 ? { order: found.order, page } : null;
}

/** The address of a page of a ranking. */
export function rankingPath(path: string, order: ArticleOrder, page = 1): string {
  return withQuery(path, { order: order === DEFAULT ? null : order, page: page === 1 ? null : page });
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
