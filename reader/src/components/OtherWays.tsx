import { useSearch } from "wouter";
import { FRONT_DOORS, frontDoor, LOGIN_URL, withQuery } from "../addresses";
import { nextPath, rememberNext } from "../log-in";
import { t } from "../words";

/**
 * Links to log in elsewhere: on the site's own page (`LOGIN_URL`), and at issuers of identities through the server (`FRONT_DOORS`),
 * which then sends the browser back to this page; `entered` says that there may be a session now.
 */
export function OtherWays() {
  const search = useSearch();
  const next = nextPath(search);
  const end = withQuery("/log-in", { entered: "1", next: next === "/" ? null : next });
  if (!LOGIN_URL && FRONT_DOORS.length === 0) return null;
  return (
    <ul className="ways">
      {LOGIN_URL && (
        <li>
          <a href={LOGIN_URL} onClick={() => rememberNext(next)}>
            {t("log-in-at", { host: new URL(LOGIN_URL).hostname })}
          </a>
        </li>
      )}
      {FRONT_DOORS.map((issuer) => (
        <li key={issuer}>
          <a href={frontDoor(issuer, end)}>{t("log-in-with", { issuer })}</a>
        </li>
      ))}
    </ul>
  );
}
