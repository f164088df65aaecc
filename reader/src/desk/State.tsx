import { HeldWhy } from "../components/HeldEdit";
import { Page } from "../components/Page";
import type { ContentState } from "../gql/graphql";
import { Actions } from "./Actions";
import { t } from "../words";
import { Words } from "../components/Words";

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

/** Whether a thing is shown, with the rule that holds it, and whether it is locked, in words. */
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

/** A thing that was deleted, or never was; what moderators did about it stays. */
export function Gone({ actions }: Pick<Parameters<typeof Actions>[0], "actions">) {
  return (
    <Page title={t(actions.length > 0 ? "deleted" : "not-found")}>
      <p>{t("nothing-with-id")}</p>
      {actions.length > 0 && <Actions actions={actions} empty="" />}
    </Page>
  );
}
