import { useState } from "react";
import { useClient, type TypedDocumentNode } from "urql";
import { useLocation } from "wouter";
import { CURSOR_PAGE } from "./cursors";
import { useLive } from "./live";

// Arrivals: new items of a list whose pages are named by cursors, such as the feed or the inbox. They are counted as
// they come, and shown when the viewer asks for them.

/** How a page learns of new items. `Arrival` and `Missed` are the data of the subscription and of the query. */
interface Source<Arrival, Missed> {
  subscription: TypedDocumentNode<Arrival, Record<string, never>>;
  /** The id of the item that a message of the subscription is about. */
  idOf: (arrival: Arrival) => string;
  /** Asked for after a lost connection: the items before the first one that is shown, or the first ones if none is. */
  missed: TypedDocumentNode<Missed, { first?: number; last?: number; before?: string }>;
  idsOf: (missed: Missed) => readonly string[];
}

interface List {
  /** The path of its first page. */
  path: string;
  /** The page that is shown, once it is read. */
  items: readonly { cursor: string; node: { id: string } }[] | undefined;
  /** Whether that is the first page, where new items appear. */
  isFirst: boolean;
  /** Reads it again. */
  renew: () => Promise<unknown>;
}

export interface Arrivals {
  /** How many new items are not shown. */
  count: number;
  show: () => Promise<void>;
}

/** How many new items a list does not show yet, because items are never pushed into it, and a function that shows them. */
export function useArrivals<Arrival, Missed>(
  { subscription, idOf, missed, idsOf }: Source<Arrival, Missed>,
  { path, items, isFirst, renew }: List,
): Arrivals {
  const client = useClient();
  const [, navigate] = useLocation();
  const [ids, setIds] = useState<readonly string[]>([]);
  const note = (more: readonly string[]) => setIds((known) => [...new Set([...known, ...more])]);

  async function catchUp() {
    if (!isFirst || !items) return;
    const before = items[0]?.cursor;
    const variables = before ? { last: CURSOR_PAGE, before } : { first: CURSOR_PAGE };
    const { data } = await client.query(missed, variables, { requestPolicy: "network-only" });
    if (data) note(idsOf(data));
  }

  useLive(subscription, {}, { onData: (data) => note([idOf(data)]), onGap: () => void catchUp() });

  async function show() {
    setIds([]);
    if (isFirst) await renew();
    else navigate(path);
  }

  const shown = new Set(items?.map(({ node }) => node.id));
  return { count: ids.filter((id) => !shown.has(id)).length, show };
}
