import "../pages/pages.css";
import { ISSUERS, LOGIN_URL } from "../addresses";
import { OtherWays } from "./OtherWays";
import { Page } from "./Page";
import { t } from "../words";

/**
 * A page in place of pages about passwords if the site has no passwords of its own. It says where to log in instead.
 */
export function LogInElsewhere({ title }: { title: string }) {
  const hasWays = LOGIN_URL !== undefined || ISSUERS.length > 0;
  return (
    <Page title={title}>
      <p>{hasWays ? t("no-passwords") : t("nobody-logs-in")}</p>
      <OtherWays />
    </Page>
  );
}
