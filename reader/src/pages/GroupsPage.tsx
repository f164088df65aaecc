import "./pages.css";
import { Link } from "wouter";
import { groupPath } from "../addresses";
import { Content, Page } from "../components/Page";
import { Pager } from "../components/Pager";
import { counted } from "../counts";
import { cursorPages, useCursors } from "../cursors";
import { usePageQuery } from "../frame";
import { graphql } from "../gql";

const MOST = 100;

const GROUPS = graphql(`
  query Groups($first: Int, $after: String, $last: Int, $before: String) {
    ...Frame
    groups(first: $first, after: $after, last: $last, before: $before) {
      totalCount
      nodes {
        id
        name
        articles(first: 1) {
          totalCount
        }
      }
      pageInfo {
        ...Cursors
      }
    }
  }
`);

/** All groups by name. */
export default function GroupsPage() {
  const [result, retry] = usePageQuery(GROUPS, useCursors(MOST));
  return (
    <Page title="Groups" isReady={!result.fetching}>
      <Content result={result} retry={retry}>
        {({ groups }) =>
          groups && (
            <>
              {groups.totalCount === 0 && (
                <p className="empty">There are no groups yet. Articles are posted in groups by naming them.</p>
              )}
              <ul className="groups">
                {groups.nodes.map(({ id, name, articles }) => (
                  <li key={id} data-item="" tabIndex={-1}>
                    <Link href={groupPath(name)} className="group" aria-keyshortcuts="o">
                      <bdi>{name}</bdi>
                    </Link>
                    <span>{counted(articles.totalCount, "article")}</span>
                  </li>
                ))}
              </ul>
              <Pager {...cursorPages("/groups", groups.pageInfo)} />
            </>
          )
        }
      </Content>
    </Page>
  );
}
