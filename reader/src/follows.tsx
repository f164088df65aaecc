import { useState } from "react";
import { useMutation } from "urql";
import { useLocation } from "wouter";
import { reasonOf } from "./errors";
import { graphql } from "./gql";
import { logInPath } from "./log-in";
import { useSession } from "./session";
import { say, sayProblem } from "./status";

const FOLLOW = graphql(`
  mutation Follow($input: FollowUserInput!) {
    followUser(input: $input) {
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
  }
`);

const UNFOLLOW = graphql(`
  mutation Unfollow($input: FollowUserInput!) {
    unfollowUser(input: $input) {
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
  const [, follow] = useMutation(FOLLOW);
  const [, unfollow] = useMutation(UNFOLLOW);
  return async (isFollowing) => {
    const input = { userId };
    const { error, refusals } = isFollowing ? await ended(unfollow({ input })) : await begun(follow({ input }));
    const reason = reasonOf(error, refusals);
    if (reason) sayProblem(`${isFollowing ? "You still follow" : "You do not follow"} ${username}. ${reason}`);
  };

  async function begun(sent: ReturnType<typeof follow>) {
    const { data, error } = await sent;
    return { error, refusals: data?.followUser?.userErrors };
  }

  async function ended(sent: ReturnType<typeof unfollow>) {
    const { data, error } = await sent;
    return { error, refusals: data?.unfollowUser?.userErrors };
  }
}
