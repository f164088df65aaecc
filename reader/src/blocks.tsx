import { useClient } from "urql";
import { Toggle } from "./components/Toggle";
import { reasonOf } from "./errors";
import { graphql, readFragment } from "./gql";
import { useIsViewer } from "./session";
import { say, sayProblem } from "./status";

const BLOCKED = graphql(`
  fragment Blocked on BlockUserPayload {
    user {
      id
      viewerIsBlocking
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

const BLOCK = graphql(`
  mutation Block($input: BlockUserInput!) {
    blocked: blockUser(input: $input) {
      ...Blocked
    }
  }
`);

const UNBLOCK = graphql(`
  mutation Unblock($input: BlockUserInput!) {
    blocked: unblockUser(input: $input) {
      ...Blocked
    }
  }
`);

interface BlockButtonProps {
  user: { id: string; username: string; viewerIsBlocking: boolean };
}

/** Blocks a user for the viewer, which ends following them, or stops it. */
export function BlockButton({ user: { id, username, viewerIsBlocking } }: BlockButtonProps) {
  const client = useClient();
  if (useIsViewer(username)) return null;

  async function change() {
    const { data, error } = await client.mutation(viewerIsBlocking ? UNBLOCK : BLOCK, { input: { userId: id } });
    const reason = reasonOf(error, readFragment(BLOCKED, data?.blocked)?.userErrors);
    if (reason)
      return sayProblem(`${viewerIsBlocking ? "You still block" : "You do not block"} ${username}. ${reason}`);
    say(viewerIsBlocking ? `You block ${username} no more.` : `You block ${username}. Nobody else learns of it.`);
  }

  return <Toggle isOn={viewerIsBlocking} on="Blocked" off="Block" name={username} change={change} />;
}
