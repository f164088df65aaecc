import { useEffect, useRef, type KeyboardEvent } from "react";
import { Link } from "wouter";
import { ORDER_NAMES, SHOWN_ORDER_COUNT, withQuery } from "../addresses";
import type { ArticleOrder } from "../gql/graphql";
import { t } from "../words";

/** All orders of articles that a site can have, as `Order` of store/ranking/formulas.py has them. */
const ALL: readonly ArticleOrder[] = ["SCORE", "TIME", "HOT", "GRAVITY", "ACTIVE", "BEST", "VOTES", "CONTROVERSIAL"];

/** The orders that this site has, as the operator has arranged them; all of them on Vite's development server. */
const ORDERS = ORDER_NAMES?.flatMap((name) => ALL.find((order) => order === name) ?? []) ?? ALL;
/** The order of the front page. */
export const FIRST_ORDER: ArticleOrder = ORDERS[0] ?? "HOT";

/** The name of an order. `descriptionOf` gives a sentence about it. */
export const nameOf = (order: ArticleOrder): string => t(`order-${order.toLowerCase()}`);
const descriptionOf = (order: ArticleOrder): string => t(`order-${order.toLowerCase()}-what`);

/** What a page of a ranking is called. */
export function rankingTitle(order: ArticleOrder, page: number): string {
  return titleOfPage(t(`order-${order.toLowerCase()}-title`), page);
}

export const titleOfPage = (title: string, page: number): string =>
  page === 1 ? title : t("title-of-page", { title, page: String(page) });

/** The order and the page that an address names; null if there is no such order, or no page can have this number. */
export function rankingOf(search: string): { order: ArticleOrder; page: number } | null {
  const parameters = new URLSearchParams(search);
  const name = parameters.get("order") ?? FIRST_ORDER;
  const page = Number(parameters.get("page") ?? 1);
  const order = ORDERS.find((each) => each === name);
  return order && Number.isInteger(page) && page > 0 ? { order, page } : null;
}

/** The address of a page of a ranking. */
export function rankingPath(path: string, order: ArticleOrder, page = 1): string {
  return withQuery(path, { order: order === FIRST_ORDER ? null : order, page: page === 1 ? null : page });
}

interface OrdersProps {
  /** The path of the site or of the group. */
  path: string;
  /** The order of the page; null if it has none of these. */
  current: ArticleOrder | null;
}

/** Links to the orders of the site or of a group: those that the operator shows, and the rest below "More". */
export function Orders({ path, current }: OrdersProps) {
  return (
    <ul className="tabs">
      {ORDERS.slice(0, SHOWN_ORDER_COUNT).map((order) => (
        <li key={order}>
          <Link
            href={rankingPath(path, order)}
            title={descriptionOf(order)}
            aria-current={order === current ? "page" : undefined}
          >
            {nameOf(order)}
          </Link>
        </li>
      ))}
      {ORDERS.length > SHOWN_ORDER_COUNT && (
        <li>
          <MoreOrders key={current} path={path} current={current} />
        </li>
      )}
    </ul>
  );
}

/** The other orders, each with a sentence. It is open only while something in it has the focus. */
function MoreOrders({ path, current }: OrdersProps) {
  const details = useRef<HTMLDetailsElement>(null);
  const rest = ORDERS.slice(SHOWN_ORDER_COUNT);
  const shown = rest.find((order) => order === current);
  useEffect(() => closeOutside(details.current), []);

  function onKeyDown(event: KeyboardEvent) {
    if (event.key !== "Escape" || !details.current?.open) return;
    details.current.open = false;
    details.current.querySelector("summary")?.focus();
  }

  return (
    <details ref={details} className="more-orders" onKeyDown={onKeyDown}>
      <summary className={shown && "current"}>{shown ? nameOf(shown) : t("more")}</summary>
      <ul className="menu">
        {rest.map((order) => (
          <li key={order}>
            <Link href={rankingPath(path, order)} aria-current={order === current ? "page" : undefined}>
              <b>{nameOf(order)}</b> <span>{descriptionOf(order)}</span>
            </Link>
          </li>
        ))}
      </ul>
    </details>
  );
}

/** Closes details when something beside them is pressed or gets the focus. */
function closeOutside(details: HTMLDetailsElement | null): () => void {
  const onEvent = ({ target }: Event) => {
    if (details && !(target instanceof Node && details.contains(target))) details.open = false;
  };
  const names = ["pointerdown", "focusin"];
  names.forEach((name) => document.addEventListener(name, onEvent));
  return () => names.forEach((name) => document.removeEventListener(name, onEvent));
}
