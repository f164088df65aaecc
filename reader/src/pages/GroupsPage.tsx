import "./pages.css";
import { Groups, MOST_GROUPS } from "../components/Groups";
import { Content, Page } from "../components/Page";
import { useCursors } from "../cursors";
import { usePageQuery } from "../frame";
import { graphql } from "../gql";
import { t } from "../words";

const GROUPS = graphql(`
  query Groups($first: Int, $after: String, $last: Int, $before: String) {
    ...Frame # what the header shows
    groups(first: $first, after: $after, last: $last, before: $before) {
      ...Groups
    }
  }
`);

/** All groups, sorted by name. */
export default function GroupsPage() {
  const [result, retry] = usePageQuery(GROUPS, useCursors(MOST_GROUPS));
  return (
    <Page title={t("groups-title")} isReady={!result.fetching}>
      <Content result={result} retry={retry}>
        {({ groups }) => groups && <Groups groups={groups} path="/groups" empty={t("no-groups")} />}
      </Content>
    </Page>
  );
}
