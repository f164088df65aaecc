import { useEffect } from "react";
import { failures } from "../files";
import { isReachable } from "../network";
import { useObservable } from "../observable";
import { sayProblem } from "../status";
import { storage } from "../storage";
import { Loading } from "./Page";
import { t } from "../words";

const RELOADED = "upvote-reloaded"; // the key of sessionStorage: when this tab last opened a page anew
const RELOAD_PAUSE = 60_000; // milliseconds

/**
 * Stands for a page while its file is loaded. If the file cannot be loaded, it says so, until the network is back. If
 * the server answers and the file is still missing, it is of an earlier version, or the browser has kept the failure:
 * then the page is opened anew, at most once a minute.
 */
export function Pending() {
  const failed = useObservable(failures);
  useEffect(() => {
    if (failed > 1) void reloadByItself(); // a second attempt has failed, too
  }, [failed]);
  return failed === 0 ? <Loading /> : <NotLoaded />;
}

/** Says that a page is not there, with a button that opens it anew. What was typed is kept as drafts. */
export function NotLoaded() {
  return (
    <div className="fault" role="alert">
      <p>{t("not-loaded")}</p>
      <button type="button" onClick={() => void reload()}>
        {t("try-again")}
      </button>
    </div>
  );
}

async function reload(): Promise<void> {
  if (await isReachable()) location.reload();
  else sayProblem(t("server-unreachable"));
}

async function reloadByItself(): Promise<void> {
  const last = Number(storage.read(RELOADED, "sessionStorage"));
  if (Date.now() - last < RELOAD_PAUSE || !(await isReachable())) return;
  storage.write(RELOADED, String(Date.now()), "sessionStorage");
  location.reload();
}
