import { lazy, Suspense, useEffect, useLayoutEffect, useRef, useState, type ReactNode, type RefObject } from "react";
import { flushSync } from "react-dom";
import { useMutation } from "urql";
import { Link, useLocation, useSearch } from "wouter";
import { CAN_REGISTER, logPath, LOGO, LOGO_WIDTH, IS_NAME_LONG, SITE_NAME, SITE_PAGES, withQuery } from "../addresses";
import { useBan } from "../bans";
import { useRenewal } from "../changes";
import { headersOf } from "../client";
import { explain } from "../errors";
import { failures, lazyFile } from "../files";
import { NOTIFICATION, useSeenMarks, useUnseenCount } from "../frame";
import { graphql } from "../gql";
import { listenToKeys } from "../keyboard";
import { withLanguage } from "../language";
import { useLive } from "../live";
import { logInPath } from "../log-in";
import { useObservable } from "../observable";
import { moderatesAnything, useRoles } from "../roles";
import { endSession, useSession, type Session } from "../session";
import { say, sayProblem } from "../status";
import { switchTheme, useTheme } from "../theme";
import { AccountMenu } from "./AccountMenu";
import { LanguageOffer } from "./LanguageOffer";
import { FIRST_ORDER } from "./Orders";
import { Status } from "./Status";
import { t } from "../words";

const Help = lazy(lazyFile(() => import("./Help")).load);
const Waiting = lazy(lazyFile(() => import("../desk/Waiting")).load);
const BanLine = lazy(lazyFile(() => import("./BanLine")).load);

const LOG_OUT = graphql(`
  mutation LogOut {
    logOut {
      userErrors {
        ...Refused
      }
    }
  }
`);

const UNSEEN_COUNT = graphql(`
  query UnseenCount {
    inbox {
      id
      unseenCount
    }
  }
`);

/** What is around each page: the header, the status line and the dialog with the keys. */
export function Frame({ children }: { children: ReactNode }) {
  const main = useRef<HTMLElement>(null);
  const [isHelpShown, showHelp] = useState(false);
  // not an effect after the paint: keys that are pressed as soon as the page shows would be lost
  useLayoutEffect(() => listenToKeys(() => showHelp(true)), []);
  return (
    <>
      <button type="button" className="skip" onClick={() => main.current?.focus()}>
        {t("skip")}
      </button>
      <Header />
      <OwnBan />
      <main ref={main} tabIndex={-1}>
        {children}
      </main>
      <footer>
        <button type="button" onClick={() => showHelp(true)}>
          {t("keyboard")}
        </button>
        <Link href="/comments">{t("footer-comments")}</Link>
        <Link href={logPath()}>{t("moderation-log")}</Link>
        {SITE_PAGES.map((path) => (
          <a key={path} href={withLanguage(path)}>
            {t(`page-${path}`)}
          </a>
        ))}
        <a href={`rss.xml?order=${FIRST_ORDER}`}>{t("rss")}</a>
        <a href="explorer">{t("graphql")}</a>
      </footer>
      <LanguageOffer />
      <Status />
      {isHelpShown && (
        <Suspense fallback={<HelpPending close={() => showHelp(false)} />}>
          <Help close={() => showHelp(false)} />
        </Suspense>
      )}
    </>
  );
}

/** Tells the viewer about a ban from the whole site, if there is one. */
function OwnBan() {
  const ban = useBan();
  return (
    ban && (
      <Suspense>
        <BanLine ban={ban} />
      </Suspense>
    )
  );
}

/** In place of the dialog with the keys while its file is loaded; closes it if that fails. */
function HelpPending({ close }: { close: () => void }) {
  const hasFailed = useObservable(failures) > 0;
  useEffect(() => {
    if (!hasFailed) return;
    sayProblem(t("keys-not-shown"));
    close();
  }, [hasFailed]);
  return null;
}

function Header() {
  const session = useSession();
  const account = useRef<HTMLDivElement>(null);
  return (
    <header>
      <Link href={session ? "/home" : "/"} className={IS_NAME_LONG ? "site long" : "site"}>
        {LOGO ? (
          <img src={LOGO} alt="" className="logo" width={LOGO_WIDTH} height={20} />
        ) : (
          <svg viewBox="0 0 16 16" aria-hidden="true">
            <path d="M8 2l7 12H1z" />
          </svg>
        )}
        <span dir="auto">{SITE_NAME}</span>
      </Link>
      <nav aria-label={t("site")}>
        {LINKS.map(({ path, name }) => (
          <PageLink key={path} path={path} name={name} />
        ))}
        {moderatesAnything(useRoles()) && <DeskLink />}
      </nav>
      <SearchBox />
      <div className="account" ref={account}>
        {session ? <Account session={session} area={account} /> : <Visitor />}
        <ThemeButton />
      </div>
    </header>
  );
}

function PageLink({ path, name }: { path: string; name: string }) {
  const [current] = useLocation();
  return (
    <Link href={path} aria-current={current === path ? "page" : undefined}>
      {t(name)}
    </Link>
  );
}

/** A link to the pages of moderators, with the number of things that wait for them. Where there is no room, it is a shield. */
function DeskLink() {
  const [current] = useLocation();
  return (
    <Link href="/moderation" className="desk" aria-current={current === "/moderation" ? "page" : undefined}>
      <svg viewBox="0 0 16 16" aria-hidden="true">
        <path d="M8 1.300l5.500 2v4.200c0 3.200-2.200 5.900-5.500 7.200-3.300-1.300-5.500-4-5.500-7.200v-4.200z" />
      </svg>
      <span className="name">{t("nav-moderation")}</span>
      <Suspense>
        <Waiting />
      </Suspense>
    </Link>
  );
}

function Visitor() {
  useLocation(); // the links lead back to the page that is shown
  return (
    <>
      <Link href={logInPath("/log-in")}>{t("log-in")}</Link>
      {CAN_REGISTER && <Link href={logInPath("/register")}>{t("register")}</Link>}
    </>
  );
}

interface AccountProps {
  session: Session;
  /** The element that it is shown in. */
  area: RefObject<HTMLElement | null>;
}

function Account({ session, area }: AccountProps) {
  const unseen = useUnseenCount();
  const [, logOut] = useMutation(LOG_OUT);
  const renew = useRenewal(UNSEEN_COUNT, {});
  useLive(NOTIFICATION, {}, { onGap: renew });
  useSeenMarks(renew);

  async function leave() {
    // Only the server can remove the cookie. `keepalive`: it is told even if the page is closed at once.
    const { error } = await logOut({}, { fetchOptions: { headers: headersOf(session), keepalive: true } });
    if (error) return sayProblem(t("still-logged-in", { reason: explain(error) }));
    flushSync(endSession);
    if (document.activeElement === document.body) area.current?.querySelector("a")?.focus(); // the button is gone
    say(t("logged-out"));
  }

  return (
    <>
      <Link href="/inbox" className="sign">
        <svg viewBox="0 0 16 16" aria-hidden="true">
          <path d="M1.500 3.500h13v9h-13zl6.500 5 6.500-5" />
        </svg>
        <span className="name">{t("inbox")}</span>
        {unseen > 0 && (
          <>
            {" "}
            <UnseenCount count={unseen} />
          </>
        )}
      </Link>
      <AccountMenu username={session.username} logOut={() => void leave()} />
    </>
  );
}

const MOST_SHOWN = 99; // unseen notifications; of more the header says that there are more

/** Phones show the number only; screen readers hear "new" there, too. */
function UnseenCount({ count }: { count: number }) {
  return (
    <span className="unseen">
      {count > MOST_SHOWN ? `${MOST_SHOWN}+` : count}
      <span className="word"> {t("unseen-word")}</span>
    </span>
  );
}

function SearchBox() {
  const [location, navigate] = useLocation();
  const query = new URLSearchParams(useSearch()).get("q");
  const shown = location === "/search" ? (query ?? "") : "";
  return (
    <search>
      <form
        key={shown}
        onSubmit={(event) => {
          event.preventDefault();
          navigate(withQuery("/search", { q: String(new FormData(event.currentTarget).get("q")) }));
        }}
      >
        <input
          type="search"
          name="q"
          aria-label={t("search")}
          placeholder={t("search")}
          defaultValue={shown}
          maxLength={500}
          dir="auto"
          aria-keyshortcuts="/"
        />
      </form>
    </search>
  );
}

function ThemeButton() {
  const other = useTheme() === "dark" ? "light" : "dark";
  return (
    <button type="button" className="theme" aria-label={t(`theme-${other}`)} onClick={() => switchTheme(other)}>
      <svg viewBox="0 0 16 16" aria-hidden="true">
        <circle cx="8" cy="8" r="6.2" />
        <path d="M8 1.800a6.200 6.200 0 0 0 0 12.400z" />
      </svg>
    </button>
  );
}

const LINKS = [
  { path: "/", name: "nav-all" },
  { path: "/groups", name: "nav-groups" },
  { path: "/feed", name: "nav-feed" },
  { path: "/post", name: "nav-post" },
];
