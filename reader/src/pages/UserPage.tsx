import "./pages.css";
import type { ReactNode } from "react";
import type { UseQueryState } from "urql";
import { Link, useParams } from "wouter";
import { userPath } from "../addresses";
import { BlockButton } from "../blocks";
import { Answered } from "../components/Answered";
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
import { cursorPages, useCursors } from "../cursors";
import { FollowButton } from "../follows";
import { usePageQuery } from "../frame";
import { graphql, readFragment, type FragmentType } from "../gql";
import { useSession } from "../session";
import { fullTime } from "../times";
import { NoPage, NotFound } from "./NotFound";
import { t } from "../words";
import { Words } from "../components/Words";

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
    ...Frame # what the header shows
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
    ...Frame # what the header shows
    user(username: $username) {
      id
      ...Profile
      comments(first: $first, after: $after, last: $last, before: $before) {
        nodes {
          id
          parent {
            id
            content
          }
          article {
            id
          }
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
    ...Frame # what the header shows
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
    ...Frame # what the header shows
    user(username: $username) {
      id
      ...Profile
      people: following(first: $first, after: $after, last: $last, before: $before) {
        ...People
      }
    }
  }
`);

/** The pages of a user, by the last part of their paths. */
const PARTS = { "": ArticlesOf, comments: CommentsOf, followers: FollowersOf, following: FollowingOf };

/** The pages of a user: articles, comments, followers, and whom the user follows. */
export default function UserPage() {
  const { username = "", part = "" } = useParams();
  const Part = Object.hasOwn(PARTS, part) ? PARTS[part as keyof typeof PARTS] : NoPage;
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
          <Articles articles={articles} empty={t("no-articles-yet")} />
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
            textOfNews="new-comments"
            className="items"
            empty={<p className="empty">{t("no-comments-yet")}</p>}
          >
            {(comment) => (
              <CommentLine
                comment={comment}
                answered={comment.parent && <Answered articleId={comment.article.id} comment={comment.parent} />}
                isOfAuthor
              />
            )}
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
      {({ people }) => (
        <People people={people} path={`${userPath(username)}/followers`} empty={t("no-followers-yet")} />
      )}
    </Profile>
  );
}

function FollowingOf({ username }: PartProps) {
  const response = usePageQuery(USER_FOLLOWING, { username, ...useCursors() });
  return (
    <Profile username={username} part="following" response={response}>
      {({ people }) => <People people={people} path={`${userPath(username)}/following`} empty={t("follows-nobody")} />}
    </Profile>
  );
}

interface ProfileProps<User extends FragmentType<typeof PROFILE>> {
  username: string;
  part?: keyof typeof PARTS;
  /** What `useQuery` of urql returned, and its function that sends the query again. */
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
                  <Words id="karma-strong" karma={profile.karma} strong={(text) => <strong>{text}</strong>} />
                </p>
                <p>
                  <Words id="joined-at" time={<Time at={profile.joinedAt} />} />
                </p>
                {!profile.viewerIsBlocking && <FollowButton user={profile} />}
                <BlockButton user={profile} />
                {session?.username === profile.username && (
                  <>
                    <Link href="/settings">{t("settings-link")}</Link>
                    <Link href="/followed">{t("followed-groups-link")}</Link>
                    <Link href="/saved">{t("saved-link")}</Link>
                    <Link href="/hidden">{t("hidden-link")}</Link>
                    <Link href="/blocked">{t("blocked-link")}</Link>
                    <Link href="/held">{t("held-link")}</Link>
                  </>
                )}
                <a href={`${userPath(profile.username).slice(1)}/rss.xml`}>{t("rss")}</a>
              </div>
              {profile.about && (
                <section className="about" aria-label={t("about-user", { name: profile.username })}>
                  <Markdown text={profile.about} />
                </section>
              )}
              {profile.isBanned && <Banned userId={profile.id} until={profile.bannedUntil} />}
              <div className="lists">
                <Tabs label={t("parts")} tabs={tabsOf(profile, props.part ?? "")} />
              </div>
              {props.children(user)}
            </>
          )
        }
      </Content>
    </Page>
  );
}

/** Says that a user is banned from the whole site, and until when if the server tells the viewer. */
function Banned({ userId, until }: { userId: string; until: string | null }) {
  const said = until ? t("banned-until", { until: fullTime(Date.parse(until)) }) : t("banned");
  return (
    <p className="notice">
      <Why said={said} subject={userId} />
    </p>
  );
}

interface Counts {
  username: string;
  followers: { totalCount: number };
  following: { totalCount: number };
}

function tabsOf({ username, followers, following }: Counts, current: string) {
  const path = userPath(username);
  const tab = (name: string, part: keyof typeof PARTS) => ({
    name,
    path: part ? `${path}/${part}` : path,
    isCurrent: part === current,
  });
  return [
    tab(t("user-articles"), ""),
    tab(t("user-comments"), "comments"),
    tab(t("followers", { count: followers.totalCount }), "followers"),
    tab(t("following-count", { count: following.totalCount }), "following"),
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
        textOfNews="new-users"
        className="people"
        row={{ "data-keyboard-item": "", tabIndex: -1 }}
        empty={<p className="empty">{empty}</p>}
      >
        {(user) => (
          <>
            <Link href={userPath(user.username)} className="user" aria-keyshortcuts="o">
              <bdi>{user.username}</bdi>
            </Link>{" "}
            <span>{t("karma-of", { karma: user.karma })}</span>
            {!user.viewerIsBlocking && <FollowButton user={user} />}
          </>
        )}
      </LiveList>
      <Pager {...cursorPages(path, pageInfo)} />
    </>
  );
}
