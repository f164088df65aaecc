import type { Client } from "urql";
import { BASE_PATH } from "./addresses";
import { rankingOf } from "./components/Orders";
import { ARTICLES_PER_PAGE } from "./components/RankedArticles";
import { askBeforeRendering } from "./frame";
import { FRONT_PAGE } from "./pages/FrontPage";

/**
 * If the address is the front page's, loads its data into the cache of the client. Meanwhile the HTML that the server
 * has sent is shown.
 */
export async function loadFirstPage(client: Client): Promise<void> {
  const ranking = location.pathname === `${BASE_PATH}/` ? rankingOf(location.search) : null;
  if (ranking) await askBeforeRendering(client, FRONT_PAGE, { ...ranking, first: ARTICLES_PER_PAGE });
}
