import { useLocation, useSearch } from "wouter";
import { withQuery } from "../addresses";
import { Articles } from "../components/Articles";
import { SiteLists } from "../components/SiteLists";
import { Content, Page } from "../components/Page";
import { Pager } from "../components/Pager";
import { usePageQuery } from "../frame";
import { graphql } from "../gql";
import { fullDay } from "../times";
import { NoPage } from "./NotFound";
import { t } from "../words";

const GOOD = graphql(`
  query Good($date: Date, $after: String) {
    ...Frame # what the header shows
    frontPage(date: $date, after: $after) {
      pageInfo {
        hasNextPage
        endCursor
      }
      ...Articles
    }
  }
`);

/** The newest articles with enough votes (`isGood`), all or those of a day: the list that the schema calls `frontPage`. */
export default function GoodPage() {
  const date = new URLSearchParams(useSearch()).get("date");
  return date === null || isDay(date) ? <GoodArticles date={date} /> : <NoPage />;
}

function GoodArticles({ date }: { date: string | null }) {
  const parameters = new URLSearchParams(useSearch());
  const [, navigate] = useLocation();
  const after = parameters.get("after");
  const [result, retry] = usePageQuery(GOOD, { date, after });
  // Each typed part of a date changes the address. With the same state it is the same visit, so the focus stays.
  const choose = (day: string) => navigate(withQuery("/good", { date: day }), { replace: true, state: history.state });
  return (
    <Page
      title={date ? t("list-good-of-day", { day: fullDay(date) }) : t("list-good-title")}
      isHeadingShown={false}
      isReady={!result.fetching}
    >
      <SiteLists path="/good" />
      <p className="filter">
        <label>
          {t("list-good-day")}{" "}
          <input
            type="date"
            value={date ?? ""}
            max={new Date().toISOString().slice(0, 10)}
            onChange={({ target }) => choose(target.value)}
          />
        </label>
      </p>
      <Content result={result} retry={retry}>
        {({ frontPage }) =>
          frontPage && (
            <>
              <Articles articles={frontPage} empty={t("list-good-empty")} />
              <Pager
                previous={after === null ? null : withQuery("/good", { date })}
                next={nextPath(date, frontPage.pageInfo)}
              />
            </>
          )
        }
      </Content>
    </Page>
  );
}

function isDay(text: string): boolean {
  const date = new Date(`${text}T00:00Z`);
  return !Number.isNaN(date.getTime()) && date.toISOString().startsWith(text);
}

function nextPath(date: string | null, info: { hasNextPage: boolean; endCursor?: string | null }): string | null {
  return info.hasNextPage ? withQuery("/good", { date, after: info.endCursor }) : null;
}
