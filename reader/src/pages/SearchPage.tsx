import "./pages.css";
import type { ReactNode } from "react";
import type { CombinedError } from "urql";
import { Link, useSearch } from "wouter";
import { userPath, withQuery } from "../addresses";
import { useArticleChanges } from "../changes";
import { ArticleLine } from "../components/ArticleLine";
import { CommentLine } from "../components/CommentLine";
import { LiveList } from "../components/LiveList";
import { inOneLine, Matches, unmarked } from "../components/Matches";
import { Content, Page } from "../components/Page";
import { Pager } from "../components/Pager";
import { Tabs } from "../components/Tabs";
import { Time } from "../components/Time";
import { cursorPages, useCursors } from "../cursors";
import { FollowButton } from "../follows";
import { usePageQuery } from "../frame";
import { graphql, readFragment, type DocumentType, type FragmentType } from "../gql";
import type { SearchKind, SearchOrder } from "../gql/graphql";
import { t } from "../words";
import { Words } from "../components/Words";

const MATCH = graphql(`
  fragment Match on SearchEdge {
    excerpt
    node {
      __typename
      ... on Article {
        id
        title
        ...ArticleLine
      }
      ... on Comment {
        id
        ...CommentLine
      }
      ... on User {
        id
        username
        karma
        joinedAt
        viewerIsFollowing
        viewerIsBlocking
        followers(first: 1) {
          totalCount
        }
      }
    }
  }
`);

const SEARCH = graphql(`
  query Search(
    $isAsked: Boolean!
    $hasPeople: Boolean!
    $query: String!
    $kinds: [SearchKind!]
    $order: SearchOrder!
    $first: Int
    $after: String
    $last: Int
    $before: String
  ) {
    ...Frame # what the header shows
    search(query: $query, kinds: $kinds, order: $order, first: $first, after: $after, last: $last, before: $before)
      @include(if: $isAsked) {
      totalCount
      suggestion
      edges {
        cursor
        ...Match
      }
      pageInfo {
        ...Cursors
      }
    }
    people: search(query: $query, kinds: [USER], first: 3) @include(if: $hasPeople) {
      totalCount
      edges {
        cursor
        ...Match
      }
    }
  }
`);

const TEXTS: SearchKind[] = ["ARTICLE", "COMMENT"];

const KINDS: { kind: SearchKind | null; name: string }[] = [
  { kind: null, name: "find-everything" },
  { kind: "ARTICLE", name: "find-articles" },
  { kind: "COMMENT", name: "find-comments" },
  { kind: "USER", name: "find-users" },
];

const ORDERS: { order: SearchOrder; name: string }[] = [
  { order: "RELEVANCE", name: "best-match" },
  { order: "NEWEST", name: "matches-newest" },
  { order: "VOTES", name: "most-votes" },
];

const QUERY_LENGTH = 500; // characters; the server takes no more
const MOST_MATCHES = 10_000; // the server counts no more

/** What an address asks for. */
interface SearchRequest {
  /** The words. */
  q: string;
  /** Null for articles and comments, and on the first page a few users beside them. */
  kind: SearchKind | null;
  order: SearchOrder;
}

/** Articles, comments and users that match the words of the address. Users stand apart, above the texts. */
export default function SearchPage() {
  const search = useSearch();
  return <Search key={search} {...requestOf(search)} />;
}

function requestOf(search: string): SearchRequest {
  const parameters = new URLSearchParams(search);
  const kind = KINDS.find(({ kind }) => kind === parameters.get("kind"))?.kind ?? null;
  const order = ORDERS.find(({ order }) => order === parameters.get("order"))?.order ?? "RELEVANCE";
  return { q: (parameters.get("q") ?? "").trim(), kind, order };
}

const parametersOf = ({ q, kind, order }: SearchRequest) => ({ q, kind, order: order === "RELEVANCE" ? null : order });

const pathOf = (request: SearchRequest): string => withQuery("/search", parametersOf(request));

function Search(request: SearchRequest) {
  const { q, kind, order } = request;
  const cursors = useCursors();
  const isTooLong = Array.from(q).length > QUERY_LENGTH;
  const isAsked = q !== "" && !isTooLong;
  const isFirstPage = !("after" in cursors || "before" in cursors);
  const hasPeople = isAsked && kind === null && isFirstPage;
  const variables = { isAsked, hasPeople, query: q, kinds: kind ? [kind] : TEXTS, order, ...cursors };
  const [result, retry] = usePageQuery(SEARCH, variables);
  return (
    <Page title={isAsked ? t("search-title", { words: q }) : t("search")} isReady={!result.fetching}>
      {!isAsked ? (
        <p className="empty">{isTooLong ? t("search-too-long", { count: QUERY_LENGTH }) : t("search-hint")}</p>
      ) : (
        <>
          <Filters {...request} />
          {isUnavailable(result.error) ? (
            <Unavailable retry={() => retry({ requestPolicy: "network-only" })} />
          ) : (
            <Content result={result} retry={retry}>
              {({ search, people }) => search && <Found found={search} people={people} request={request} />}
            </Content>
          )}
        </>
      )}
    </Page>
  );
}

function Filters(request: SearchRequest) {
  const kinds = KINDS.map(({ kind, name }) => ({
    name: t(name),
    path: pathOf({ ...request, kind }),
    isCurrent: kind === request.kind,
  }));
  const orders = ORDERS.map(({ order, name }) => ({
    name: t(name),
    path: pathOf({ ...request, order }),
    isCurrent: order === request.order,
  }));
  return (
    <div className="lists filters">
      <Tabs label={t("what-to-find")} tabs={kinds} />
      <Tabs label={t("search-order")} tabs={orders} />
    </div>
  );
}

const isUnavailable = (error: CombinedError | undefined): boolean =>
  error?.graphQLErrors.some(({ extensions }) => extensions.code === "UNAVAILABLE") ?? false;

function Unavailable({ retry }: { retry: () => void }) {
  return (
    <div className="fault" role="alert">
      <p>{t("search-unavailable")}</p>
      <button type="button" onClick={retry}>
        {t("try-again")}
      </button>
    </div>
  );
}

type FoundData = NonNullable<DocumentType<typeof SEARCH>["search"]>;

interface FoundProps {
  found: FoundData;
  /** The first users who match: only on the first page of a search for everything. */
  people: DocumentType<typeof SEARCH>["people"];
  request: SearchRequest;
}

function Found({ found, people, request }: FoundProps) {
  const { totalCount, suggestion, edges, pageInfo } = found;
  const nodes = edges.map(nodeOf);
  useArticleChanges(nodes.filter(({ __typename }) => __typename === "Article"));
  return (
    <>
      <p className="found" role="status">
        {countOf(totalCount, Boolean(people?.totalCount))}
        {suggestion !== null && (
          <>
            {" "}
            <Words
              id="did-you-mean"
              link={
                <Link href={pathOf({ ...request, q: suggestion })}>
                  <bdi>{suggestion}</bdi>
                </Link>
              }
            />
          </>
        )}
      </p>
      {people && people.totalCount > 0 && (
        <section className="people-found" aria-label={t("users-found")}>
          {people.edges.map((edge) => (
            <Match key={nodeOf(edge).id} match={edge} />
          ))}
          {people.totalCount > people.edges.length && (
            <Link href={pathOf({ ...request, kind: "USER" })}>{t("all-users", { count: people.totalCount })}</Link>
          )}
        </section>
      )}
      <LiveList items={edges} idOf={(edge) => nodeOf(edge).id} textOfNews="new-matches" className="items">
        {(edge) => <Match match={edge} />}
      </LiveList>
      <Pager {...cursorPages("/search", pageInfo, parametersOf(request))} />
    </>
  );
}

const nodeOf = (match: FragmentType<typeof MATCH>) => readFragment(MATCH, match).node;

function countOf(total: number, hasPeople: boolean): string {
  if (total === 0) return t(hasPeople ? "found-no-text" : "found-nothing");
  return total >= MOST_MATCHES ? t("found-many", { count: MOST_MATCHES }) : t("found", { count: total });
}

function Match({ match: fragment }: { match: FragmentType<typeof MATCH> }) {
  const { excerpt, node } = readFragment(MATCH, fragment);
  const shown = <Matches excerpt={excerpt} />;
  switch (node.__typename) {
    case "Article": {
      // the excerpt is of the title or of the text
      const isTitle = unmarked(excerpt) === inOneLine(node.title);
      return isTitle ? <ArticleLine article={node} title={shown} /> : <ArticleLine article={node} excerpt={shown} />;
    }
    case "Comment":
      return <CommentLine comment={node} excerpt={shown} />;
    case "User":
      return <Person user={node} shown={shown} />;
  }
}

interface PersonProps {
  user: Extract<DocumentType<typeof MATCH>["node"], { __typename: "User" }>;
  shown: ReactNode;
}

function Person({ user, shown }: PersonProps) {
  const { username, karma, joinedAt } = user;
  return (
    <article className="person" data-keyboard-item="" tabIndex={-1} aria-label={t("user-name", { name: username })}>
      <Link href={userPath(username)} className="user" aria-keyshortcuts="o">
        <bdi>{shown}</bdi>
      </Link>{" "}
      <span className="details">
        <Words id="karma-joined" karma={karma} time={<Time at={joinedAt} />} />
      </span>
      {!user.viewerIsBlocking && <FollowButton user={user} />}
    </article>
  );
}
