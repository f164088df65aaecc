import "../pages/pages.css";
import { FRONT_DOORS, LOGIN_URL } from "../addresses";
import { OtherWays } from "./OtherWays";
import { Page } from "./Page";
import { t } from "../words";

/** What pages of passwords show where the site has none of its own: where one logs in instead. */
export function Elsewhere({ title }: { title: string }) {
  const hasWays = LOGIN_URL !== undefined || FRONT_DOORS.length > 0;
  return (
    <Page title={title}>
      <p>{hasWays ? t("no-passwords") : t("nobody-logs-in")}</p>
      <OtherWays />
    </Page>
  );
}
