import { useQuery } from "urql";
import { graphql } from "../gql";
import { useRenewalForModerators } from "./news";
import { t } from "../words";

export const QUEUE_COUNTS = graphql(`
  query QueueCounts {
    flagged: moderationQueue(kind: FLAGGED, first: 1) {
      totalCount
    }
    pending: moderationQueue(kind: PENDING, first: 1) {
      totalCount
    }
    appeals(first: 1) {
      totalCount
    }
  }
`);

/** How many things wait for the viewer, by the tabs of the queue, as they are now. */
export function useQueueCounts(): Record<"flagged" | "pending" | "appeals" | "total", number> {
  const [{ data }] = useQuery({ query: QUEUE_COUNTS, requestPolicy: "cache-first" });
  useRenewalForModerators(QUEUE_COUNTS, {});
  const flagged = data?.flagged?.totalCount ?? 0;
  const pending = data?.pending?.totalCount ?? 0;
  const appeals = data?.appeals?.totalCount ?? 0;
  return { flagged, pending, appeals, total: flagged + pending + appeals };
}

/** How much waits for the viewer, beside the link to it. */
export default function Waiting() {
  const { total } = useQueueCounts();
  if (total === 0) return null;
  return (
    <>
      {" "}
      <span className="unseen">
        {total}
        <span className="hidden"> {t("waiting-word")}</span>
      </span>
    </>
  );
}
