import { useSearch } from "wouter";
import { ISSUERS, logInAddressAt, LOGIN_URL, withQuery } from "../addresses";
import { nextPath, rememberNext } from "../log-in";
import { t } from "../words";

/**
 * Links to log in elsewhere: on a page of the operator (`LOGIN_URL`), or at an issuer of identities (`ISSUERS`).
 * The server leads to an issuer, and then back to this page: `entered` in its address says that there may be a session,
 * and `failed` why there is none.
 */
export function OtherWays() {
  const search = useSearch();
  const failed = new URLSearchParams(search).get("failed");
  const next = nextPath(search);
  const end = withQuery("/log-in", { entered: "1", next: next === "/" ? null : next });
  if (!LOGIN_URL && ISSUERS.length === 0) return null;
  return (
    <>
      {failed && (
        <div className="fault" role="alert">
          <p>{t(failed === "ended" ? "log-in-ended" : failed === "refused" ? "log-in-refused" : "log-in-later")}</p>
        </div>
      )}
      <ul className="ways">
        {LOGIN_URL && (
          <li>
            <a href={LOGIN_URL} onClick={() => rememberNext(next)}>
              {t("log-in-at", { host: new URL(LOGIN_URL).hostname })}
            </a>
          </li>
        )}
        {ISSUERS.map((issuer) => (
          <li key={issuer}>
            <a href={logInAddressAt(issuer, end)}>{t("log-in-with", { issuer })}</a>
          </li>
        ))}
      </ul>
    </>
  );
}
