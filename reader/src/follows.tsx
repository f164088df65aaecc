import { useClient } from "urql";
import { Toggle } from "./components/Toggle";
import { reasonOf } from "./errors";
import { graphql, readFragment } from "./gql";
import { useIsViewer } from "./session";
import { sayProblem } from "./status";
import { t } from "./words";

const FOLLOWED = graphql(`
  fragment Followed on FollowUserPayload {
    changed
    user {
      id
      viewerIsFollowing
      followers(first: 1) {
        totalCount
      }
    }
    userErrors {
      ...Refused
    }
  }
`);

const FOLLOW = graphql(`
  mutation Follow($input: FollowUserInput!) {
    followed: followUser(input: $input) {
      ...Followed
    }
  }
`);

const UNFOLLOW = graphql(`
  mutation Unfollow($input: FollowUserInput!) {
    followed: unfollowUser(input: $input) {
      ...Followed
    }
  }
`);

const FOLLOWED_GROUP = graphql(`
  fragment FollowedGroup on FollowGroupPayload {
    changed
    group {
      id
      viewerIsFollowing
      followerCount
    }
    userErrors {
      ...Refused
    }
  }
`);

const FOLLOW_GROUP = graphql(`
  mutation FollowGroup($input: FollowGroupInput!) {
    followed: followGroup(input: $input) {
      ...FollowedGroup
    }
  }
`);

const UNFOLLOW_GROUP = graphql(`
  mutation UnfollowGroup($input: FollowGroupInput!) {
    followed: unfollowGroup(input: $input) {
      ...FollowedGroup
    }
  }
`);

interface FollowButtonProps {
  user: { id: string; username: string; viewerIsFollowing: boolean };
}

/** A button that follows a user, or stops it: shown at once, and taken back if the server does not do it. */
export function FollowButton({ user: { id, username, viewerIsFollowing } }: FollowButtonProps) {
  const client = useClient();
  if (useIsViewer(username)) return null;

  async function change() {
    const { data, error } = await client.mutation(viewerIsFollowing ? UNFOLLOW : FOLLOW, { input: { userId: id } });
    tell(username, viewerIsFollowing, reasonOf(error, readFragment(FOLLOWED, data?.followed)?.userErrors));
  }

  return <FollowToggle name={username} isFollowing={viewerIsFollowing} change={change} />;
}

interface FollowGroupButtonProps {
  group: { name: string; viewerIsFollowing: boolean };
}

/** A button that follows a group, whose articles then come to the viewer's home, or stops it. */
export function FollowGroupButton({ group: { name, viewerIsFollowing } }: FollowGroupButtonProps) {
  const client = useClient();

  async function change() {
    const mutation = viewerIsFollowing ? UNFOLLOW_GROUP : FOLLOW_GROUP;
    const { data, error } = await client.mutation(mutation, { input: { group: name } });
    tell(name, viewerIsFollowing, reasonOf(error, readFragment(FOLLOWED_GROUP, data?.followed)?.userErrors));
  }

  return <FollowToggle name={name} isFollowing={viewerIsFollowing} change={change} />;
}

/** The ids of the button's texts. */
const FOLLOWING = {
  on: "following",
  off: "follow",
  onName: "following-name",
  offName: "follow-name",
  logIn: "log-in-to-follow",
};

function FollowToggle(props: { name: string; isFollowing: boolean; change: () => Promise<void> }) {
  const { isFollowing, ...rest } = props;
  const className = isFollowing ? "follow" : "follow primary";
  return <Toggle isOn={isFollowing} texts={FOLLOWING} className={className} shortcut="f" {...rest} />;
}

/** Says why a follow was not changed, if there is a reason. */
function tell(name: string, isFollowing: boolean, reason: string | null): void {
  if (reason) sayProblem(t(isFollowing ? "still-followed" : "not-followed", { name, reason }));
}
