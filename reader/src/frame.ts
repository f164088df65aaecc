import { useEffect, useState } from "react";
import {
  useQuery,
  type AnyVariables,
  type Client,
  type RequestPolicy,
  type TypedDocumentNode,
  type UseQueryResponse,
} from "urql";
import { graphql, readFragment, type FragmentType } from "./gql";
import { Observable, useObservable } from "./observable";

/** What the header shows. Each page asks for it with its own data, so a page takes one request. */
export const FRAME = graphql(`
  fragment Frame on Query {
    viewer {
      id
      username
    }
    inbox {
      id
      unseenCount
    }
  }
`);

/** What arrives in the inbox. The cache counts it, once however many components subscribe. */
export const NOTIFICATION = graphql(`
  subscription Notification {
    notification {
      id
    }
  }
`);

const unseen = new Observable(0);

export const useUnseenCount = (): number => useObservable(unseen);

type WithFrame = FragmentType<typeof FRAME>;

let askedBefore: unknown = null;

/** Asks for a page before the first rendering, which shows the answer and does not ask again unless it is an error. */
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
  return response;
}
