import "./pages.css";
import { useMutation } from "urql";
import { useSearch } from "wouter";
import { useArrivals } from "../arrivals";
import { Arrivals } from "../components/Arrivals";
import { ArticleLine } from "../components/ArticleLine";
import { CommentLine } from "../components/CommentLine";
import { LogInFirst } from "../components/LogInFirst";
import { MarkSeen, New } from "../components/MarkSeen";
import { Content, Page } from "../components/Page";
import { Pager } from "../components/Pager";
import { Time } from "../components/Time";
import { UserLink } from "../components/UserLink";
import { CURSOR_PAGE, cursorPages, useCursors } from "../cursors";
import { NOTIFICATION, usePageQuery } from "../frame";
import { graphql, readFragment, type DocumentType, type FragmentType } from "../gql";
import type { NotificationKind } from "../gql/graphql";
import { useSession } from "../session";

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
        ...CommentLine
      }
    }
  }
`);

const INBOX = graphql(`
  query Inbox($first: Int, $after: String, $last: Int, $before: String) {
    ...Frame
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
        code
        message
      }
    }
  }
`);

/** Replies to what the viewer wrote, and mentions of the viewer, newest first. */
export default function InboxPage() {
  const search = useSearch();
  if (useSession() === null) {
    return (
      <Page title="Inbox">
        <LogInFirst reason="Your inbox has replies to what you wrote, and texts that mention you." />
      </Page>
    );
  }
  return <Inbox key={search} />;
}

function Inbox() {
  const cursors = useCursors();
  const [result, retry] = usePageQuery(INBOX, cursors);
  const isFirst = Object.keys(cursors).length === 1;
  const items = result.data?.inbox?.notifications.edges;
  const arrivals = useArrivals(NEW_NOTIFICATIONS, { path: "/inbox", items, isFirst, retry });

  return (
    <Page title="Inbox" isReady={!result.fetching}>
      <Arrivals one="notification" {...arrivals} />
      <Content result={result} retry={retry}>
        {({ inbox }) => inbox && <Notifications inbox={inbox} isFirst={isFirst} />}
      </Content>
    </Page>
  );
}

type InboxData = NonNullable<DocumentType<typeof INBOX>["inbox"]>;

function Notifications({ inbox, isFirst }: { inbox: InboxData; isFirst: boolean }) {
  const [, markSeen] = useMutation(MARK_INBOX_SEEN);
  const { edges, pageInfo } = inbox.notifications;
  const newest = isFirst ? edges[0]?.cursor : undefined;

  async function mark(through: string) {
    const { data, error } = await markSeen({ through, first: CURSOR_PAGE });
    return { error, refusals: data?.markInboxSeen?.userErrors };
  }

  if (edges.length === 0) {
    return <p className="empty">There is nothing here yet. Replies to you and texts with your @name come here.</p>;
  }
  return (
    <>
      {newest && <MarkSeen count={inbox.unseenCount} mark={() => mark(newest)} />}
      <ol className="items">
        {edges.map(({ node }) => (
          <NotificationLine key={node.id} notification={node} />
        ))}
      </ol>
      <Pager {...cursorPages("/inbox", pageInfo)} />
    </>
  );
}

function NotificationLine({ notification: masked }: { notification: FragmentType<typeof NOTIFICATION_LINE> }) {
  const { kind, actor, at, isSeen, subject } = readFragment(NOTIFICATION_LINE, masked);
  const said = saidOf(kind, subject);
  return (
    <li className="may-be-new">
      {!isSeen && <New />}
      {subject?.__typename === "Comment" && <CommentLine comment={subject} said={said} />}
      {subject?.__typename === "Article" && (
        <>
          <p className="details said">
            {actor && <UserLink username={actor.username} />} <span>{said}</span> <Time at={at} />
          </p>
          <ArticleLine article={subject} />
        </>
      )}
    </li>
  );
}

type Subject = DocumentType<typeof NOTIFICATION_LINE>["subject"];

function saidOf(kind: NotificationKind, subject: Subject): string {
  if (kind === "MENTION") return "mentioned you";
  if (kind === "MODERATION") return "changed something of yours";
  return subject?.__typename === "Comment" && subject.depth > 0 ? "replied to your comment" : "replied to your article";
}
