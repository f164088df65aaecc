import type { Client } from "urql";
import { reasonOf } from "./errors";
import { graphql, readFragment } from "./gql";
import { Observable, useObservable } from "./observable";
import { say, sayProblem } from "./status";
import { t } from "./words";

const HIDDEN = graphql(`
  fragment HiddenArticle on HideArticlePayload {
    article {
      id
      viewerHasHidden
    }
    userErrors {
      ...Refused
    }
  }
`);

const HIDE = graphql(`
  mutation Hide($id: ID!) {
    hidden: hideArticle(input: { articleId: $id }) {
      ...HiddenArticle
    }
  }
`);

const UNHIDE = graphql(`
  mutation Unhide($id: ID!) {
    hidden: unhideArticle(input: { articleId: $id }) {
      ...HiddenArticle
    }
  }
`);

/**
 * The ids of articles hidden since the page was loaded. Lists still have a row for each, with a button that undoes it.
 */
const hidden = new Observable<ReadonlySet<string>>(new Set());

export const useIsHidden = (id: string): boolean => useObservable(hidden).has(id);

/** Hides an article from the viewer's home and feed, or shows it there again, and says so with a button that undoes it. */
export async function setHidden(client: Client, id: string, title: string, isHidden: boolean): Promise<void> {
  const { data, error } = await client.mutation(isHidden ? HIDE : UNHIDE, { id });
  const reason = reasonOf(error, readFragment(HIDDEN, data?.hidden)?.userErrors);
  if (reason) return sayProblem(t(isHidden ? "not-hidden" : "still-hidden", { title, reason }));
  const others = [...hidden.get()].filter((each) => each !== id);
  hidden.set(new Set(isHidden ? [...others, id] : others));
  const undo = () => void setHidden(client, id, title, !isHidden);
  say(t(isHidden ? "hidden-from-home" : "hidden-no-more", { title }), undo);
}
