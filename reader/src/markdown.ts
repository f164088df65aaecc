/**
 * Markdown of users as elements: rendered by marked, cleaned by DOMPurify. HTML in a text is shown as it was written, and
 * images are links, so that no other host is asked for anything.
 */

import DOMPurify from "dompurify";
import { Marked } from "marked";

const TEXT_TAGS = ["p", "br", "hr", "strong", "em", "del", "span", "code", "pre", "blockquote", "ul", "ol", "li", "a"];
const TABLE_TAGS = ["table", "thead", "tbody", "tr", "th", "td"];
const MAX_COLUMNS = 20; // of a table: each of its rows gets as many cells
const MAX_HTML = 400_000; // characters: ten times those of the longest text, as in server/markdown_html.py
const BLOCKS = "br, hr, p, pre, blockquote, li, tr, th, td"; // which begin with a space in plain text
const PLAIN_LENGTH = 200; // characters
const ADDRESSES = /^(?:https?:\/\/|mailto:)[^\s]/i; // that a link may have
const MENTION = /(?<![\p{L}\p{N}@/.+\-=&#%\\])@([A-Za-z0-9_-]{2,20})(?![A-Za-z0-9_@-])/gu; // as in store/mentions.py

const marked = new Marked({
  tokenizer: {
    // `undefined`: there is no such token here, so it stays text; `false`: marked reads it as usual.
    html: () => undefined,
    tag: () => undefined,
    table: (source) => (columns(source) > MAX_COLUMNS ? undefined : false),
  },
  renderer: {
    // Headings of users are paragraphs, so that they are not in the outline of the page.
    heading({ tokens }) {
      return `<p><strong>${this.parser.parseInline(tokens)}</strong></p>`;
    },
    // CommonMark strips the blanks at the end of a paragraph, marked does not.
    paragraph({ tokens }) {
      return `<p>${this.parser.parseInline(tokens).replace(/[ \t]+$/, "")}</p>\n`;
    },
    image({ href, text }) {
      return `<a href="${escape(href)}">${escape(text || href)}</a>`;
    },
    checkbox({ checked }) {
      return checked ? "☑ " : "☐ ";
    },
    // A node of its own, so that `\@name` is no mention.
    text(token) {
      return token.type === "escape" ? `<span>${escape(token.text)}</span>` : false;
    },
  },
});

/** Elements of a text. Its links have http, https or mailto; mentions are links to `user/NAME` below the page's base. */
export function render(text: string): DocumentFragment {
  const fragment = DOMPurify.sanitize(html(text), {
    ALLOWED_TAGS: [...TEXT_TAGS, ...TABLE_TAGS],
    ALLOWED_ATTR: ["href", "start"],
    ALLOW_ARIA_ATTR: false,
    ALLOW_DATA_ATTR: false,
    ALLOWED_URI_REGEXP: ADDRESSES,
    ADD_URI_SAFE_ATTR: ["start"],
    RETURN_DOM_FRAGMENT: true,
  });
  for (const link of fragment.querySelectorAll("a")) restrict(link);
  linkMentions(fragment);
  return fragment;
}

/** The beginning of a text in one line, without its Markdown, as `plain` of server/reader/texts.py. */
export function plainStart(text: string): string {
  const fragment = render(text);
  for (const block of fragment.querySelectorAll(BLOCKS)) block.before(" ");
  const plain = (fragment.textContent ?? "").replaceAll(/\s+/g, " ").trim();
  return cut(plain || text);
}

/** The first words of a text: at most `PLAIN_LENGTH` characters with "…". */
function cut(text: string): string {
  const characters = [...text];
  if (characters.length <= PLAIN_LENGTH) return text;
  const start = characters.slice(0, PLAIN_LENGTH - 1).join("");
  const words = /\s/.test(characters[PLAIN_LENGTH - 1] ?? "") ? start : start.replace(/\s\S*$/, "");
  return `${([...words].length > PLAIN_LENGTH / 2 ? words : start).trimEnd()}…`;
}

/** The HTML of a text; one that would be too large, or is nested deeper than the stack, is shown as it was written. */
function html(text: string): string {
  try {
    const rendered = marked.parse(text, { async: false });
    if (rendered.length <= MAX_HTML) return rendered;
  } catch (error) {
    if (!(error instanceof RangeError)) throw error;
  }
  return `<pre>${escape(text)}</pre>`;
}

/** The columns of a table that may begin here, at most: those of its first line. */
function columns(source: string): number {
  const end = source.indexOf("\n");
  return source.slice(0, end < 0 ? undefined : end).split("|").length - 1;
}

/** Marks a link as one of a user. A link whose address is not allowed has lost it, and becomes its text. */
function restrict(link: HTMLAnchorElement): void {
  if (link.hasAttribute("href")) link.rel = "nofollow ugc noopener";
  else link.replaceWith(...link.childNodes);
}

function linkMentions(fragment: DocumentFragment): void {
  const walker = document.createTreeWalker(fragment, NodeFilter.SHOW_TEXT);
  const texts: Text[] = [];
  while (walker.nextNode()) texts.push(walker.currentNode as Text);
  for (const text of texts) if (!text.parentElement?.closest("a, code")) text.replaceWith(...withMentions(text.data));
}

function withMentions(text: string): (string | HTMLAnchorElement)[] {
  const parts: (string | HTMLAnchorElement)[] = [];
  let end = 0;
  for (const { 0: mention, 1: name = "", index } of text.matchAll(MENTION)) {
    parts.push(
      text.slice(end, index),
      Object.assign(document.createElement("a"), { textContent: mention, href: `user/${name}` }),
    );
    end = index + mention.length;
  }
  return [...parts, text.slice(end)];
}

function escape(text: string): string {
  return text.replace(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`);
}
