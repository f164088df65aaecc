import "./pages.css";
import { Link } from "wouter";
import { userPath } from "../addresses";
import { BlockButton } from "../blocks";
import { LiveList } from "../components/LiveList";
import { LogInFirst } from "../components/LogInFirst";
import { Content, Page } from "../components/Page";
import { Pager } from "../components/Pager";
import { cursorPages, useCursors } from "../cursors";
import { usePageQuery } from "../frame";
import { graphql } from "../gql";
import { useSession } from "../session";
import { t } from "../words";

const BLOCKED = graphql(`
  query BlockedUsers($first: Int, $after: String, $last: Int, $before: String) {
    ...Frame # what the header shows
    home {
      id
      blocked(first: $first, after: $after, last: $last, before: $before) {
        nodes {
          id
          username
          viewerIsBlocking
        }
        pageInfo {
          ...Cursors
        }
      }
    }
  }
`);

/** Whom the viewer blocks, the latest blocked first. */
export default function BlockedPage() {
  if (useSession() === null) {
    return (
      <Page title={t("blocked-title")}>
        <LogInFirst reason={t("blocked-first")} />
      </Page>
    );
  }
  return <Blocked />;
}

function Blocked() {
  const [result, retry] = usePageQuery(BLOCKED, useCursors());
  return (
    <Page title={t("blocked-title")} isReady={!result.fetching}>
      <p className="filter">{t("blocked-what")}</p>
      <Content result={result} retry={retry}>
        {({ home }) =>
          home && (
            <>
              <LiveList
                items={home.blocked.nodes}
                idOf={({ id }) => id}
                textOfNews="new-users"
                className="people"
                row={{ "data-keyboard-item": "", tabIndex: -1 }}
                empty={<p className="empty">{t("blocks-nobody")}</p>}
              >
                {(user) => (
                  <>
                    <Link href={userPath(user.username)} className="user" aria-keyshortcuts="o">
                      <bdi>{user.username}</bdi>
                    </Link>
                    <BlockButton user={user} />
                  </>
                )}
              </LiveList>
              <Pager {...cursorPages("/blocked", home.blocked.pageInfo)} />
            </>
          )
        }
      </Content>
    </Page>
  );
}
