import { useState } from "react";
import type { AnyVariables, TypedDocumentNode } from "urql";
import { useLive } from "./live";

/** The ids that a subscription has announced, for lists into which nothing new is pushed, and what forgets them. */
export function useArrivals<Data, Variables extends AnyVariables>(
  subscription: TypedDocumentNode<Data, Variables>,
  idOf: (data: Data) => string,
): { ids: readonly string[]; forget: () => void } {
  const [ids, setIds] = useState<readonly string[]>([]);
  useLive(subscription, {} as Variables, {
    onData: (data) => setIds((known) => (known.includes(idOf(data)) ? known : [...known, idOf(data)])),
  });
  return { ids, forget: () => setIds([]) };
}
