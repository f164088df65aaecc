import { useState } from "react";
import type { AnyVariables, TypedDocumentNode } from "urql";
import { useLocation } from "wouter";
import { useLive } from "./live";

interface List {
  path: string;
  /** The ids of the page that is shown, once it is read. */
  ids: readonly string[] | undefined;
  /** Whether that is the first page, where new ones are. */
  isFirst: boolean;
  /** Reads it again. */
  retry: (options: { requestPolicy: "network-only" }) => void;
}

/** How many a subscription has announced that a list does not show, as nothing is pushed into it, and what shows them. */
export function useArrivals<Data, Variables extends AnyVariables>(
  subscription: TypedDocumentNode<Data, Variables>,
  idOf: (data: Data) => string,
  list: List,
): { count: number; show: () => void } {
  const [, navigate] = useLocation();
  const [ids, setIds] = useState<readonly string[]>([]);
  useLive(subscription, {} as Variables, {
    onData: (data) => setIds((known) => (known.includes(idOf(data)) ? known : [...known, idOf(data)])),
  });

  function show() {
    setIds([]);
    if (list.isFirst) list.retry({ requestPolicy: "network-only" });
    else navigate(list.path);
  }

  const shown = new Set(list.ids);
  return { count: ids.filter((id) => !shown.has(id)).length, show };
}
