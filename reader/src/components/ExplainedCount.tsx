import { lazy, Suspense, useContext, useEffect, useId, useRef, useState } from "react";
import { withSeparators } from "../counts";
import { file } from "../files";
import { RankingContext } from "../ranking";
import { t } from "../words";

const standing = file(() => import("./Standing"));
const Standing = lazy(standing.load);

const DELAY = 400; // milliseconds that a pointer rests or a finger presses: a passing pointer opens nothing

/** The votes of an article. Pointing at them, focusing or pressing them shows why the article has its rank. */
export function ExplainedCount({ id, votes }: { id: string; votes: number }) {
  const ranking = useContext(RankingContext);
  const [isShown, setShown] = useState(false);
  const timer = useRef<ReturnType<typeof setTimeout>>(undefined);
  const name = useId();
  useEffect(() => stop, []);

  function stop() {
    clearTimeout(timer.current);
  }

  function showSoon() {
    void standing.load();
    stop();
    timer.current = setTimeout(() => setShown(true), DELAY);
  }

  function hide() {
    stop();
    setShown(false);
  }

  return (
    <>
      <button
        type="button"
        className="count"
        aria-label={t("votes", { count: votes })}
        aria-describedby={isShown ? name : undefined}
        aria-keyshortcuts="y"
        onPointerEnter={showSoon}
        onPointerDown={showSoon}
        onPointerLeave={hide}
        onFocus={({ currentTarget }) => currentTarget.matches(":focus-visible") && showSoon()}
        onBlur={hide}
        onClick={() => (stop(), setShown(true))}
        onKeyDown={({ key }) => key === "Escape" && hide()}
        onContextMenu={(event) => event.preventDefault()} // of a long press
      >
        {withSeparators(votes)}
      </button>
      {isShown && (
        <Suspense>
          <Standing key={votes} name={name} id={id} ranking={ranking} />
        </Suspense>
      )}
    </>
  );
}
