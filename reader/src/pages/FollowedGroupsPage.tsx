import "./pages.css";
import { Link } from "wouter";
import { Groups, MOST_GROUPS } from "../components/Groups";
import { LogInFirst } from "../components/LogInFirst";
import { Content, Page } from "../components/Page";
import { Words } from "../components/Words";
import { useCursors } from "../cursors";
import { usePageQuery } from "../frame";
import { graphql } from "../gql";
import { useSession } from "../session";
import { t } from "../words";

const FOLLOWED_GROUPS = graphql(`
  query FollowedGroups($first: Int, $after: String, $last: Int, $before: String) {
    ...Frame # what the header shows
    home {
      id
      groups(first: $first, after: $after, last: $last, before: $before) {
        ...Groups
      }
    }
  }
`);

/** The groups that the viewer follows, sorted by name. No other list has the ones that no longer have articles. */
export default function FollowedGroupsPage() {
  if (useSession() === null) {
    return (
      <Page title={t("followed-groups-title")}>
        <LogInFirst reason={t("followed-groups-first")} />
      </Page>
    );
  }
  return <FollowedGroups />;
}

function FollowedGroups() {
  const [result, retry] = usePageQuery(FOLLOWED_GROUPS, useCursors(MOST_GROUPS));
  return (
    <Page title={t("followed-groups-title")} isReady={!result.fetching}>
      <p className="filter">
        <Words id="followed-groups-what" link={(text) => <Link href="/groups">{text}</Link>} />
      </p>
      <Content result={result} retry={retry}>
        {({ home }) => home && <Groups groups={home.groups} path="/followed" empty={t("follows-no-groups")} />}
      </Content>
    </Page>
  );
}
