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

const BLOCKED = graphql(`
  query BlockedUsers($first: Int, $after: String, $last: Int, $before: String) {
    ...Frame
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
      <Page title="Blocked">
        <LogInFirst reason="Whom you block on their page is listed here, for you alone." />
      </Page>
    );
  }
  return <Blocked />;
}

function Blocked() {
  const [result, retry] = usePageQuery(BLOCKED, useCursors());
  return (
    <Page title="Blocked" isReady={!result.fetching}>
      <p className="filter">
        Their articles are neither in your home nor in your feed, what they write to you is not in your inbox, and their
        comments are folded. Only you know.
      </p>
      <Content result={result} retry={retry}>
        {({ home }) =>
          home && (
            <>
              <LiveList
                items={home.blocked.nodes}
                idOf={({ id }) => id}
                one="user"
                className="people"
                row={{ "data-item": "", tabIndex: -1 }}
                empty={<p className="empty">You block nobody. The page of each user has Block.</p>}
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
