import { useSearch } from "wouter";
import { SiteLists } from "../components/SiteLists";
import { rankingOf, rankingPath, rankingTitle } from "../components/Orders";
import { Content, Page } from "../components/Page";
import { Pager } from "../components/Pager";
import { ARTICLES_PER_PAGE, RankedArticles } from "../components/RankedArticles";
import { usePageQuery } from "../frame";
import { graphql } from "../gql";
import type { ArticleOrder } from "../gql/graphql";
import { SITE_NAME, WELCOME } from "../addresses";
import { withLanguage } from "../language";
import { useSession } from "../session";
import { NoPage } from "./NotFound";
import { t } from "../words";

export const FRONT_PAGE = graphql(`
  query FrontPage($order: ArticleOrder!, $page: Int!, $first: Int!) {
    ...Frame # what the header shows
    articles(order: $order, page: $page, first: $first) {
      pageInfo {
        hasNextPage
      }
      ...Articles
    }
  }
`);

/** The articles of the whole site in one of its orders. */
export function FrontPage() {
  const ranking = rankingOf(useSearch());
  return ranking ? <Ranking key={`${ranking.order} ${ranking.page}`} {...ranking} /> : <NoPage />;
}

function Ranking({ order, page }: { order: ArticleOrder; page: number }) {
  const [result, retry] = usePageQuery(FRONT_PAGE, { order, page, first: ARTICLES_PER_PAGE });
  const title = rankingTitle(order, page);
  const windowTitle = rankingPath("/", order, page) === "/" ? SITE_NAME : title;
  return (
    <Page {...{ title, windowTitle }} isHeadingShown={false} isReady={!result.fetching}>
      <Welcome />
      <SiteLists order={order} />
      <Content result={result} retry={retry}>
        {({ articles }) =>
          articles && (
            <>
              <RankedArticles articles={articles} order={order} page={page} />
              <Pager
                previous={page > 1 ? rankingPath("/", order, page - 1) : null}
                next={articles.pageInfo.hasNextPage ? rankingPath("/", order, page + 1) : null}
              />
            </>
          )
        }
      </Content>
    </Page>
  );
}

/** The sentence that the operator has for visitors. The server's HTML has it, too. */
function Welcome() {
  const session = useSession();
  if (session || !WELCOME) return null;
  return (
    <p className="welcome" dir="auto">
      {WELCOME} <a href={withLanguage("about")}>{t("welcome-about")}</a>
    </p>
  );
}
