import { Time } from "../components/Time";
import { UserLink } from "../components/UserLink";
import { graphql, readFragment, type FragmentType } from "../gql";
import type { FlagReason } from "../gql/graphql";
import { reasonText, summary } from "./words";
import { t } from "../words";
import { Words } from "../components/Words";

const FLAG_LINE = graphql(`
  fragment FlagLine on Flag {
    reason
    note
    at
    by {
      id
      username
    }
  }
`);

interface FlagsProps {
  /** The flags, each with the user who set it; empty for moderators of groups, who are not told. */
  flags: readonly FragmentType<typeof FLAG_LINE>[];
  /** The reason of each flag, which all moderators see. */
  reasons: readonly FlagReason[];
}

/** How often and why an article or a comment was flagged, and for moderators of the site by whom. */
export function Flags({ flags, reasons }: FlagsProps) {
  if (reasons.length === 0) return null;
  return (
    <div className="flags">
      <p>{t("flags-summary", { flags: t("flags", { count: reasons.length }), summary: summary(reasons) })}</p>
      {flags.length > 0 && (
        <ul>
          {readFragment(FLAG_LINE, flags).map(({ reason, note, at, by }) => (
            <li key={by.id}>
              <Words
                id="flagged-because"
                user={<UserLink username={by.username} />}
                reason={reasonText(reason)}
                time={<Time at={at} />}
              />
              {note && <q dir="auto">{note}</q>}
            </li>
          ))}
        </ul>
      )}
    </div>
  );
}
