import "./pages.css";
import "../desk/desk.css";
import { useSearch } from "wouter";
import { withQuery } from "../addresses";
import { LiveList } from "../components/LiveList";
import { Content, Page } from "../components/Page";
import { Pager } from "../components/Pager";
import { Tabs } from "../components/Tabs";
import { cursorPages, useCursors } from "../cursors";
import { Appeals } from "../desk/Actions";
import { GroupTabs } from "../desk/GroupTabs";
import { useRenewalForModerators } from "../desk/news";
import { OnlyModerators } from "../desk/OnlyModerators";
import { QueueLine } from "../desk/QueueLine";
import { useQueueCounts } from "../desk/Waiting";
import { usePageQuery } from "../frame";
import { graphql, type DocumentType } from "../gql";
import type { QueueKind } from "../gql/graphql";
import { NoPage } from "./NotFound";
import { t } from "../words";

const QUEUE = graphql(`
  query Queue($kind: QueueKind!, $group: String, $first: Int, $after: String, $last: Int, $before: String) {
    ...Frame # what the header shows
    moderationQueue(kind: $kind, group: $group, first: $first, after: $after, last: $last, before: $before) {
      totalCount
      edges {
        cursor
        node {
          id
        }
        ...QueueLine
      }
      pageInfo {
        ...Cursors
      }
    }
  }
`);

const APPEALS = graphql(`
  query Appeals($group: String, $first: Int, $after: String, $last: Int, $before: String) {
    ...Frame # what the header shows
    appeals(group: $group, first: $first, after: $after, last: $last, before: $before) {
      nodes {
        id
        ...AppealLine
      }
      pageInfo {
        ...Cursors
      }
    }
  }
`);

/** What users have flagged, what a rule of the site holds, and appeals against actions of moderators. */
const TABS = ["flagged", "pending", "appeals"] as const;

type Name = (typeof TABS)[number];

/** What waits for moderators, of one kind, in all their groups or in one. */
export default function QueuePage() {
  const search = useSearch();
  const parameters = new URLSearchParams(search);
  const name = parameters.get("kind") ?? "flagged";
  const group = parameters.get("group");
  const tab = TABS.find((each) => each === name);
  if (!tab) return <NoPage />;
  const Waiting = tab === "appeals" ? WaitingAppeals : WaitingThings;
  return <Waiting key={search} name={tab} group={group} />;
}

interface WaitingProps {
  /** The tab that is shown. */
  name: Name;
  /** The group in which the things are; null for all that the viewer moderates. */
  group: string | null;
}

function WaitingThings({ name, group }: WaitingProps) {
  const kind: QueueKind = name === "pending" ? "PENDING" : "FLAGGED";
  const variables = { kind, group, ...useCursors() };
  const [result, retry] = usePageQuery(QUEUE, variables);
  useRenewalForModerators(QUEUE, variables);
  if (result.data && !result.data.moderationQueue) return <OnlyModerators />;
  return (
    <Page title={t("moderation")} isReady={!result.fetching}>
      <KindTabs {...{ name, group }} />
      <Content result={result} retry={retry}>
        {({ moderationQueue }) => moderationQueue && <Things {...{ name, group }} queue={moderationQueue} />}
      </Content>
    </Page>
  );
}

function WaitingAppeals({ name, group }: WaitingProps) {
  const variables = { group, ...useCursors() };
  const [result, retry] = usePageQuery(APPEALS, variables);
  useRenewalForModerators(APPEALS, variables);
  if (result.data && !result.data.appeals) return <OnlyModerators />;
  return (
    <Page title={t("moderation")} isReady={!result.fetching}>
      <KindTabs {...{ name, group }} />
      <Content result={result} retry={retry}>
        {({ appeals }) =>
          appeals && (
            <>
              <Appeals actions={appeals.nodes} />
              <Pager {...cursorPages("/moderation", appeals.pageInfo, { kind: name, group })} />
            </>
          )
        }
      </Content>
    </Page>
  );
}

/** Links to the queues, with how much waits in each. */
function KindTabs({ name, group }: WaitingProps) {
  const counts = useQueueCounts();
  const tabs = TABS.map((tab) => ({
    name: t(`queue-${tab}`, { count: counts[tab] }),
    path: pathOf(tab, group),
    isCurrent: tab === name,
  }));
  return (
    <div className="lists">
      <Tabs label={t("queues")} tabs={tabs} />
      <GroupTabs current={group} pathOf={(group) => pathOf(name, group)} />
      <Tabs label={t("places")} tabs={[{ name: t("roles-and-groups"), path: "/moderation/roles", isCurrent: false }]} />
    </div>
  );
}

/** The parameter `kind` of a tab's address; the first tab has none. */
const kindOf = (name: Name): string | null => (name === "flagged" ? null : name);

const pathOf = (name: Name, group: string | null): string => withQuery("/moderation", { kind: kindOf(name), group });

interface ThingsProps extends WaitingProps {
  queue: NonNullable<DocumentType<typeof QUEUE>["moderationQueue"]>;
}

function Things({ name, group, queue: { edges, pageInfo } }: ThingsProps) {
  return (
    <>
      <LiveList
        items={edges}
        idOf={({ node }) => node.id}
        textOfNews="new-things"
        className="items"
        empty={<p className="empty">{name === "pending" ? t("pending-empty") : t("flagged-empty")}</p>}
      >
        {(edge) => <QueueLine edge={edge} />}
      </LiveList>
      <Pager {...cursorPages("/moderation", pageInfo, { kind: kindOf(name), group })} />
    </>
  );
}
