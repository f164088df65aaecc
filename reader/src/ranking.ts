import { createContext } from "react";
import { FIRST_ORDER } from "./components/Orders";
import type { ArticleOrder } from "./gql/graphql";

/** The ranking that a list is a page of. */
export interface Ranking {
  order: ArticleOrder;
  /** Undefined for the whole site. */
  group?: string | undefined;
}

/** The ranking of the lists below the provider; without a provider, that of the front page. */
export const RankingContext = createContext<Ranking>({ order: FIRST_ORDER });
