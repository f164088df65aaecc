import { useState } from "react";
import { useClient } from "urql";
import { useLocation } from "wouter";
import { reasonOf } from "./errors";
import { graphql, readFragment } from "./gql";
import { logInPath } from "./log-in";
import { useSession } from "./session";
import { say, sayProblem } from "./status";

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
      code
      message
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

interface FollowButtonProps {
  user: { id: string; username: string; viewerIsFollowing: boolean };
}

/** Follows a user or stops it: shown at once, and taken back if the server refuses it or cannot be reached. */
export function FollowButton({ user: { id, username, viewerIsFollowing } }: FollowButtonProps) {
  const session = useSession();
  const [, navigate] = useLocation();
  const toggle = useToggle(id, username);
  const [isSending, setSending] = useState(false);
  if (session?.username.toLowerCase() === username.toLowerCase()) return null;

  async function press() {
    if (session === null) {
      navigate(logInPath());
      say(`Log in to follow ${username}.`);
    } else if (!isSending) {
      setSending(true);
      await toggle(viewerIsFollowing);
      setSending(false);
    }
  }

  const text = viewerIsFollowing ? "Following" : "Follow";
  return (
    <button
      type="button"
      className={viewerIsFollowing ? "follow" : "follow primary"}
      aria-pressed={viewerIsFollowing}
      aria-label={`${text} ${username}`}
      onClick={() => void press()}
    >
      {text}
    </button>
  );
}

function useToggle(userId: string, username: string): (isFollowing: boolean) => Promise<void> {
  const client = useClient();
  return async (isFollowing) => {
    const { data, error } = await client.mutation(isFollowing ? UNFOLLOW : FOLLOW, { input: { userId } });
    const reason = reasonOf(error, readFragment(FOLLOWED, data?.followed)?.userErrors);
    if (reason) sayProblem(`${isFollowing ? "You still follow" : "You do not follow"} ${username}. ${reason}`);
  };
}
