import { Link } from "wouter";
import { ACTION_LINE } from "../components/ActionLine";
import { HeldWhy } from "../components/HeldEdit";
import { Page } from "../components/Page";
import { readFragment } from "../gql";
import type { ContentState } from "../gql/graphql";
import { hasLeftGroup, removalIn, type Action } from "../moderation";
import { Actions, DESK_ACTION } from "./Actions";
import { t } from "../words";
import { Words } from "../components/Words";

/** The ids of the texts that tell the states; visible things have none. */
const STATES: Record<ContentState, string | null> = {
  VISIBLE: null,
  PENDING: "state-pending-text",
  REMOVED: "state-removed-text",
  DELETED: "state-deleted-text",
};

interface StateProps {
  state: ContentState;
  isLocked: boolean;
  /** The rule that holds a thing that is pending. */
  heldBy: string | null | undefined;
  heldReason: string | null | undefined;
}

/** Whether an article or a comment is shown to all, with the rule that holds it, and whether it is locked, in words. */
export function State({ state, isLocked, heldBy, heldReason }: StateProps) {
  const text = STATES[state];
  return (
    <div role="status">
      {text && (
        <p className="notice">
          {heldBy ? <Words id="state-held" why={<HeldWhy rule={heldBy} reason={heldReason} />} /> : t(text)}
        </p>
      )}
      {isLocked && <p className="notice">{t("state-locked")}</p>}
    </div>
  );
}

/** In place of what was deleted, never was, or may not be read by the viewer: what moderators did about it. */
export function AbsentCase({ actions }: Pick<Parameters<typeof Actions>[0], "actions">) {
  const { title, text } = absentWords(readFragment(ACTION_LINE, readFragment(DESK_ACTION, actions)));
  return (
    <Page title={t(title)}>
      <p>{t(text)}</p>
      <p>
        <Words id="go-to-queue" link={(text) => <Link href="/moderation">{text}</Link>} />
      </p>
      {actions.length > 0 && <Actions actions={actions} about={null} empty="" />}
    </Page>
  );
}

/** The ids of the texts that say what has become of a thing. */
function absentWords(actions: readonly Action[]): { title: string; text: string } {
  if (removalIn(actions)) return { title: "removed", text: "gone-removed" };
  if (hasLeftGroup(actions)) return { title: "out-of-groups", text: "out-of-groups-text" };
  return { title: actions.length > 0 ? "deleted" : "not-found", text: "nothing-with-id" };
}
