import type { ReactNode } from "react";
import { Actions } from "./Actions";
import type { Text } from "./authority";
import { Flags } from "./Flags";
import type { FlagReason } from "../gql/graphql";
import { History } from "./History";
import { t } from "../words";

interface CaseProps {
  /** Its text, its state, and what may be done with it. */
  children: ReactNode;
  subject: Text;
  /** The flags, each with the user who set it; empty for moderators of groups, who are not told. */
  flags: Parameters<typeof Flags>[0]["flags"] | null | undefined;
  /** The reason of each flag, which all moderators see. */
  reasons: readonly FlagReason[] | null | undefined;
  /** What moderators did about it, newest first. */
  actions: Parameters<typeof Actions>[0]["actions"];
  /** The comments around it. */
  context: ReactNode;
  poster: { id: string; username: string } | null | undefined;
}

/** What moderators need to know to decide about an article or a comment, below its text. */
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
