import type { Client } from "urql";
import { BASE_PATH } from "./addresses";
import { rankingOf } from "./components/Orders";
import { PAGE_SIZE } from "./components/RankedArticles";
import { askBeforeRendering } from "./frame";
import { FRONT_PAGE } from "./pages/FrontPage";

/**
 * Loads the data of the front page into the cache of the client, if that is the page: the server has sent its HTML, which
 * is shown until then.
 */
export async function loadFirstPage(client: Client): Promise<void> {
  const ranking = location.pathname === `${BASE_PATH}/` ? rankingOf(location.search) : null;
  if (ranking) await askBeforeRendering(client, FRONT_PAGE, { ...ranking, first: PAGE_SIZE });
}
