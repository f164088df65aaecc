import { useClient } from "urql";
import { Toggle } from "./components/Toggle";
import { reasonOf } from "./errors";
import { graphql, readFragment } from "./gql";
import { useIsViewer } from "./session";
import { say, sayProblem } from "./status";
import { t } from "./words";

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
      ...Refused
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

/** The ids of the button's texts. */
const BLOCKING = {
  on: "blocked-verb",
  off: "block",
  onName: "blocked-name",
  offName: "block-name",
  logIn: "log-in-to-block",
};

interface BlockButtonProps {
  user: { id: string; username: string; viewerIsBlocking: boolean };
}

/** A button that blocks a user for the viewer, who then no longer follows them, or unblocks them. */
export function BlockButton({ user: { id, username, viewerIsBlocking } }: BlockButtonProps) {
  const client = useClient();
  if (useIsViewer(username)) return null;

  async function change() {
    const { data, error } = await client.mutation(viewerIsBlocking ? UNBLOCK : BLOCK, { input: { userId: id } });
    const reason = reasonOf(error, readFragment(BLOCKED, data?.blocked)?.userErrors);
    if (reason) return sayProblem(t(viewerIsBlocking ? "still-blocked" : "not-blocked", { name: username, reason }));
    say(viewerIsBlocking ? t("unblocked", { name: username }) : t("now-blocked", { name: username }));
  }

  return <Toggle isOn={viewerIsBlocking} texts={BLOCKING} name={username} change={change} />;
}
