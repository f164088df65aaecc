import { useEffect, useRef, useState, type ReactNode } from "react";
import type { CombinedError, UseQueryState } from "urql";
import { SITE_NAME } from "../addresses";
import { explain } from "../errors";
import { useScrollAndFocus } from "../history";
import { message, sayProblem } from "../status";
import { t } from "../words";

interface PageProps {
  /** The heading, and with the site's name the title of the window. */
  title: ReactNode;
  /** The title of the window where the heading is no text. */
  windowTitle?: string;
  /** Whether the heading is on the screen, or for screen readers only. */
  isHeadingShown?: boolean;
  /** False while the content is loading: then the scroll position is not yet restored. */
  isReady?: boolean;
  children: ReactNode;
}

/** A page with its heading, which gets the focus after a navigation. */
export function Page({ title, windowTitle, isHeadingShown = true, isReady = true, children }: PageProps) {
  const heading = useRef<HTMLHeadingElement>(null);
  const text = windowTitle ?? (typeof title === "string" ? title : "");
  useEffect(() => {
    document.title = text && text !== SITE_NAME ? `${text} · ${SITE_NAME}` : SITE_NAME;
  }, [text]);
  useScrollAndFocus(heading, isReady);
  return (
    <>
      <h1 ref={heading} tabIndex={-1} dir="auto" className={isHeadingShown ? undefined : "hidden"}>
        {title}
      </h1>
      {children}
    </>
  );
}

/** Call it before a focused button disappears. The keyboard then goes on from the page's heading, not the header. */
export function focusHeading(): void {
  document.querySelector<HTMLElement>("main h1")?.focus({ preventScroll: true });
}

interface ContentProps<Data> {
  /** What `useQuery` of urql returned, and its function that sends the query again. */
  result: Pick<UseQueryState<Data>, "data" | "error" | "fetching" | "operation">;
  retry: (options?: { requestPolicy: "network-only" }) => void;
  children: (data: Data) => ReactNode;
}

/**
 * Shows what a query returned; before that, that it is loading; if it failed, why, with a button to ask again. What is
 * shown stays when the query is sent again and fails, but not with other variables: the key is of query and variables.
 */
export function Content<Data>(props: ContentProps<Data>) {
  return <Result key={props.result.operation?.key} {...props} />;
}

function Result<Data>({ result: { data, error }, retry, children }: ContentProps<Data>) {
  const askAgain = () => retry({ requestPolicy: "network-only" });
  const [isShown, setShown] = useState(false);
  if (data && !error && !isShown) setShown(true);
  useEffect(() => {
    if (error && isShown && !message.get()?.isProblem) sayProblem(explain(error)); // what is shown stays where it is
  }, [error, isShown]);
  return (
    <>
      {error && !isShown && <Fault error={error} retry={askAgain} />}
      {data ? children(data) : !error && <Loading />}
    </>
  );
}

/** Says that something is loading, if it takes long enough to be noticed. */
export const Loading = () => (
  <p className="loading" aria-live="polite">
    <AfterMoment>{t("loading")}</AfterMoment>
  </p>
);

/** Shows its content after a moment, for what says that something is waited for. */
export function AfterMoment({ children }: { children: ReactNode }) {
  const [isOver, setOver] = useState(false);
  useEffect(() => {
    const timer = setTimeout(() => setOver(true), 300);
    return () => clearTimeout(timer);
  }, []);
  return isOver && children;
}

interface FaultProps {
  error: CombinedError;
  retry: () => void;
}

/** Why there is nothing to show, and a button to ask again. The page also asks when the network is back. */
export function Fault({ error, retry }: FaultProps) {
  useEffect(() => {
    window.addEventListener("online", retry);
    return () => window.removeEventListener("online", retry);
  }, [retry]);
  return (
    <div className="fault" role="alert">
      <p>{explain(error)}</p>
      <button type="button" onClick={retry}>
        {t("try-again")}
      </button>
    </div>
  );
}
