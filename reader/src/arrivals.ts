import { useEffect, useState } from "react";
import { useClient, type AnyVariables, type TypedDocumentNode } from "urql";

/**
 * The ids of what a subscription has announced, and a function that forgets them, for lists into which nothing new is
 * pushed. `idOf` gives the id in a message.
 */
export function useArrivals<Data, Variables extends AnyVariables>(
  subscription: TypedDocumentNode<Data, Variables>,
  idOf: (data: Data) => string,
): { ids: readonly string[]; forget: () => void } {
  const client = useClient();
  const [ids, setIds] = useState<readonly string[]>([]);
  useEffect(() => {
    const { unsubscribe } = client.subscription(subscription, {} as Variables).subscribe(({ data }) => {
      if (data) setIds((known) => (known.includes(idOf(data)) ? known : [...known, idOf(data)]));
    });
    return unsubscribe;
  }, [client, subscription, idOf]);
  return { ids, forget: () => setIds([]) };
}
