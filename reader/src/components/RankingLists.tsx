import { withQuery } from "../addresses";
import type { ArticleOrder } from "../gql/graphql";
import { PERIODS, periodTexts } from "../periods";
import { Orders } from "./Orders";
import { Tabs } from "./Tabs";
import { t } from "../words";

interface RankingListsProps {
  /** The path of the group or of home. */
  path: string;
  order: ArticleOrder;
  /** The period whose articles with the most votes are shown, such as `week`; null for an order. */
  period: string | null;
}

/** Links to the orders of a group or of home, and to what has most votes in a period. */
export function RankingLists({ path, order, period }: RankingListsProps) {
  const periods = PERIODS.map((each) => ({
    ...periodTexts(each.period),
    path: withQuery(path, { top: each.period }),
    isCurrent: each.period === period,
  }));
  return (
    <div className="lists">
      <nav aria-label={t("orders")}>
        <Orders path={path} current={period ? null : order} />
      </nav>
      <Tabs label={t("top")} tabs={periods} />
    </div>
  );
}

/** Whether the parameter `top` names a period that has such a list. */
export const isPeriod = (name: string): boolean => PERIODS.some(({ period }) => period === name);
