import { Link } from "wouter";
import { Page } from "../components/Page";
import { usePageQuery } from "../frame";
import { graphql } from "../gql";
import { t } from "../words";
import { Words } from "../components/Words";

const NO_PAGE = graphql(`
  query NoPage {
    ...Frame
  }
`);

/** An address that no page has. It asks for what the header shows. */
export function NoPage() {
  usePageQuery(NO_PAGE, {});
  return <NotFound />;
}

/** What a page shows whose query has found nothing. */
export function NotFound() {
  return (
    <Page title={t("not-found")}>
      <p>
        <Words id="not-found-text" link={(text) => <Link href="/">{text}</Link>} />
      </p>
    </Page>
  );
}
