import { Link } from "wouter";
import { Page } from "../components/Page";

export function NotFound() {
  return (
    <Page title="Not found">
      <p>
        There is nothing at this address. Go to the <Link href="/">front page</Link>.
      </p>
    </Page>
  );
}
