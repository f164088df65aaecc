import "../pages/pages.css";
import { FRONT_DOORS, LOGIN_URL } from "../addresses";
import { OtherWays } from "./OtherWays";
import { Page } from "./Page";

/** What pages of passwords show where the site has none of its own: where one logs in instead. */
export function Elsewhere({ title }: { title: string }) {
  const hasWays = LOGIN_URL !== undefined || FRONT_DOORS.length > 0;
  return (
    <Page title={title}>
      <p>
        {hasWays
          ? "This site has no passwords of its own: you log in with an account that you have elsewhere."
          : "Nobody can log in on these pages."}
      </p>
      <OtherWays />
    </Page>
  );
}
