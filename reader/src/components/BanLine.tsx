import "./thread.css";
import { useQuery } from "urql";
import { Link } from "wouter";
import type { Ban } from "../bans";
import { graphql } from "../gql";
import { banIn } from "../moderation";
import { fullTime, useNow } from "../times";
import { Appeal } from "./Appeal";
import { Why } from "./Why";
import { t } from "../words";
import { Words } from "./Words";

const BANS = graphql(`
  query Bans($userId: ID!) {
    moderationLog(subjectId: $userId, first: 50) {
      nodes {
        id
        kind
        reason
        expiresAt
        subjectId
        group {
          id
          name
        }
        revertedBy {
          id
        }
        ...Appealed
      }
    }
  }
`);

/** Tells somebody who is banned from the whole site until when and why, what they may still do, and lets them appeal. */
export default function BanLine({ ban: { userId, until } }: { ban: Ban }) {
  const [{ data }] = useQuery({ query: BANS, variables: { userId } });
  const action = banIn(data?.moderationLog?.nodes ?? [], useNow()); // `ban` has neither its reason nor its id
  const said = until ? t("you-are-banned-until", { until: fullTime(Date.parse(until)) }) : t("banned-for-good");
  return (
    <aside className="ban notice" aria-label={t("your-ban")}>
      <p>
        <Why said={said} reason={action?.reason} subject={userId} />
      </p>
      <p>
        <Words id="ban-text" link={(text) => <Link href="/inbox">{text}</Link>} />
      </p>
      {action && <Appeal key={action.id} actionId={action.id} />}
    </aside>
  );
}
