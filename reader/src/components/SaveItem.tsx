import { useClient } from "urql";
import { useLocation } from "wouter";
import { reasonOf } from "../errors";
import { graphql, readFragment } from "../gql";
import { logInPath } from "../log-in";
import { useSession } from "../session";
import { say, sayProblem } from "../status";
import { t } from "../words";

const SAVED = graphql(`
  fragment SavedSubject on SavePayload {
    subject {
      __typename
      id
      viewerHasSaved
    }
    userErrors {
      ...Refused
    }
  }
`);

const SAVE = graphql(`
  mutation Save($input: SaveInput!) {
    saved: save(input: $input) {
      ...SavedSubject
    }
  }
`);

const UNSAVE = graphql(`
  mutation Unsave($input: SaveInput!) {
    saved: unsave(input: $input) {
      ...SavedSubject
    }
  }
`);

interface SaveItemProps {
  /** The id of the article or the comment. */
  id: string;
  /** Its title, or "comment by alice". */
  name: string;
  isSaved: boolean;
  /** Closes the menu. */
  close: () => void;
}

/** An item of the menu of an article or a comment: it saves it for the viewer, or takes it out of what is saved. */
export function SaveItem({ id, name, isSaved, close }: SaveItemProps) {
  const client = useClient();
  const session = useSession();
  const [, navigate] = useLocation();

  async function choose() {
    close();
    if (session === null) {
      navigate(logInPath());
      return say(t("log-in-to-save"));
    }
    const result = await client.mutation(isSaved ? UNSAVE : SAVE, { input: { subjectId: id } });
    const reason = reasonOf(result.error, readFragment(SAVED, result.data?.saved)?.userErrors);
    if (reason) return sayProblem(t(isSaved ? "still-saved" : "not-saved", { name, reason }));
    say(isSaved ? t("saved-no-more", { name }) : t("saved", { name }));
  }

  return (
    <button type="button" onClick={() => void choose()}>
      {t(isSaved ? "unsave-item" : "save-item")}
    </button>
  );
}
