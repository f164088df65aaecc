import { Link } from "wouter";
import { Page } from "../components/Page";
import { t } from "../words";
import { Words } from "../components/Words";

export function NotFound() {
  return (
    <Page title={t("not-found")}>
      <p>
        <Words id="not-found-text" link={(text) => <Link href="/">{text}</Link>} />
      </p>
    </Page>
  );
}
