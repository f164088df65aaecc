import "./pages.css";
import { Link, useSearch } from "wouter";
import { groupPath } from "../addresses";
import { useNewItems, useRenewal } from "../changes";
import { CommentLine } from "../components/CommentLine";
import { LiveList } from "../components/LiveList";
import { Content, Page } from "../components/Page";
import { Pager } from "../components/Pager";
import { cursorPages, isFirstPage, useCursors } from "../cursors";
import { usePageQuery } from "../frame";
import { graphql } from "../gql";
import { exists, NoGroup } from "./NotFound";
import { t } from "../words";
import { Words } from "../components/Words";

const COMMENTS = graphql(`
  query Comments($group: String, $name: String!, $first: Int, $after: String, $last: Int, $before: String) {
    ...Frame # what the header shows
    group(name: $name) {
      id
      name
      ...Existence
    }
    comments(group: $group, first: $first, after: $after, last: $last, before: $before) {
      nodes {
        id
        ...CommentLine
      }
      pageInfo {
        ...Cursors
      }
    }
  }
`);

const NEW_COMMENT = graphql(`
  subscription NewComment($group: String) {
    commentPosted(group: $group) {
      id
    }
  }
`);

/** The comments of the site or of a group, newest first. */
export default function CommentsPage() {
  const search = useSearch();
  return <Comments key={search} />;
}

function Comments() {
  const group = new URLSearchParams(useSearch()).get("group") || null;
  const cursors = useCursors();
  const variables = { group, name: group ?? "", ...cursors };
  const [result, retry] = usePageQuery(COMMENTS, variables);
  const readAgain = useRenewal(COMMENTS, variables);
  const isWatched = isFirstPage(cursors) && result.data;
  const arrivals = useNewItems(NEW_COMMENT, isWatched ? { group } : null, readAgain);
  if (group && result.data && !exists(result.data.group)) return <NoGroup name={result.data.group?.name} />;
  return (
    <Page title={group ? t("comments-in", { group }) : t("comments-title")} isReady={!result.fetching}>
      {group && (
        <p className="filter">
          <Words
            id="only-in-group"
            group={<Link href={groupPath(group)}>{group}</Link>}
            all={(text) => <Link href="/comments">{text}</Link>}
          />
        </p>
      )}
      <Content result={result} retry={retry}>
        {({ comments }) =>
          comments && (
            <>
              <LiveList
                items={comments.nodes}
                idOf={({ id }) => id}
                textOfNews="new-comments"
                className="items"
                empty={<p className="empty">{t("no-comments-here")}</p>}
                arrivals={arrivals}
              >
                {(comment) => <CommentLine comment={comment} />}
              </LiveList>
              <Pager {...cursorPages("/comments", comments.pageInfo, { group })} />
            </>
          )
        }
      </Content>
      <p className="filter">
        <a href={group ? `${groupPath(group).slice(1)}/comments/rss.xml` : "comments/rss.xml"}>{t("rss")}</a>
      </p>
    </Page>
  );
}
