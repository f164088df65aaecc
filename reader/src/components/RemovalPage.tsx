import type { ReactNode } from "react";
import { Link } from "wouter";
import { graphql, readFragment, type FragmentType } from "../gql";
import { removalIn } from "../moderation";
import { Page } from "./Page";
import { Why } from "./Why";
import { t } from "../words";
import { Words } from "./Words";

/** The newest actions of moderators on an article or a comment. */
export const REMOVAL_PAGE = graphql(`
  fragment RemovalPage on ModerationActionConnection {
    nodes {
      id
      kind
      reason
      subjectId
      group {
        id
        name
      }
      revertedBy {
        id
      }
    }
  }
`);

interface RemovalPageProps {
  /** The newest actions on the subject of the page; for a comment also the ones on its article. */
  actionsOn: readonly (FragmentType<typeof REMOVAL_PAGE> | null | undefined)[];
  /** What is shown if no moderator has removed it. */
  otherwise: ReactNode;
}

/** In place of a page whose subject does not exist, or may not be read by the viewer: says why a moderator has removed it. */
export function RemovalPage({ actionsOn, otherwise }: RemovalPageProps) {
  const removal = actionsOn.map((log) => removalIn(readFragment(REMOVAL_PAGE, log)?.nodes ?? [])).find(Boolean);
  if (!removal) return otherwise;
  const [type = ""] = removal.subjectId.split(":");
  return (
    <Page title={t("removed")}>
      <p className="notice">
        <Why
          said={t(type === "article" ? "article-removed" : "comment-removed-by-moderator")}
          reason={removal.reason}
          subject={removal.subjectId}
        />
      </p>
      <p>
        <Words id="go-to-front-page" link={(text) => <Link href="/">{text}</Link>} />
      </p>
    </Page>
  );
}
