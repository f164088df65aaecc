// All addresses are relative to the base of the document, so the pages work under any path of a proxy. The server tells
// the settings of the site in `<meta>` elements of the page, whose names begin with `upvote-`.

const BASE = new URL(document.baseURI);

/** The path of the site without a slash at its end: the base of the router. */
export const BASE_PATH = BASE.pathname.replace(/\/$/, "");

/** The name of the site, which the server puts into the page. */
export const SITE_NAME = meta("application-name") ?? "Upvote";
/** Whether phones show the name in two lines of small letters. The server's site_name.html decides it likewise. */
export const IS_NAME_LONG = [...SITE_NAME].length > 12;

/** What the operator has added: the address of a logo and its width in pixels, the paths of pages, and a sentence for visitors. */
export const [LOGO, LOGO_WIDTH] = meta("upvote-logo")?.split(" ") ?? [];
export const SITE_PAGES = meta("upvote-pages")?.split(" ") ?? [];
export const WELCOME = meta("upvote-welcome");

/** The orders of articles that the site has, the front page's first; undefined on Vite's development server. */
export const ORDER_NAMES = meta("upvote-orders")?.split(" ");
/** Whether the site has an order of articles, as is assumed of all on Vite's development server. */
export const hasOrder = (order: string): boolean => ORDER_NAMES?.includes(order) ?? true;
/** How many orders are shown as links; the others are below "More". */
export const SHOWN_ORDER_COUNT = Number(meta("upvote-shown-orders") ?? 4);

/** Who may register: `open`, `invited` or `closed`. The server says so in the page unless everybody may. */
export const REGISTRATION = meta("upvote-registration") ?? "open";

/** Whether the site has passwords of its own. */
export const HAS_PASSWORDS = meta("upvote-passwords") !== "off";

/** Whether the site sends mails, such as those with a link to choose a new password. */
export const SENDS_MAIL = meta("upvote-mail") !== "off";

/** Whether somebody may register here, at least with an invitation. */
export const CAN_REGISTER = HAS_PASSWORDS && REGISTRATION !== "closed";

const ONLY_ADMINS_MAKE_GROUPS = meta("upvote-groups") === "listed";
/** The names of groups that only admins make, in small letters and digits only, as the server compares them. */
const RESERVED_GROUPS = new Set(meta("upvote-reserved-groups")?.split(" "));

/** Whether the first article that is posted to a group makes it; else only admins do. */
export function isMadeByPosting(group: string): boolean {
  return !ONLY_ADMINS_MAKE_GROUPS && !RESERVED_GROUPS.has(group.toLowerCase().replace(/[^a-z0-9]+/g, ""));
}

/** The hosts from which pictures of users are shown. */
export const AVATAR_HOSTS: readonly string[] = meta("upvote-avatar-hosts")?.split(" ") ?? [];

/** The names of the issuers (identity providers, "front doors" of the server) at which users can log in. */
export const ISSUERS = meta("upvote-front-doors")?.split(" ") ?? [];
/** The operator's own page to log in, if there is one. */
export const LOGIN_URL = meta("upvote-login-url");

/** The address at which a log-in at an issuer begins; it leads back to `end`, a path of the site. */
export const logInAddressAt = (issuer: string, end: string): string =>
  new URL(`log-in/${issuer}?${new URLSearchParams({ next: end })}`, BASE).href;

/** The address at which an invited person registers. The invitation is in the fragment, which browsers do not send. */
export const invitationLink = (invitation: string): string => new URL(`register#${invitation}`, BASE).href;

export const ENDPOINT = new URL("graphql", BASE);
/** Where the viewer's data is downloaded. */
export const EXPORT = new URL("export", BASE);

/** The number in an id, by which addresses name its article or comment: `12` of `article:12`. */
export function numberOf(id: string): string {
  return id.slice(id.indexOf(":") + 1);
}

export const articlePath = (id: string): string => `/article/${numberOf(id)}`;

export const commentPath = (articleId: string, id: string): string =>
  `${articlePath(articleId)}/comment/${numberOf(id)}`;

/** The name that all deleted users have. They have no page. */
export const DELETED_USER = "[deleted]";

export const userPath = (username: string): string => `/user/${encodeURIComponent(username)}`;

export const groupPath = (name: string): string => `/group/${encodeURIComponent(name)}`;

/** The log of moderation: all of it, or what is about an article, a comment or a user, or was done in a group. */
export const logPath = (of: { subject?: string; group?: string } = {}): string => withQuery("/log", of);

/** A path with its query; parameters without a value are left out. */
export function withQuery(path: string, parameters: Record<string, string | number | null | undefined>): string {
  const query = new URLSearchParams();
  for (const [name, value] of Object.entries(parameters)) {
    if (value !== null && value !== undefined && value !== "") query.set(name, String(value));
  }
  return query.size > 0 ? `${path}?${query}` : path;
}

/** The content of the page's `<meta>` element with this name. */
export function meta(name: string): string | undefined {
  return document.querySelector<HTMLMetaElement>(`meta[name=${name}]`)?.content;
}
