import "./pages.css";
import { ArticleLine } from "../components/ArticleLine";
import { CommentLine } from "../components/CommentLine";
import { LiveList } from "../components/LiveList";
import { LogInFirst } from "../components/LogInFirst";
import { Content, Page } from "../components/Page";
import { Pager } from "../components/Pager";
import { cursorPages, useCursors } from "../cursors";
import { usePageQuery } from "../frame";
import { graphql } from "../gql";
import { useSession } from "../session";
import { t } from "../words";

const SAVED = graphql(`
  query Saved($first: Int, $after: String, $last: Int, $before: String) {
    ...Frame # what the header shows
    home {
      id
      saved(first: $first, after: $after, last: $last, before: $before) {
        nodes {
          __typename
          id
          ... on Article {
            ...ArticleLine
          }
          ... on Comment {
            ...CommentLine
          }
        }
        pageInfo {
          ...Cursors
        }
      }
    }
  }
`);

/** What the viewer has saved, the latest saved first. */
export default function SavedPage() {
  if (useSession() === null) {
    return (
      <Page title={t("saved-title")}>
        <LogInFirst reason={t("saved-first")} />
      </Page>
    );
  }
  return <Saved />;
}

function Saved() {
  const [result, retry] = usePageQuery(SAVED, useCursors());
  return (
    <Page title={t("saved-title")} isReady={!result.fetching}>
      <p className="filter">{t("saved-only-you")}</p>
      <Content result={result} retry={retry}>
        {({ home }) =>
          home && (
            <>
              <LiveList
                items={home.saved.nodes}
                idOf={({ id }) => id}
                textOfNews="new-texts"
                className="items"
                empty={<p className="empty">{t("nothing-saved")}</p>}
              >
                {(node) =>
                  node.__typename === "Article" ? <ArticleLine article={node} /> : <CommentLine comment={node} />
                }
              </LiveList>
              <Pager {...cursorPages("/saved", home.saved.pageInfo)} />
            </>
          )
        }
      </Content>
    </Page>
  );
}
