import { useBrowserLocation, type BrowserLocationHook } from "wouter/use-browser-location";
import { meta } from "./addresses";
import { Observable, useObservable } from "./observable";
import { storage } from "./storage";
import { LANGUAGE } from "./words";

// `?lang=` of an address names the language of the page. All links keep it.

/** Whether the page is in another language than that of the site. */
const IS_OTHER_LANGUAGE = meta("upvote-site-language") !== undefined;

/** A path with the language of the page, if that is not the site's. */
export function withLanguage(path: string): string {
  if (!IS_OTHER_LANGUAGE || /[?&]lang=/.test(path)) return path;
  return `${path}${path.includes("?") ? "&" : "?"}lang=${LANGUAGE}`;
}

/** The location of the router: links and navigations keep the language. */
export const useLocationInLanguage: BrowserLocationHook & { hrefs?: (href: string) => string } = (options) => {
  const [path, navigate] = useBrowserLocation(options);
  return [path, (to, rest) => navigate(typeof to === "string" ? withLanguage(to) : to, rest)];
};
useLocationInLanguage.hrefs = withLanguage;

/**
 * By the code of each other language that the site has, such as `de`, a text in it that offers the page in that
 * language.
 */
const OFFERS = JSON.parse(meta("upvote-languages") ?? "{}") as Readonly<Record<string, string>>;
const KEY = "upvote-language-offer"; // of localStorage: there once the user has dismissed the offer

const isDismissed = new Observable(storage.read(KEY) !== null);

export function dismissOffer(): void {
  storage.write(KEY, "off");
  isDismissed.set(true);
}

/** The first of the browser's languages that the site has; null if it is the page's, or if the address names one. */
export function useOffer(): { code: string; text: string } | null {
  const isOff = useObservable(isDismissed);
  if (isOff || new URLSearchParams(location.search).has("lang")) return null;
  for (const wanted of navigator.languages) {
    if (primary(wanted) === primary(LANGUAGE)) return null;
    const code =
      Object.keys(OFFERS).find((each) => each === wanted) ??
      Object.keys(OFFERS).find((each) => each === primary(wanted));
    if (code) return { code, text: OFFERS[code] ?? "" };
  }
  return null;
}

/** `pt` of `pt-BR`. */
const primary = (code: string): string => code.split("-")[0] ?? code;

/** The address of the page that is shown in another language. */
export function addressIn(code: string): string {
  const address = new URL(location.href);
  address.searchParams.set("lang", code);
  return address.href;
}
