import "./pages.css";
import type { ReactNode } from "react";
import type { UseQueryState } from "urql";
import { Link, useParams } from "wouter";
import { userPath } from "../addresses";
import { BlockButton } from "../blocks";
import { Articles } from "../components/Articles";
import { Avatar } from "../components/Avatar";
import { CommentLine } from "../components/CommentLine";
import { LiveList } from "../components/LiveList";
import { Markdown } from "../components/Markdown";
import { Content, Page } from "../components/Page";
import { Pager } from "../components/Pager";
import { Tabs } from "../components/Tabs";
import { Time } from "../components/Time";
import { Why } from "../components/Why";
import { counted } from "../counts";
import { cursorPages, useCursors } from "../cursors";
import { FollowButton } from "../follows";
import { usePageQuery } from "../frame";
import { graphql, readFragment, type FragmentType } from "../gql";
import { useSession } from "../session";
import { fullTime } from "../times";
import { NotFound } from "./NotFound";

const PROFILE = graphql(`
  fragment Profile on User {
    id
    username
    displayName
    about
    avatarUrl
    karma
    joinedAt
    isBanned
    bannedUntil
    viewerIsFollowing
    viewerIsBlocking
    followers(first: 1) {
      totalCount
    }
    following(first: 1) {
      totalCount
    }
  }
`);

const USER_ARTICLES = graphql(`
  query UserArticles($username: String!, $first: Int, $after: String, $last: Int, $before: String) {
    ...Frame
    user(username: $username) {
      id
      ...Profile
      articles(first: $first, after: $after, last: $last, before: $before) {
        ...Articles
        pageInfo {
          ...Cursors
        }
      }
    }
  }
`);

const USER_COMMENTS = graphql(`
  query UserComments($username: String!, $first: Int, $after: String, $last: Int, $before: String) {
    ...Frame
    user(username: $username) {
      id
      ...Profile
      comments(first: $first, after: $after, last: $last, before: $before) {
        nodes {
          id
          ...CommentLine
        }
        pageInfo {
          ...Cursors
        }
      }
    }
  }
`);

const PEOPLE = graphql(`
  fragment People on UserConnection {
    nodes {
      id
      username
      karma
      viewerIsFollowing
      viewerIsBlocking
      followers(first: 1) {
        totalCount
      }
    }
    pageInfo {
      ...Cursors
    }
  }
`);

const USER_FOLLOWERS = graphql(`
  query UserFollowers($username: String!, $first: Int, $after: String, $last: Int, $before: String) {
    ...Frame
    user(username: $username) {
      id
      ...Profile
      people: followers(first: $first, after: $after, last: $last, before: $before) {
        ...People
      }
    }
  }
`);

const USER_FOLLOWING = graphql(`
  query UserFollowing($username: String!, $first: Int, $after: String, $last: Int, $before: String) {
    ...Frame
    user(username: $username) {
      id
      ...Profile
      people: following(first: $first, after: $after, last: $last, before: $before) {
        ...People
      }
    }
  }
`);

const PARTS = { "": ArticlesOf, comments: CommentsOf, followers: FollowersOf, following: FollowingOf };

/** What a user has posted and written, and who follows whom. */
export default function UserPage() {
  const { username = "", part = "" } = useParams();
  const Part = Object.hasOwn(PARTS, part) ? PARTS[part as keyof typeof PARTS] : NotFound;
  return <Part key={`${username}/${part}`} username={username} />;
}

interface PartProps {
  username: string;
}

function ArticlesOf({ username }: PartProps) {
  const response = usePageQuery(USER_ARTICLES, { username, ...useCursors() });
  return (
    <Profile username={username} response={response}>
      {({ articles }) => (
        <>
          <Articles articles={articles} empty="No articles yet." />
          <Pager {...cursorPages(userPath(username), articles.pageInfo)} />
        </>
      )}
    </Profile>
  );
}

function CommentsOf({ username }: PartProps) {
  const response = usePageQuery(USER_COMMENTS, { username, ...useCursors() });
  return (
    <Profile username={username} part="comments" response={response}>
      {({ comments: { nodes, pageInfo } }) => (
        <>
          <LiveList
            items={nodes}
            idOf={({ id }) => id}
            one="comment"
            className="items"
            empty={<p className="empty">No comments yet.</p>}
          >
            {(comment) => <CommentLine comment={comment} />}
          </LiveList>
          <Pager {...cursorPages(`${userPath(username)}/comments`, pageInfo)} />
        </>
      )}
    </Profile>
  );
}

function FollowersOf({ username }: PartProps) {
  const response = usePageQuery(USER_FOLLOWERS, { username, ...useCursors() });
  return (
    <Profile username={username} part="followers" response={response}>
      {({ people }) => <People people={people} path={`${userPath(username)}/followers`} empty="No followers yet." />}
    </Profile>
  );
}

function FollowingOf({ username }: PartProps) {
  const response = usePageQuery(USER_FOLLOWING, { username, ...useCursors() });
  return (
    <Profile username={username} part="following" response={response}>
      {({ people }) => <People people={people} path={`${userPath(username)}/following`} empty="Follows nobody yet." />}
    </Profile>
  );
}

interface ProfileProps<User extends FragmentType<typeof PROFILE>> {
  username: string;
  part?: keyof typeof PARTS;
  response: [
    result: Pick<UseQueryState<{ user?: User | null }>, "data" | "error" | "fetching" | "operation">,
    retry: (options?: { requestPolicy: "network-only" }) => void,
  ];
  children: (user: User) => ReactNode;
}

/** What all pages of a user have: the name, karma, when they joined, who follows whom, and links to the others. */
function Profile<User extends FragmentType<typeof PROFILE>>(props: ProfileProps<User>) {
  const session = useSession();
  const [result, retry] = props.response;
  const profile = readFragment(PROFILE, result.data?.user);
  if (result.data && !profile) return <NotFound />;
  return (
    <Page
      title={<bdi>{profile?.username ?? props.username}</bdi>}
      windowTitle={profile?.username ?? props.username}
      isReady={!result.fetching}
    >
      <Content result={result} retry={retry}>
        {({ user }) =>
          user &&
          profile && (
            <>
              <div className="profile">
                <Avatar username={profile.username} url={profile.avatarUrl} />
                {profile.displayName && (
                  <p>
                    <strong>
                      <bdi>{profile.displayName}</bdi>
                    </strong>
                  </p>
                )}
                <p>
                  <strong>{profile.karma}</strong> karma
                </p>
                <p>
                  Joined <Time at={profile.joinedAt} />
                </p>
                {!profile.viewerIsBlocking && <FollowButton user={profile} />}
                <BlockButton user={profile} />
                {session?.username === profile.username && (
                  <>
                    <Link href="/settings">Settings</Link>
                    <Link href="/saved">Saved</Link>
                    <Link href="/hidden">Hidden</Link>
                    <Link href="/blocked">Blocked</Link>
                    <Link href="/held">Held texts</Link>
                  </>
                )}
                <a href={`${userPath(profile.username).slice(1)}/rss.xml`}>RSS</a>
              </div>
              {profile.about && (
                <section className="about" aria-label={`About ${profile.username}`}>
                  <Markdown text={profile.about} />
                </section>
              )}
              {profile.isBanned && <Banned userId={profile.id} until={profile.bannedUntil} />}
              <div className="lists">
                <Tabs label="Parts" tabs={tabsOf(profile, props.part ?? "")} />
              </div>
              {props.children(user)}
            </>
          )
        }
      </Content>
    </Page>
  );
}

/** Says that a user is banned from the whole site; until when only to those who are told. */
function Banned({ userId, until }: { userId: string; until: string | null }) {
  const end = until ? ` until ${fullTime(Date.parse(until))}` : "";
  return (
    <p className="notice">
      <Why said={`Banned from this site${end}`} subject={userId} />
    </p>
  );
}

interface Counts {
  username: string;
  followers: { totalCount: number };
  following: { totalCount: number };
}

function tabsOf({ username, followers, following }: Counts, part: string) {
  const path = userPath(username);
  const tab = (name: string, of: keyof typeof PARTS) => ({
    name,
    path: of ? `${path}/${of}` : path,
    isCurrent: part === of,
  });
  return [
    tab("Articles", ""),
    tab("Comments", "comments"),
    tab(counted(followers.totalCount, "follower"), "followers"),
    tab(`${following.totalCount} following`, "following"),
  ];
}

interface PeopleProps {
  people: FragmentType<typeof PEOPLE>;
  path: string;
  empty: string;
}

function People({ people, path, empty }: PeopleProps) {
  const { nodes, pageInfo } = readFragment(PEOPLE, people);
  return (
    <>
      <LiveList
        items={nodes}
        idOf={({ id }) => id}
        one="user"
        className="people"
        row={{ "data-item": "", tabIndex: -1 }}
        empty={<p className="empty">{empty}</p>}
      >
        {(user) => (
          <>
            <Link href={userPath(user.username)} className="user" aria-keyshortcuts="o">
              <bdi>{user.username}</bdi>
            </Link>{" "}
            <span>{user.karma} karma</span>
            {!user.viewerIsBlocking && <FollowButton user={user} />}
          </>
        )}
      </LiveList>
      <Pager {...cursorPages(path, pageInfo)} />
    </>
  );
}
