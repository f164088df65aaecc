import { useEffect, useRef, useState } from "react";
import {
  useQuery,
  type AnyVariables,
  type Client,
  type RequestPolicy,
  type TypedDocumentNode,
  type UseQueryResponse,
} from "urql";
import { noteBan } from "./bans";
import { graphql, readFragment, type FragmentType } from "./gql";
import { Observable, useObservable } from "./observable";
import { noteRoles } from "./roles";

// The frame is what all pages have around them: a header with links, the viewer's name, and how much is new in the
// inbox.

/** What the header shows. Each page asks for it with its own data, so a page takes one request. */
export const FRAME = graphql(`
  fragment Frame on Query {
    viewer {
      id
      username
      isBanned
      bannedUntil
      roles {
        role
        group {
          id
          name
        }
      }
    }
    inbox {
      id
      unseenCount
    }
  }
`);

/** What arrives in the inbox. cache.ts adds each to `unseenCount`, once however many components subscribe. */
export const NOTIFICATION = graphql(`
  subscription Notification {
    notification {
      id
    }
  }
`);

/** How many notifications the viewer has not seen. */
const unseen = new Observable(0);
/** How often something of the inbox was marked as seen, in any tab. */
const seenMarks = new Observable(0);
const otherTabs = new BroadcastChannel("upvote-inbox");
otherTabs.addEventListener("message", () => seenMarks.set(seenMarks.get() + 1));

/** Tells all tabs that something of the inbox was marked as seen: they ask again for what they show of it. */
export function announceSeenMark(): void {
  seenMarks.set(seenMarks.get() + 1);
  otherTabs.postMessage(null);
}

/** Calls `renew` each time that something was marked as seen, in this tab or another one. */
export function useSeenMarks(renew: () => unknown): void {
  const current = useObservable(seenMarks);
  const known = useRef(current);
  useEffect(() => {
    if (known.current !== current) void renew();
    known.current = current;
  }, [current]);
}

export const useUnseenCount = (): number => useObservable(unseen);

type WithFrame = FragmentType<typeof FRAME>;

/** The query that `askBeforeRendering` has sent, until a page is rendered. */
let askedBefore: unknown = null;

/** Sends a page's query before the first rendering, which shows the answer and asks again only if it is an error. */
export function askBeforeRendering<Data, Variables extends AnyVariables>(
  client: Client,
  query: TypedDocumentNode<Data, Variables>,
  variables: Variables,
): Promise<unknown> {
  askedBefore = query;
  return client.query<Data, AnyVariables>(query, variables).toPromise();
}

/** The query of a page, which spreads `...Frame`. The cache answers at once if it can, and the server renews it. */
export function usePageQuery<Data extends WithFrame, Variables extends AnyVariables>(
  query: TypedDocumentNode<Data, Variables>,
  variables: Variables,
): UseQueryResponse<Data, Variables> {
  const [requestPolicy] = useState<RequestPolicy>(query === askedBefore ? "cache-first" : "cache-and-network");
  useEffect(() => {
    askedBefore = null;
  }, []);
  const request = { query, variables, requestPolicy };
  const response = useQuery<Data, Variables>(request as Parameters<typeof useQuery<Data, Variables>>[0]);
  const frame = readFragment(FRAME, response[0].data);
  const count = frame?.inbox?.unseenCount ?? (frame ? 0 : undefined);
  useEffect(() => {
    if (count !== undefined) unseen.set(count);
  }, [count]);
  useEffect(() => {
    if (!frame) return;
    noteRoles(frame.viewer);
    noteBan(frame.viewer);
  }, [frame]);
  return response;
}
