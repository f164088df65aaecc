import { useEffect, useRef, useState, type RefObject } from "react";
import { useClient, type AnyVariables, type TypedDocumentNode } from "urql";
import { onEnd, pipe, subscribe } from "wonka";
import { Observable, useObservable } from "./observable";

// Subscriptions of the API for components: they begin again after a lost connection, or when the server has ended them.

/** How often a lost WebSocket has come back. */
export const reconnections = new Observable(0);

const FIRST_PAUSE = 5_000; // milliseconds before a subscription begins again; doubled each time
const LONGEST_PAUSE = 300_000; // milliseconds
const BEGINNING = 500; // milliseconds that the server may take to begin a subscription that was sent again

interface Handlers<Data> {
  /** Gets each message. The cache has it already. */
  onData?: (data: Data) => void;
  /** The server has ended the subscription, with or without an error. It begins again after a pause. */
  onEnd?: () => void;
  /** The subscription has begun again, after a lost connection or an end. What was sent meanwhile is missing. */
  onGap?: () => void;
}

/** Follows a subscription as long as the component is shown; none while its variables are null. */
export function useLive<Data, Variables extends AnyVariables>(
  query: TypedDocumentNode<Data, Variables>,
  variables: Variables | null,
  handlers: Handlers<Data> = {},
): void {
  const client = useClient();
  const latest = useRef(handlers);
  useEffect(() => void (latest.current = handlers));
  const [round, setRound] = useState(0); // how often it has begun again after the server ended it
  const key = JSON.stringify(variables);
  useEffect(() => {
    const given = JSON.parse(key) as Variables | null;
    if (given === null) return;
    let timer: ReturnType<typeof setTimeout> | undefined;
    let isStopped = false; // by this page, not by the server
    const ended = () => {
      if (isStopped) return;
      timer = setTimeout(() => setRound(round + 1), Math.min(FIRST_PAUSE * 2 ** round, LONGEST_PAUSE));
      latest.current.onEnd?.();
    };
    const { unsubscribe } = pipe(
      client.subscription(query, given),
      onEnd(ended),
      subscribe(({ data }) => void (data && latest.current.onData?.(data))),
    );
    return () => {
      isStopped = true;
      clearTimeout(timer);
      unsubscribe();
    };
  }, [client, query, key, round]);
  useGap(useObservable(reconnections) + round, latest);
}

/** Calls `onGap` each time that `beginnings` grows: how often a subscription has begun again. */
function useGap(beginnings: number, handlers: RefObject<Pick<Handlers<never>, "onGap">>): void {
  const seen = useRef(beginnings);
  useEffect(() => {
    if (seen.current === beginnings) return;
    const timer = setTimeout(() => {
      seen.current = beginnings;
      handlers.current.onGap?.();
    }, BEGINNING);
    return () => clearTimeout(timer);
  }, [beginnings, handlers]);
}
