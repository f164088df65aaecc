import { Link } from "wouter";
import type { ArticleOrder } from "../gql/graphql";
import { PERIODS, periodTexts } from "../periods";
import { Orders } from "./Orders";
import { t } from "../words";

/** The lists that are none of the orders. */
const others = () => [
  ...PERIODS.map(({ period }) => ({ path: `/top/${period}`, ...periodTexts(period) })),
  { path: "/good", name: t("list-good"), label: t("list-good-title") },
];

/**
 * Links to the lists of the whole site: its orders, the top of the day, week and month, and good articles. The list
 * that is shown is named by its `order` or its `path`.
 */
export function SiteLists({ order = null, path }: { order?: ArticleOrder | null; path?: string }) {
  return (
    <nav className="lists" aria-label={t("lists")}>
      <Orders path="/" current={order} />
      <ul className="tabs">
        {others().map((other) => (
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
