import "./pages.css";
import { Link } from "wouter";
import { articlePath, commentPath } from "../addresses";
import { Appeal } from "../components/Appeal";
import { LiveList } from "../components/LiveList";
import { waitsWords } from "../components/HeldEdit";
import { LogInFirst } from "../components/LogInFirst";
import { Markdown } from "../components/Markdown";
import { Content, Page } from "../components/Page";
import { Pager } from "../components/Pager";
import { Time } from "../components/Time";
import { Why } from "../components/Why";
import { cursorPages, useCursors } from "../cursors";
import { usePageQuery } from "../frame";
import { graphql, readFragment, type FragmentType } from "../gql";
import { useSession } from "../session";
import { t } from "../words";
import { Words } from "../components/Words";

const HELD_LINE = graphql(`
  fragment HeldLine on Votable {
    __typename
    id
    heldBy
    removal {
      id
      reason
      ...Appealed
    }
    ... on Article {
      title
      postedAt
    }
    ... on Comment {
      content
      postedAt
      article {
        id
        title
      }
    }
  }
`);

const HELD = graphql(`
  query Held($first: Int, $after: String, $last: Int, $before: String) {
    ...Frame # what the header shows
    held(first: $first, after: $after, last: $last, before: $before) {
      nodes {
        id
        ...HeldLine
      }
      pageInfo {
        ...Cursors
      }
    }
  }
`);

/** What the viewer posted and others cannot read: what moderators removed, and what waits for them. */
export default function HeldPage() {
  if (useSession() === null) {
    return (
      <Page title={t("held-title")}>
        <LogInFirst reason={t("held-first")} />
      </Page>
    );
  }
  return <Held />;
}

function Held() {
  const [result, retry] = usePageQuery(HELD, useCursors());
  return (
    <Page title={t("held-title")} isReady={!result.fetching}>
      <p className="filter">{t("held-what")}</p>
      <Content result={result} retry={retry}>
        {({ held }) =>
          held && (
            <>
              <LiveList
                items={held.nodes}
                idOf={({ id }) => id}
                textOfNews="new-texts"
                className="items"
                empty={<p className="empty">{t("nothing-held")}</p>}
              >
                {(text) => <HeldLine text={text} />}
              </LiveList>
              <Pager {...cursorPages("/held", held.pageInfo)} />
            </>
          )
        }
      </Content>
    </Page>
  );
}

function HeldLine({ text: fragment }: { text: FragmentType<typeof HELD_LINE> }) {
  const text = readFragment(HELD_LINE, fragment);
  const { id, heldBy, removal } = text;
  const isArticle = text.__typename === "Article";
  const title = isArticle ? text.title : text.article.title;
  const path = isArticle ? articlePath(id) : commentPath(text.article.id, id);
  const link = (
    <Link href={path} aria-keyshortcuts="o">
      {title}
    </Link>
  );
  return (
    <article
      className="line"
      data-keyboard-item=""
      tabIndex={-1}
      aria-label={isArticle ? title : t("comment-on-title", { title })}
    >
      <h2 dir="auto">{isArticle ? link : <Words id="comment-on-link" link={link} />}</h2>
      {!isArticle && text.content && <Markdown text={text.content} />}
      <p className="details">
        <Time at={text.postedAt} />
        <span className="on">
          <Why
            said={removal ? t("moderator-removed-it") : waitsWords(t("it-waits"), heldBy)}
            reason={removal?.reason}
            subject={id}
          />
        </span>
      </p>
      {removal && <Appeal key={removal.id} actionId={removal.id} />}
    </article>
  );
}
