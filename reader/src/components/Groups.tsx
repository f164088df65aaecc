import { Link } from "wouter";
import { groupPath } from "../addresses";
import { cursorPages } from "../cursors";
import { FollowGroupButton } from "../follows";
import { graphql, readFragment, type FragmentType } from "../gql";
import { t } from "../words";
import { LiveList } from "./LiveList";
import { Pager } from "./Pager";

/** How many groups a page has. */
export const MOST_GROUPS = 100;

const GROUPS = graphql(`
  fragment Groups on GroupConnection {
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
`);

interface GroupsProps {
  groups: FragmentType<typeof GROUPS>;
  /** The path of the page that lists them. */
  path: string;
  /** What the list says when it is empty. */
  empty: string;
}

/** A page of groups, each with a button to follow it. */
export function Groups({ groups, path, empty }: GroupsProps) {
  const { nodes, pageInfo } = readFragment(GROUPS, groups);
  return (
    <>
      <LiveList
        items={nodes}
        idOf={({ id }) => id}
        textOfNews="new-groups"
        className="groups"
        row={{ "data-keyboard-item": "", tabIndex: -1 }}
        empty={<p className="empty">{empty}</p>}
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
      <Pager {...cursorPages(path, pageInfo)} />
    </>
  );
}
