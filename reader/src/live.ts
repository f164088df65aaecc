import { useEffect, useRef, useState } from "react";
import { useClient, type AnyVariables, type TypedDocumentNode } from "urql";
import { onEnd, pipe, subscribe } from "wonka";

const FIRST_PAUSE = 5_000;
const LONGEST_PAUSE = 300_000;

interface Handlers<Data> {
  /** Gets each message. The cache has it already. */
  onData?: (data: Data) => void;
  /** The server has ended the subscription, with or without an error. It begins again after a pause. */
  onEnd?: () => void;
}

/** Follows a subscription as long as the component is shown. */
export function useLive<Data, Variables extends AnyVariables>(
  query: TypedDocumentNode<Data, Variables>,
  variables: Variables,
  handlers: Handlers<Data> = {},
): void {
  const client = useClient();
  const latest = useRef(handlers);
  useEffect(() => void (latest.current = handlers));
  const [round, setRound] = useState(0);
  const key = JSON.stringify(variables);
  useEffect(() => {
    let timer: ReturnType<typeof setTimeout> | undefined;
    let isLeft = false;
    const ended = () => {
      if (isLeft) return;
      timer = setTimeout(() => setRound(round + 1), Math.min(FIRST_PAUSE * 2 ** round, LONGEST_PAUSE));
      latest.current.onEnd?.();
    };
    const { unsubscribe } = pipe(
      client.subscription(query, JSON.parse(key) as Variables),
      onEnd(ended),
      subscribe(({ data }) => void (data && latest.current.onData?.(data))),
    );
    return () => {
      isLeft = true;
      clearTimeout(timer);
      unsubscribe();
    };
  }, [client, query, key, round]);
}
