import type { ReactNode } from "react";
import { Deeds } from "./Deeds";
import { Flags } from "./Flags";
import type { FlagReason } from "../gql/graphql";
import { History } from "./History";

interface CaseProps {
  /** The state of the thing, and what may be done with it. */
  children: ReactNode;
  flags: Parameters<typeof Flags>[0]["flags"] | null | undefined;
  reasons: readonly FlagReason[] | null | undefined;
  actions: Parameters<typeof Deeds>[0]["actions"];
  /** The comments around it. */
  around: ReactNode;
  poster: { id: string; username: string } | null | undefined;
}

/** What moderators need to know of an article or a comment, below its text. */
export function Case({ children, flags, reasons, actions, around, poster }: CaseProps) {
  return (
    <>
      {children}
      <Flags flags={flags ?? []} reasons={reasons ?? []} />
      <section className="case" aria-labelledby="actions">
        <h2 id="actions">Actions of moderators</h2>
        <Deeds actions={actions} empty="No moderator has done anything about this yet." />
      </section>
      <section className="case" aria-labelledby="around">
        <h2 id="around">The thread around it</h2>
        {around}
      </section>
      {poster && <History user={poster} />}
    </>
  );
}
