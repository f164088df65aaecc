import { lazy, Suspense, useEffect, useId, useRef } from "react";
import { withSeparators } from "../counts";
import { lazyFile } from "../files";
import { Observable, useObservable } from "../observable";
import type { Ranking } from "../ranking";
import { t } from "../words";

const standing = lazyFile(() => import("./Standing"));
const Standing = lazy(standing.load);

/** The id of the box with an explanation that is shown: there is one at most. */
const shown = new Observable<string | null>(null);

const DELAY = 400; // milliseconds that a pointer rests or a finger presses: a passing pointer opens nothing

interface ExplainedCountProps {
  /** The id of the article. */
  id: string;
  votes: number;
  ranking: Ranking;
}

/**
 * The votes of an article. Pointing at them, focusing or pressing them shows why the article has its rank, until Escape or
 * the pointer is pressed, or the focus moves.
 */
export function ExplainedCount({ id, votes, ranking }: ExplainedCountProps) {
  const button = useRef<HTMLButtonElement>(null);
  const timer = useRef<ReturnType<typeof setTimeout>>(undefined);
  const boxId = useId();
  const isShown = useObservable(shown) === boxId;
  useEffect(() => hide, []);
  useEffect(() => {
    if (!isShown) return;
    const end = new AbortController();
    const { signal } = end;
    const hideBeside = ({ target }: Event) => target !== button.current && hide();
    document.addEventListener("keydown", ({ key }) => key === "Escape" && hide(), { signal });
    document.addEventListener("pointerdown", hideBeside, { signal });
    document.addEventListener("focusin", hideBeside, { signal });
    return () => end.abort();
  }, [isShown]);

  function stop() {
    clearTimeout(timer.current);
  }

  function showSoon() {
    void standing.load();
    stop();
    timer.current = setTimeout(show, DELAY);
  }

  function show() {
    stop();
    shown.set(boxId);
  }

  function hide() {
    stop();
    if (shown.get() === boxId) shown.set(null);
  }

  return (
    <>
      <button
        ref={button}
        type="button"
        className="count"
        aria-label={t("votes", { count: votes })}
        aria-describedby={isShown ? boxId : undefined}
        aria-keyshortcuts="y"
        onPointerEnter={showSoon}
        onPointerDown={showSoon}
        onPointerLeave={hide}
        onFocus={({ currentTarget }) => currentTarget.matches(":focus-visible") && showSoon()}
        onBlur={hide}
        onClick={show}
        onContextMenu={(event) => event.preventDefault()} // of a long press
      >
        {withSeparators(votes)}
      </button>
      {isShown && (
        <Suspense>
          <Standing key={votes} boxId={boxId} articleId={id} ranking={ranking} />
        </Suspense>
      )}
    </>
  );
}
