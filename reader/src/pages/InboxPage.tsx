import "./pages.css";
import type { MouseEvent } from "react";
import { useClient } from "urql";
import { useSearch } from "wouter";
import { useArrivals, type Arrivals } from "../arrivals";
import { useRenewal } from "../changes";
import { headersOf } from "../client";
import { Answer } from "../components/Answer";
import { Answered } from "../components/Answered";
import { ArticleLine } from "../components/ArticleLine";
import { CommentLine } from "../components/CommentLine";
import { LiveList } from "../components/LiveList";
import { LogInFirst } from "../components/LogInFirst";
import { MarkSeen, New } from "../components/MarkSeen";
import { ModerationLine } from "../components/ModerationLine";
import { Content, Page } from "../components/Page";
import { Pager } from "../components/Pager";
import { Time } from "../components/Time";
import { UserLink } from "../components/UserLink";
import { CURSOR_PAGE, cursorPages, isFirstPage, useCursors } from "../cursors";
import { announceSeenMark, NOTIFICATION, useSeenMarks, usePageQuery } from "../frame";
import { graphql, readFragment, type DocumentType, type FragmentType } from "../gql";
import type { NotificationKind } from "../gql/graphql";
import { useSession } from "../session";
import { t } from "../words";

const NOTIFICATION_LINE = graphql(`
  fragment NotificationLine on Notification {
    id
    kind
    at
    isSeen
    actor {
      id
      username
    }
    subject {
      __typename
      id
      ... on Article {
        ...ArticleLine
      }
      ... on Comment {
        depth
        content
        author: poster {
          id
          username
        }
        parent {
          id
          content
        }
        article {
          id
          isCommentingOpen
        }
        ...CommentLine
      }
      ... on ModerationAction {
        ...ModerationLine
      }
    }
  }
`);

const INBOX = graphql(`
  query Inbox($first: Int, $after: String, $last: Int, $before: String) {
    ...Frame # what the header shows
    inbox {
      id
      unseenCount
      notifications(first: $first, after: $after, last: $last, before: $before) {
        edges {
          cursor
          node {
            id
            ...NotificationLine
          }
        }
        pageInfo {
          ...Cursors
        }
      }
    }
  }
`);

const MISSED_NOTIFICATIONS = graphql(`
  query MissedNotifications($first: Int, $last: Int, $before: String) {
    inbox {
      id
      notifications(first: $first, last: $last, before: $before) {
        nodes {
          id
        }
      }
    }
  }
`);

/** How the page learns of new notifications; `missed` is asked for after a lost connection. */
const NEW_NOTIFICATIONS = {
  subscription: NOTIFICATION,
  idOf: ({ notification }: DocumentType<typeof NOTIFICATION>) => notification.id,
  missed: MISSED_NOTIFICATIONS,
  idsOf: ({ inbox }: DocumentType<typeof MISSED_NOTIFICATIONS>) => inbox?.notifications.nodes.map(({ id }) => id) ?? [],
};

const MARK_INBOX_SEEN = graphql(`
  mutation MarkInboxSeen($through: String!, $first: Int!) {
    markInboxSeen(input: { through: $through }) {
      inbox {
        id
        unseenCount
        notifications(first: $first) {
          nodes {
            id
            isSeen
          }
        }
      }
      userErrors {
        ...Refused
      }
    }
  }
`);

/** Replies to what the viewer wrote, mentions of the viewer, and what moderators did about the viewer, newest first. */
export default function InboxPage() {
  const search = useSearch();
  if (useSession() === null) {
    return (
      <Page title={t("inbox-title")}>
        <LogInFirst reason={t("inbox-first")} />
      </Page>
    );
  }
  return <Inbox key={search} />;
}

function Inbox() {
  const cursors = useCursors();
  const [result, retry] = usePageQuery(INBOX, cursors);
  const isFirst = isFirstPage(cursors);
  const items = result.data?.inbox?.notifications.edges;
  const renew = useRenewal(INBOX, cursors);
  useSeenMarks(renew);
  const arrivals = useArrivals(NEW_NOTIFICATIONS, { path: "/inbox", items, isFirst, renew });

  return (
    <Page title={t("inbox-title")} isReady={!result.fetching}>
      <Content result={result} retry={retry}>
        {({ inbox }) => inbox && <Notifications {...{ inbox, isFirst, arrivals }} />}
      </Content>
    </Page>
  );
}

const OPENING = "a[aria-keyshortcuts]"; // links to the comment or the article, not to its author and groups
const MIDDLE = 1; // the button that opens a new tab

/** A function that marks the notification at a cursor and all older ones as seen, even if the page is left at once. */
function useMark() {
  const client = useClient();
  const session = useSession();
  return async (through: string) => {
    const fetchOptions = { headers: headersOf(session), keepalive: true };
    const { data, error } = await client.mutation(MARK_INBOX_SEEN, { through, first: CURSOR_PAGE }, { fetchOptions });
    announceSeenMark();
    return { error, refusals: data?.markInboxSeen?.userErrors };
  };
}

type InboxData = NonNullable<DocumentType<typeof INBOX>["inbox"]>;

interface NotificationsProps {
  inbox: InboxData;
  isFirst: boolean;
  arrivals: Arrivals;
}

function Notifications({ inbox, isFirst, arrivals }: NotificationsProps) {
  const mark = useMark();
  const { edges, pageInfo } = inbox.notifications;
  const newestCursor = isFirst ? edges[0]?.cursor : undefined;

  /** Marks a notification as seen when its link is opened, here or in a new tab. */
  function open({ target, button }: MouseEvent) {
    if (!(target instanceof Element) || !target.closest(OPENING) || button > MIDDLE) return;
    const id = target.closest("li")?.dataset.id;
    const opened = edges.find(({ node }) => node.id === id);
    if (opened && !readFragment(NOTIFICATION_LINE, opened.node).isSeen) void mark(opened.cursor);
  }

  return (
    <>
      {newestCursor && <MarkSeen count={inbox.unseenCount} mark={() => mark(newestCursor)} />}
      <div onClick={open} onAuxClick={open}>
        <LiveList
          items={edges}
          idOf={({ node }) => node.id}
          textOfNews="new-notifications"
          className="items"
          row={{ className: "may-be-new" }}
          empty={<p className="empty">{t("inbox-empty")}</p>}
          arrivals={arrivals}
        >
          {({ node, cursor }) => <NotificationLine notification={node} mark={() => void mark(cursor)} />}
        </LiveList>
      </div>
      <Pager {...cursorPages("/inbox", pageInfo)} />
    </>
  );
}

interface NotificationLineProps {
  notification: FragmentType<typeof NOTIFICATION_LINE>;
  /** Marks it as seen, with all older ones. */
  mark: () => void;
}

function NotificationLine({ notification: fragment, mark }: NotificationLineProps) {
  const { kind, actor, at, isSeen, subject } = readFragment(NOTIFICATION_LINE, fragment);
  const said = saidOf(kind, subject);
  return (
    <>
      {!isSeen && <New />}
      {subject?.__typename === "Comment" && (
        <CommentLine
          comment={subject}
          said={said}
          answered={subject.parent && <Answered articleId={subject.article.id} comment={subject.parent} />}
          actions={
            subject.content != null &&
            subject.article.isCommentingOpen && (
              <Answer
                articleId={subject.article.id}
                comment={{ id: subject.id, author: subject.author?.username ?? null }}
                onPosted={() => !isSeen && mark()}
              />
            )
          }
        />
      )}
      {subject?.__typename === "ModerationAction" && <ModerationLine action={subject} />}
      {subject?.__typename === "Article" && (
        <>
          <p className="details said">
            {actor && <UserLink username={actor.username} />} <span>{said}</span> <Time at={at} />
          </p>
          <ArticleLine article={subject} />
        </>
      )}
    </>
  );
}

type Subject = DocumentType<typeof NOTIFICATION_LINE>["subject"];

function saidOf(kind: NotificationKind, subject: Subject): string {
  if (kind === "MENTION") return t("mentioned-you");
  return subject?.__typename === "Comment" && subject.depth > 0 ? t("replied-to-comment") : t("replied-to-article");
}
