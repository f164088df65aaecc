import { Page } from "../components/Page";
import type { ContentState } from "../gql/graphql";
import { Actions } from "./Actions";

const STATES: Record<ContentState, string | null> = {
  VISIBLE: null,
  PENDING: "It is not shown: it waits for a moderator.",
  REMOVED: "A moderator has removed it. Its poster and moderators see it.",
  DELETED: "It was deleted.",
};

/** Whether a thing is shown, and whether it is locked, in words. */
export function State({ state, isLocked }: { state: ContentState; isLocked: boolean }) {
  return (
    <div role="status">
      {STATES[state] && <p className="notice">{STATES[state]}</p>}
      {isLocked && <p className="notice">It is locked: it takes no votes and no comments.</p>}
    </div>
  );
}

/** A thing that was deleted, or never was; what moderators did about it stays. */
export function Gone({ actions }: Pick<Parameters<typeof Actions>[0], "actions">) {
  return (
    <Page title={actions.length > 0 ? "Deleted" : "Not found"}>
      <p>There is nothing with this id, or it was deleted.</p>
      {actions.length > 0 && <Actions actions={actions} empty="" />}
    </Page>
  );
}
