import { createContext } from "react";
import type { ArticleOrder } from "./gql/graphql";

/** The ranking that a list is a page of. */
export interface Ranking {
  order: ArticleOrder;
  /** Undefined for the whole site. */
  group?: string | undefined;
  /**
   * Whether the list is the viewer's home, which has the articles of groups that they follow. The API does not tell the
   * place of an article there: its place on the whole site is shown instead.
   */
  isHome?: boolean;
}

/**
 * The ranking of the list around a component, in which articles have a place; null in other lists, such as a search.
 */
export const RankingContext = createContext<Ranking | null>(null);
