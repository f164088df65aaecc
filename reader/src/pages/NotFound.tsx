import type { ReactNode } from "react";
import { Link } from "wouter";
import { isMadeByPosting, withQuery } from "../addresses";
import { Page } from "../components/Page";
import { usePageQuery } from "../frame";
import { graphql, readFragment, type FragmentType } from "../gql";
import { t } from "../words";
import { Words } from "../components/Words";

const NO_PAGE = graphql(`
  query NoPage {
    ...Frame # what the header shows
  }
`);

/** The page of an address that no page has. Its query is only for what the header shows. */
export function NoPage() {
  usePageQuery(NO_PAGE, {});
  return <NotFound />;
}

/** What a page shows if its query has found nothing; `children` is a further paragraph. */
export function NotFound({ children }: { children?: ReactNode }) {
  return (
    <Page title={t("not-found")}>
      <p>
        <Words id="not-found-text" link={(text) => <Link href="/">{text}</Link>} />
      </p>
      {children}
    </Page>
  );
}

/** The fields that tell whether a group has a page: see `exists`. */
const EXISTENCE = graphql(`
  fragment Existence on Group {
    title
    about
    isListed
    viewerIsFollowing
    viewerCanModerate
    all: articles(first: 1) {
      totalCount
    }
  }
`);

/**
 * Whether a group has a page: an admin has made it, it has an article, or something is written about it. The server's
 * HTML decides likewise. The page is always there for users who follow or moderate the group.
 */
export function exists(fragment: FragmentType<typeof EXISTENCE> | null | undefined): boolean {
  const group = readFragment(EXISTENCE, fragment);
  if (!group) return false;
  const { title, about, isListed, viewerIsFollowing, viewerCanModerate, all } = group;
  return Boolean(all?.totalCount || isListed || title || about || viewerIsFollowing || viewerCanModerate);
}

/**
 * The page of a group that does not exist, with a link to post there if that makes it. `name` is undefined if no group
 * can have the name.
 */
export function NoGroup({ name }: { name: string | undefined }) {
  if (name !== undefined && !isMadeByPosting(name)) return <NotFound />;
  const begin = (text: ReactNode) => <Link href={withQuery("/post", { group: name ?? "" })}>{text}</Link>;
  return (
    <NotFound>
      <p>{name === undefined ? t("no-group-of-name") : <Words id="begin-group" name={name} link={begin} />}</p>
    </NotFound>
  );
}
