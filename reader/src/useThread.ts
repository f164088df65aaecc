import { useCallback, useEffect, useRef, useState } from "react";
import { useClient, type AnyVariables, type TypedDocumentNode } from "urql";
import { explain } from "./errors";
import { graphql, readFragment, type FragmentType } from "./gql";
import type { CommentOrder, ThreadPlacesFragment } from "./gql/graphql";
import { sayProblem } from "./status";
import { outOfSight, postedSince, rows, type Dated, type Pages, type Posted, type Row } from "./thread";

// A thread is the comments of an article, each before its replies; a branch of it is a comment with what is below it.
// This module keeps what was read of a thread, and which part is shown; thread.ts puts the rows together.

/** How many comments a page of a thread has. */
export const COMMENTS_PER_PAGE = 100;

/** Milliseconds that an answer may be under way, and by which the clocks of browser and server may differ. */
const TOLERANCE = 10_000;

export const THREAD_PLACES = graphql(`
  fragment ThreadPlaces on ThreadConnection {
    edges {
      hiddenReplyCount
      node {
        id
        depth
        state
        ...CommentRow
      }
    }
    pageInfo {
      hasNextPage
      endCursor
    }
  }
`);

export const POSTED_COMMENT = graphql(`
  fragment PostedComment on Comment {
    id
    depth
    state
    poster {
      id
      username
    }
    parent {
      id
      replyCount
    }
    ...CommentRow
  }
`);

const NEXT_PAGE = graphql(`
  query ThreadPage($articleId: ID!, $under: ID, $order: CommentOrder!, $first: Int!, $after: String) {
    article(id: $articleId) {
      id
      thread(under: $under, order: $order, first: $first, after: $after) {
        ...ThreadPlaces
      }
    }
  }
`);

const POSTED = graphql(`
  query Posted($id: ID!) {
    node(id: $id) {
      __typename
      id
      ...PostedComment
    }
  }
`);

export type ThreadComment = ThreadPlacesFragment["edges"][number]["node"];
export type ThreadRow = Row<ThreadComment>;

/** A page that is asked for: of the thread, or of replies to the comment `under` that are too deep for the thread. */
interface Request {
  under: string | null;
  after: string | null;
}

interface Options {
  articleId: string;
  order: CommentOrder;
  /** From the query of the whole page. */
  firstPage: FragmentType<typeof THREAD_PLACES>;
  /** In a branch: comments above it, and last the comment that it belongs to. Empty for the whole thread. */
  above: readonly ThreadComment[];
  /** The ids of deleted comments that keep their places. */
  kept: ReadonlySet<string>;
}

export interface LiveThread {
  rows: ThreadRow[];
  /** Load the next page of the thread, or of the comments below one. */
  load: (under: string | null) => void;
  isLoading: (under: string | null) => boolean;
  /** Hide or show a comment with what is below it. */
  fold: (id: string) => void;
  /** Show a new comment of the viewer. */
  add: (id: string) => void;
  /** Note a comment of somebody else, to be shown when the viewer asks for it. */
  announce: (id: string) => void;
  /** How many such comments wait. */
  announced: number;
  showAnnounced: () => void;
  /** How many new comments answer what has not been loaded. */
  outOfSight: number;
  /** Which of some comments were posted since the thread was read. */
  postedSince: <D extends Dated>(all: readonly D[]) => D[];
}

/** The state of a thread on the screen. `onAdded` gets the ids of comments that the viewer asked for and now sees. */
export function useThread(options: Options, onAdded: (ids: readonly string[]) => void): LiveThread {
  const { add, announce, showAnnounced, announced, posted } = usePosted(onAdded);
  const { pagesOf, load, isLoading, branches } = usePages(options, onAdded);
  const [readAt] = useState(() => Date.now() - TOLERANCE);
  const [collapsed, setCollapsed] = useState<ReadonlySet<string>>(new Set());
  const fold = useCallback((id: string) => setCollapsed((all) => toggled(all, id)), []);

  const { above, order, kept } = options;
  const pages = pagesOf(null);
  const thread = {
    pages: { ...pages, places: [...above.map((comment) => ({ comment, hiddenReplyCount: 0 })), ...pages.places] },
    nextDepth: (above.at(-1)?.depth ?? -1) + 1,
    branches: new Map(branches.map((under) => [under, pagesOf(under)])),
    posted,
    collapsed,
    kept,
    isOldestFirst: order === "OLDEST",
  };
  return {
    rows: rows(thread),
    outOfSight: outOfSight(thread).size,
    postedSince: (all) => postedSince(thread, readAt, all),
    load,
    isLoading,
    fold,
    add,
    announce,
    announced,
    showAnnounced,
  };
}

/** The pages of a thread and of its branches, which are loaded one after the other. */
function usePages({ articleId, order, firstPage, above }: Options, onAdded: (ids: readonly string[]) => void) {
  const [requests, setRequests] = useState<readonly Request[]>([]);
  const variablesOf = ({ under, after }: Request) => ({
    articleId,
    order,
    first: COMMENTS_PER_PAGE,
    under: under ?? above.at(-1)?.id ?? null, // in a branch, null stands for the comment of the branch
    after,
  });
  const results = useResults(NEXT_PAGE, requests, variablesOf, {
    onFirst: ({ article }) => onAdded(idsOf(readFragment(THREAD_PLACES, article?.thread))),
    onFailed: (request) => setRequests((all) => all.filter((each) => each !== request)),
  });

  const connections = (under: string | null) => {
    const next = requests.filter((request) => request.under === under).map((request) => results.get(request));
    const all = [under === null ? firstPage : null, ...next.map((result) => result?.article?.thread)];
    return all.map((connection) => readFragment(THREAD_PLACES, connection)).filter((connection) => !!connection);
  };
  const pagesOf = (under: string | null): Pages<ThreadComment> => ({
    places: connections(under).flatMap(placesOf),
    hasNextPage: connections(under).at(-1)?.pageInfo.hasNextPage ?? false,
  });
  const isLoading = (under: string | null) => requests.some((each) => each.under === under && !results.has(each));
  const load = (under: string | null) => {
    const after = connections(under).at(-1)?.pageInfo.endCursor ?? null;
    if (!isLoading(under)) setRequests((all) => [...all, { under, after }]);
  };
  const branches = requests.filter((each) => results.has(each)).flatMap(({ under }) => under ?? []);
  return { pagesOf, load, isLoading, branches };
}

/** Comments posted after the thread was read: the shown ones, and the number of others, which wait for the viewer. */
function usePosted(onAdded: (ids: readonly string[]) => void) {
  const [shown, setShown] = useState<readonly string[]>([]);
  const [announced, setAnnounced] = useState<readonly string[]>([]);
  const results = useResults(POSTED, shown, (id) => ({ id }), {
    onFailed: (id) => setShown((all) => all.filter((each) => each !== id)),
  });

  const add = useCallback((id: string) => setShown((all) => withOne(all, id)), []);
  const announce = useCallback((id: string) => setAnnounced((all) => withOne(all, id)), []);
  const waiting = announced.filter((id) => !shown.includes(id));
  const showAnnounced = () => {
    setShown((all) => [...all, ...waiting]);
    setAnnounced([]);
    onAdded(waiting);
  };
  const posted = shown.flatMap((id): Posted<ThreadComment>[] => {
    const node = results.get(id)?.node;
    if (node?.__typename !== "Comment") return [];
    const comment = readFragment(POSTED_COMMENT, node);
    return [{ comment, parentId: comment.parent?.id ?? null }];
  });
  return { add, announce, showAnnounced, announced: waiting.length, posted };
}

interface Handlers<Input, Data> {
  /** Gets the first result of each input, but none of a later client: one connects when a session begins or ends. */
  onFirst?: (data: Data) => void;
  onFailed: (input: Input) => void;
}

/** The results of a query for each of some inputs, kept current with the cache. What fails is reported. */
function useResults<Input, Data, Variables extends AnyVariables>(
  query: TypedDocumentNode<Data, Variables>,
  inputs: readonly Input[],
  variablesOf: (input: Input) => Variables,
  { onFirst, onFailed }: Handlers<Input, Data>,
): ReadonlyMap<Input, Data> {
  const client = useClient();
  const [results, setResults] = useState<ReadonlyMap<Input, Data>>(new Map());
  const running = useRef(new Map<Input, () => void>());
  const answered = useRef(new Set<Input>());
  useEffect(() => {
    const all = running.current;
    return () => {
      for (const stop of all.values()) stop();
      all.clear();
    };
  }, [client]);

  // After each rendering: sends the query for inputs that none is running for: new ones, or all if the client is new.
  useEffect(() => {
    for (const input of inputs.filter((input) => !running.current.has(input))) {
      const source = client.query(query, variablesOf(input), { requestPolicy: "cache-first" });
      const { unsubscribe } = source.subscribe(({ data, error }) => {
        if (data) {
          setResults((all) => new Map(all).set(input, data));
          if (!answered.current.has(input)) onFirst?.(data);
          answered.current.add(input);
        }
        if (data || !error) return;
        sayProblem(explain(error));
        running.current.delete(input);
        onFailed(input);
      });
      running.current.set(input, unsubscribe);
    }
  });
  return results;
}

function placesOf({ edges }: ThreadPlacesFragment) {
  return edges.map(({ node, hiddenReplyCount }) => ({ comment: node, hiddenReplyCount }));
}

const idsOf = (page: ThreadPlacesFragment | null | undefined) => (page ? page.edges.map(({ node }) => node.id) : []);

const withOne = (all: readonly string[], id: string) => (all.includes(id) ? all : [...all, id]);

function toggled(all: ReadonlySet<string>, id: string): ReadonlySet<string> {
  return all.has(id) ? new Set([...all].filter((each) => each !== id)) : new Set([...all, id]);
}
