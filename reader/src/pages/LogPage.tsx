import "./pages.css";
import { Link, useSearch } from "wouter";
import { groupPath, logPath } from "../addresses";
import { useNewItems, useRenewal } from "../changes";
import { ActionLine } from "../components/ActionLine";
import { LiveList } from "../components/LiveList";
import { Content, Page } from "../components/Page";
import { Pager } from "../components/Pager";
import { cursorPages, isFirstPage, useCursors } from "../cursors";
import { usePageQuery } from "../frame";
import { graphql } from "../gql";
import { t } from "../words";
import { Words } from "../components/Words";

const LOG = graphql(`
  query Log($group: String, $subjectId: ID, $first: Int, $after: String, $last: Int, $before: String) {
    ...Frame # what the header shows
    moderationLog(group: $group, subjectId: $subjectId, first: $first, after: $after, last: $last, before: $before) {
      nodes {
        id
        ...ActionLine
      }
      pageInfo {
        ...Cursors
      }
    }
  }
`);

const MODERATED = graphql(`
  subscription Moderated($group: String, $subjectId: ID) {
    moderated(group: $group, subjectId: $subjectId) {
      id
    }
  }
`);

/** What moderators did and why, newest first, for everybody: all of it, or in a group, or about one thing. */
export default function LogPage() {
  const search = useSearch();
  return <Log key={search} />;
}

function Log() {
  const parameters = new URLSearchParams(useSearch());
  const group = parameters.get("group") || null;
  const subject = parameters.get("subject") || null;
  const filter = { group, subjectId: subject };
  const cursors = useCursors();
  const [result, retry] = usePageQuery(LOG, { ...filter, ...cursors });
  const readAgain = useRenewal(LOG, { ...filter, ...cursors });
  const isWatched = isFirstPage(cursors) && result.data?.moderationLog;
  const arrivals = useNewItems(MODERATED, isWatched ? filter : null, readAgain);
  return (
    <Page title={t("moderation-log")} isReady={!result.fetching}>
      {group || subject ? (
        <Filter group={group} subject={subject} />
      ) : (
        <p className="filter">
          <Words id="log-what" link={(text) => <Link href="/moderation/roles">{text}</Link>} />
        </p>
      )}
      <Content result={result} retry={retry}>
        {({ moderationLog: log }) =>
          log && (
            <>
              <LiveList
                items={log.nodes}
                idOf={({ id }) => id}
                textOfNews="new-actions"
                className="items"
                empty={<p className="empty">{t("log-empty")}</p>}
                arrivals={arrivals}
              >
                {(action) => <ActionLine action={action} />}
              </LiveList>
              <Pager {...cursorPages("/log", log.pageInfo, { group, subject })} />
            </>
          )
        }
      </Content>
    </Page>
  );
}

/** Which part of the log is shown, with a link to all of it. */
function Filter({ group, subject }: { group: string | null; subject: string | null }) {
  const [type = "", name = ""] = (subject ?? "").split(":");
  return (
    <p className="filter">
      <Words
        id={subject ? (group ? "log-only-about-in" : "log-only-about") : "log-only-in"}
        subject={t("thing-of-type", { type, name })}
        group={group && <Link href={groupPath(group)}>{group}</Link>}
        all={(text) => <Link href={logPath()}>{text}</Link>}
      />
    </p>
  );
}
