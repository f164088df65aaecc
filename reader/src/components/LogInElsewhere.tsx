import "../pages/pages.css";
import { FRONT_DOORS, LOGIN_URL } from "../addresses";
import { OtherWays } from "./OtherWays";
import { Page } from "./Page";
import { t } from "../words";

/** Shown by pages about passwords if the site has no passwords of its own: says where to log in instead. */
export function LogInElsewhere({ title }: { title: string }) {
  const hasWays = LOGIN_URL !== undefined || FRONT_DOORS.length > 0;
  return (
    <Page title={title}>
      <p>{hasWays ? t("no-passwords") : t("nobody-logs-in")}</p>
      <OtherWays />
    </Page>
  );
}
