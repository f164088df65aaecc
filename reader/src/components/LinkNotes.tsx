import { useEffect, useState } from "react";
import { useQuery } from "urql";
import { Link } from "wouter";
import { articlePath } from "../addresses";
import { graphql } from "../gql";
import { AfterMoment } from "./Page";
import { Time } from "./Time";
import { t } from "../words";
import { Words } from "./Words";

const POSTED_BEFORE = graphql(`
  query PostedBefore($link: URL!) {
    articlesByLink(link: $link, first: 2) {
      nodes {
        id
        title
        postedAt
        commentCount
      }
    }
  }
`);

const LINK_TITLE = graphql(`
  query LinkTitle($link: URL!) {
    linkTitle(link: $link)
  }
`);

const PAUSE = 500; // milliseconds without a key

interface LinkNotesProps {
  link: string;
  /** The id of the article that is edited, which has the link itself; null for a new one. */
  edited: string | null;
  /** Whether a title is typed already: then the title of the linked page is not suggested. */
  hasTitle: boolean;
  onTitle: (title: string) => void;
}

/** What is known of a link while it is typed: that it was posted before, and the title of the linked page. */
export function LinkNotes({ link, edited, hasTitle, onTitle }: LinkNotesProps) {
  const typed = useSettled(link.trim());
  const isLink = /^https?:\/\/./i.test(typed) && URL.canParse(typed);
  const [before] = useQuery({ query: POSTED_BEFORE, variables: { link: typed }, pause: !isLink });
  const [title] = useQuery({ query: LINK_TITLE, variables: { link: typed }, pause: !isLink || hasTitle });
  const posted = isLink ? before.data?.articlesByLink?.nodes.find(({ id }) => id !== edited) : undefined;
  const suggested = isLink && !hasTitle ? title.data?.linkTitle : null;
  const isAsked = isLink && !hasTitle && title.fetching;

  function take({ form }: HTMLButtonElement, title: string) {
    form?.querySelector<HTMLElement>("[name=title]")?.focus(); // the button will be gone
    onTitle(title);
  }

  return (
    <div className="notes" role="status">
      {posted && (
        <p>
          <Words
            id="posted-before"
            time={<Time at={posted.postedAt} />}
            comments={t("comments", { count: posted.commentCount })}
            link={
              <Link href={articlePath(posted.id)}>
                <bdi>{posted.title}</bdi>
              </Link>
            }
          />
        </p>
      )}
      {isAsked && (
        <AfterMoment>
          <p className="hint">{t("title-asked")}</p>
        </AfterMoment>
      )}
      {suggested && !isAsked && (
        <p>
          <Words id="page-calls-itself" title={<bdi>{suggested}</bdi>} />{" "}
          <button type="button" onClick={({ currentTarget }) => take(currentTarget, suggested)}>
            {t("take-title")}
          </button>
        </p>
      )}
    </div>
  );
}

/** A value once it has not changed for a moment. */
function useSettled(value: string): string {
  const [settled, settle] = useState(value);
  useEffect(() => {
    const timer = setTimeout(() => settle(value), PAUSE);
    return () => clearTimeout(timer);
  }, [value]);
  return settled;
}
