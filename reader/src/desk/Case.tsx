import type { ReactNode } from "react";
import { Actions } from "./Actions";
import type { Text } from "./authority";
import { Flags } from "./Flags";
import type { FlagReason } from "../gql/graphql";
import { History } from "./History";
import { t } from "../words";

interface CaseProps {
  /** The state of the thing, and what may be done with it. */
  children: ReactNode;
  subject: Text;
  /** As in `FlagsProps`. */
  flags: Parameters<typeof Flags>[0]["flags"] | null | undefined;
  /** As in `FlagsProps`. */
  reasons: readonly FlagReason[] | null | undefined;
  actions: Parameters<typeof Actions>[0]["actions"];
  /** The comments around it. */
  context: ReactNode;
  poster: { id: string; username: string } | null | undefined;
}

/** What moderators need to know of an article or a comment, below its text. */
export function Case({ children, subject, flags, reasons, actions, context, poster }: CaseProps) {
  return (
    <>
      {children}
      <Flags flags={flags ?? []} reasons={reasons ?? []} />
      <section className="case" aria-labelledby="actions">
        <h2 id="actions">{t("actions-of-moderators")}</h2>
        <Actions actions={actions} about={{ text: subject }} empty={t("no-actions")} />
      </section>
      <section className="case" aria-labelledby="context">
        <h2 id="context">{t("thread-around")}</h2>
        {context}
      </section>
      {poster && <History user={poster} />}
    </>
  );
}
