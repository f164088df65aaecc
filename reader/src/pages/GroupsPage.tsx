import "./pages.css";
import { Link } from "wouter";
import { groupPath } from "../addresses";
import { LiveList } from "../components/LiveList";
import { Content, Page } from "../components/Page";
import { Pager } from "../components/Pager";
import { cursorPages, useCursors } from "../cursors";
import { FollowGroupButton } from "../follows";
import { usePageQuery } from "../frame";
import { graphql } from "../gql";
import { t } from "../words";

const MOST = 100; // groups of a page

const GROUPS = graphql(`
  query Groups($first: Int, $after: String, $last: Int, $before: String) {
    ...Frame
    groups(first: $first, after: $after, last: $last, before: $before) {
      totalCount
      nodes {
        id
        name
        viewerIsFollowing
        followerCount
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
    <Page title={t("groups-title")} isReady={!result.fetching}>
      <Content result={result} retry={retry}>
        {({ groups }) =>
          groups && (
            <>
              <LiveList
                items={groups.nodes}
                idOf={({ id }) => id}
                textOfNews="new-groups"
                className="groups"
                row={{ "data-item": "", tabIndex: -1 }} // the keys j and k go to it: see keyboard.ts
                empty={<p className="empty">{t("no-groups")}</p>}
              >
                {(group) => (
                  <>
                    <Link href={groupPath(group.name)} className="group" aria-keyshortcuts="o">
                      <bdi>{group.name}</bdi>
                    </Link>
                    <span>
                      {t("articles-and-followers", {
                        articles: t("articles", { count: group.articles.totalCount }),
                        followers: t("followers", { count: group.followerCount }),
                      })}
                    </span>
                    <FollowGroupButton group={group} />
                  </>
                )}
              </LiveList>
              <Pager {...cursorPages("/groups", groups.pageInfo)} />
            </>
          )
        }
      </Content>
    </Page>
  );
}
