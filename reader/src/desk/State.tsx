import { Page } from "../components/Page";
import type { ContentState } from "../gql/graphql";
import { Actions } from "./Actions";
import { t } from "../words";

const STATES: Record<ContentState, string | null> = {
  VISIBLE: null,
  PENDING: "state-pending-text",
  REMOVED: "state-removed-text",
  DELETED: "state-deleted-text",
};

/** Whether a thing is shown, and whether it is locked, in words. */
export function State({ state, isLocked }: { state: ContentState; isLocked: boolean }) {
  const text = STATES[state];
  return (
    <div role="status">
      {text && <p className="notice">{t(text)}</p>}
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
