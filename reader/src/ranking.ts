import { createContext } from "react";
import type { ArticleOrder } from "./gql/graphql";

/** The ranking that a list is a page of. */
export interface Ranking {
  order: ArticleOrder;
  /** Undefined for the whole site. */
  group?: string | undefined;
  /** Whether the list is the viewer's home: the API tells only places on the whole site. */
  isHome?: boolean;
}

/** The ranking that tells the places of the articles below the provider; null in lists that are none, such as a search. */
export const RankingContext = createContext<Ranking | null>(null);
