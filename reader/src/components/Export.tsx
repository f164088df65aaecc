import { useState } from "react";
import { EXPORT } from "../addresses";
import { headersOf } from "../client";
import { explainResponse } from "../errors";
import type { Session } from "../session";
import { say, sayProblem } from "../status";
import { t } from "../words";

/** A button that downloads all that is kept about the viewer. */
export function Export({ session }: { session: Session }) {
  const [isFetching, setFetching] = useState(false);

  async function download() {
    if (isFetching) return;
    setFetching(true);
    say(t("data-collected"));
    try {
      await save(session);
    } finally {
      setFetching(false);
    }
  }

  return (
    <section aria-labelledby="export">
      <h2 id="export">{t("your-data")}</h2>
      <p>{t("your-data-text")}</p>
      <p>
        <button type="button" aria-disabled={isFetching} onClick={() => void download()}>
          {t("download-data")}
        </button>
      </p>
    </section>
  );
}

/** Fetches the file and hands it to the browser. No link would do: the cookie counts for requests by scripts only. */
async function save(session: Session): Promise<void> {
  let content: Blob;
  try {
    const response = await fetch(EXPORT, { method: "POST", headers: headersOf(session) });
    if (!response.ok) return sayProblem(explainResponse(response));
    content = await response.blob();
  } catch {
    return sayProblem(explainResponse());
  }
  const link = document.createElement("a");
  link.href = URL.createObjectURL(content);
  link.download = `upvote-${session.username}.zip`;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 60_000); // the browser may still read it
  say(t("data-downloaded"));
}
