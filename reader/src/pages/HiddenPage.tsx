import "./pages.css";
import { useClient } from "urql";
import { ArticleLine } from "../components/ArticleLine";
import { LiveList } from "../components/LiveList";
import { LogInFirst } from "../components/LogInFirst";
import { Content, Page } from "../components/Page";
import { Pager } from "../components/Pager";
import { cursorPages, useCursors } from "../cursors";
import { usePageQuery } from "../frame";
import { graphql } from "../gql";
import { setHidden } from "../hiding";
import { useSession } from "../session";
import { t } from "../words";

const HIDDEN = graphql(`
  query HiddenArticles($first: Int, $after: String, $last: Int, $before: String) {
    ...Frame # what the header shows
    home {
      id
      hidden(first: $first, after: $after, last: $last, before: $before) {
        nodes {
          id
          title
          viewerHasHidden
          ...ArticleLine
        }
        pageInfo {
          ...Cursors
        }
      }
    }
  }
`);

/** What the viewer has hidden, the latest hidden first. */
export default function HiddenPage() {
  if (useSession() === null) {
    return (
      <Page title={t("hidden-title")}>
        <LogInFirst reason={t("hidden-first")} />
      </Page>
    );
  }
  return <Hidden />;
}

function Hidden() {
  const [result, retry] = usePageQuery(HIDDEN, useCursors());
  return (
    <Page title={t("hidden-title")} isReady={!result.fetching}>
      <p className="filter">{t("hidden-what")}</p>
      <Content result={result} retry={retry}>
        {({ home }) =>
          home && (
            <>
              <LiveList
                items={home.hidden.nodes}
                idOf={({ id }) => id}
                textOfNews="new-articles"
                className="articles with-button"
                empty={<p className="empty">{t("nothing-hidden")}</p>}
              >
                {(article) => (
                  <>
                    <ArticleLine article={article} />
                    <HideButton article={article} />
                  </>
                )}
              </LiveList>
              <Pager {...cursorPages("/hidden", home.hidden.pageInfo)} />
            </>
          )
        }
      </Content>
    </Page>
  );
}

interface HideButtonProps {
  article: { id: string; title: string; viewerHasHidden: boolean };
}

/** Takes an article out of what is hidden, or hides it again. The article stays in the list until the page is left. */
function HideButton({ article: { id, title, viewerHasHidden } }: HideButtonProps) {
  const client = useClient();
  const text = viewerHasHidden ? t("do-not-hide") : t("hide-again");
  return (
    <button
      type="button"
      aria-label={t("named-action", { action: text, name: title })}
      onClick={() => void setHidden(client, id, title, !viewerHasHidden)}
    >
      {text}
    </button>
  );
}
