import { useEffect, useRef, type KeyboardEvent } from "react";
import { Link } from "wouter";
import { ORDERS as NAMES, SHOWN_ORDERS, withQuery } from "../addresses";
import type { ArticleOrder } from "../gql/graphql";

interface Order {
  order: ArticleOrder;
  name: string;
  /** What its pages are called. */
  title: string;
  /** What it is, in a sentence. */
  what: string;
}

/** All there are, as `ORDERS` of server/reader/front_page.py has them. */
const ALL: readonly Order[] = [
  {
    order: "SCORE",
    name: "Score",
    title: "Top articles",
    what: "What is new and has votes; each vote counts the same.",
  },
  { order: "TIME", name: "New", title: "New articles", what: "The newest first." },
  {
    order: "HOT",
    name: "Hot",
    title: "Hot articles",
    what: "What is new and has votes; the first votes count most.",
  },
  {
    order: "GRAVITY",
    name: "Gravity",
    title: "Articles by gravity",
    what: "Votes for their age; everything sinks with time.",
  },
  { order: "ACTIVE", name: "Active", title: "Active articles", what: "What somebody has just commented on." },
  { order: "BEST", name: "Best", title: "Best articles", what: "What nearly everybody votes up, of any age." },
  { order: "VOTES", name: "Votes", title: "Articles with most votes", what: "The most votes of all time." },
  {
    order: "CONTROVERSIAL",
    name: "Controversial",
    title: "Controversial articles",
    what: "Many votes, as many down as up.",
  },
];

const ORDERS = NAMES?.flatMap((name) => ALL.find(({ order }) => order === name) ?? []) ?? ALL;
/** What the front page is by. */
export const FIRST_ORDER: ArticleOrder = ORDERS[0]?.order ?? "HOT";

/** "Hot". */
export const orderName = (order: ArticleOrder): string => ALL.find((each) => each.order === order)?.name ?? order;

/** What a page of a ranking is called. */
export function rankingTitle(order: ArticleOrder, page: number): string {
  const title = ORDERS.find((each) => each.order === order)?.title ?? "Articles";
  return page === 1 ? title : `${title}, page ${page}`;
}

/** The order and the page that an address names; null if it names others than there are. */
export function rankingOf(search: string): { order: ArticleOrder; page: number } | null {
  const parameters = new URLSearchParams(search);
  const name = parameters.get("order") ?? FIRST_ORDER;
  const page = Number(parameters.get("page") ?? 1);
  const found = ORDERS.find(({ order }) => order === name);
  return found && Number.isInteger(page) && page > 0 ? { order: found.order, page } : null;
}

/** The address of a page of a ranking. */
export function rankingPath(path: string, order: ArticleOrder, page = 1): string {
  return withQuery(path, { order: order === FIRST_ORDER ? null : order, page: page === 1 ? null : page });
}

interface OrdersProps {
  path: string;
  current: ArticleOrder | null;
}

/** Links to the orders of the site or of a group: those that the operator shows, and the rest below "More". */
export function Orders({ path, current }: OrdersProps) {
  return (
    <ul className="tabs">
      {ORDERS.slice(0, SHOWN_ORDERS).map(({ order, name, what }) => (
        <li key={order}>
          <Link href={rankingPath(path, order)} title={what} aria-current={order === current ? "page" : undefined}>
            {name}
          </Link>
        </li>
      ))}
      {ORDERS.length > SHOWN_ORDERS && (
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
  const rest = ORDERS.slice(SHOWN_ORDERS);
  const shown = rest.find(({ order }) => order === current);
  useEffect(() => closeOutside(details.current), []);

  function onKeyDown(event: KeyboardEvent) {
    if (event.key !== "Escape" || !details.current?.open) return;
    details.current.open = false;
    details.current.querySelector("summary")?.focus();
  }

  return (
    <details ref={details} className="more-orders" onKeyDown={onKeyDown}>
      <summary className={shown && "current"}>{shown?.name ?? "More"}</summary>
      <ul className="menu">
        {rest.map(({ order, name, what }) => (
          <li key={order}>
            <Link href={rankingPath(path, order)} aria-current={order === current ? "page" : undefined}>
              <b>{name}</b> <span>{what}</span>
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
