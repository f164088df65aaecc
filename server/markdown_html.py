"""
Markdown of articles and comments as HTML and as plain text, for clients that render no Markdown themselves.

comrak renders CommonMark with tables and strikethrough. HTML in a text is text like any other (`without_html`), and nh3
removes whatever is not in its lists. Images become links, so that a text loads nothing from other hosts.
"""

import asyncio
import re
from collections.abc import Callable, Sequence
from functools import partial
from html import escape, unescape
from itertools import accumulate

import nh3
from comrak import ExtensionOptions, ParseOptions, RenderOptions, render_markdown

from caches import POOL

TAGS = {
    "a", "blockquote", "br", "code", "del", "em", "h1", "h2", "h3", "h4", "h5", "h6", "hr", "li", "ol", "p", "pre",
    "strong", "table", "tbody", "td", "th", "thead", "tr", "ul",
}  # fmt: skip
ATTRIBUTES = {"a": {"href", "title"}, "ol": {"start"}}
SCHEMES = {"http", "https", "mailto"}
PAGE_ATTRIBUTES = ATTRIBUTES | {f"h{level}": {"id"} for level in range(1, 7)}
LINK_REL = "nofollow ugc noopener noreferrer"
TEXT_LENGTH = 5_000  # characters of a text that feeds and clients get; the page has the rest
MAX_DEPTH = 100  # of elements within each other: nh3 takes time in proportion to the square of it
MAX_HTML = 100_000  # characters of the HTML of a text
CUT = "…"  # the end of a text that was cut
HTML_OF_TEXT = 8  # characters of HTML that are read for each character of plain text; the rest is ignored
CHARACTER_BYTES = 4  # of a character of a str, at most
SPACES = re.compile(r"\s+")
INCOMPLETE = re.compile("[<&][^<>&;]*$")  # a tag or a character reference at the end of a text that was cut
LAST_WORD = re.compile(r"\s\S*$")
TAG = re.compile("<(/?)(?!br|hr)[a-z]")  # of an element that may have others in it
# the empty link that comrak puts into each heading with an id, and an image, as comrak writes them
ANCHOR = re.compile('<a href="#[^"]*" aria-label="[^"]*" data-heading-content="[^"]*" class="anchor"></a>')
IMAGE = re.compile('<img src="([^"]*)" alt="([^"]*)"( title="[^"]*")? />')
NO_TAG = "\x01"  # after a <, which then begins no tag; texts of users have no control characters
# The start of a tag, comment or declaration. The first part finds what has a < of its own: addresses of links.
TAG_START = re.compile(
    r"(\]\([^\s)]*|\]:\s*\S*|<[a-z][a-z0-9+.-]{1,31}:[^\s<>]*>|<[^\s<>@]+@[^\s<>]+>)|<(?=[a-z/!?])", re.I
)

HTML = POOL.cache("html", microseconds=60)  # by the text, which takes about so long to render
EXTENSIONS, PARSING, RENDERING = ExtensionOptions(), ParseOptions(), RenderOptions()
EXTENSIONS.table = EXTENSIONS.strikethrough = True
RENDERING.escape = True
PAGE_EXTENSIONS = ExtensionOptions()
PAGE_EXTENSIONS.table = PAGE_EXTENSIONS.strikethrough = True
PAGE_EXTENSIONS.header_id_prefix = ""


def to_html(markdown: str) -> str:
    """
    The text as HTML with the elements `TAGS` and absolute links only. A text with more than `MAX_HTML` characters of
    HTML, or with elements nested more than `MAX_DEPTH` deep, is shown as it was written.

    Takes up to 1.5 us a character, mostly without the interpreter's lock.
    """
    html = without_html(markdown, EXTENSIONS, PARSING, RENDERING)
    found = bounded(with_images_linked(html), _clean)
    return as_written(markdown) if found is None else found


def page_to_html(markdown: str, path: str) -> str:
    """
    A page of the operator's as HTML: as `to_html`, but its headings have ids, and it has links within the site. These
    are relative to the root of the site, as pages have a `<base>`, also one like `#part`.
    """
    html = ANCHOR.sub("", without_html(markdown, PAGE_EXTENSIONS, PARSING, RENDERING))
    found = bounded(with_images_linked(html), partial(_clean_page, path))
    return as_written(markdown) if found is None else found


def without_html(markdown: str, extensions: ExtensionOptions, parsing: ParseOptions, rendering: RenderOptions) -> str:
    """
    What comrak makes of a text that has no HTML: where it looks like HTML, it is text, as in reader/src/markdown.ts.
    comrak would put it outside of paragraphs, and would leave the Markdown within it as it is.
    """
    text = TAG_START.sub(lambda found: found[1] or f"<{NO_TAG}", markdown)
    return render_markdown(text, extensions, parsing, rendering).replace(NO_TAG, "")


def as_written(markdown: str) -> str:
    return f"<pre>{escape(markdown)}</pre>\n"


def with_images_linked(html: str) -> str:
    return IMAGE.sub(_linked, html)


def bounded(html: str, clean: Callable[[str], str]) -> str | None:
    """
    The HTML as `clean` returns it. None if it has more than `MAX_HTML` characters, before or after that, or if elements
    are nested more than `MAX_DEPTH` deep.
    """
    if len(html) > MAX_HTML or _depth(html) > MAX_DEPTH:
        return None
    found = clean(html)
    return found if len(found) <= MAX_HTML else None


def _linked(image: re.Match[str]) -> str:
    source, text, title = image.groups("")
    return f'<a href="{source}"{title}>{text or source}</a>'


def _depth(html: str) -> int:
    """How many elements are open at once, at most."""
    return max(accumulate(-1 if tag[1] else 1 for tag in TAG.finditer(html)), default=0)


def _clean(html: str) -> str:
    return nh3.clean(
        html,
        tags=TAGS,
        attributes=ATTRIBUTES,
        url_schemes=SCHEMES,
        url_relative="deny",
        link_rel=LINK_REL,
    )


def _clean_page(path: str, html: str) -> str:
    return nh3.clean(
        html,
        tags=TAGS,
        attributes=PAGE_ATTRIBUTES,
        attribute_filter=partial(_within_site, path),
        url_schemes=SCHEMES,
        url_relative="pass_through",
        link_rel="noopener",
    )


def _within_site(path: str, tag: str, attribute: str, value: str) -> str | None:
    """
    A filter of attributes for nh3: makes a link to another page of the site, or to a part (`#part`) of the page at
    `path`, relative to the root of the site. Other values stay; None removes the attribute. comrak leaves "" of an
    address that would run a script.
    """
    if attribute != "href" or value.startswith("//"):
        return value
    if value.startswith("#"):
        return path + value
    return f".{value}" if value.startswith("/") else value or None


async def render(texts: Sequence[str]) -> list[str]:
    """The HTML of each text, in the order of the texts. Those that are not in the cache are rendered in a thread."""
    known: dict[str, str] = {text: html for text in texts if (html := HTML.get(text)) is not None}
    missing = [text for text in dict.fromkeys(texts) if text not in known]
    if missing:
        for text, html in zip(missing, await asyncio.to_thread(_each_to_html, missing), strict=True):
            known[text] = html
            HTML.put(text, html, CHARACTER_BYTES * (len(text) + len(html)))
    return [known[text] for text in texts]


def _each_to_html(texts: list[str]) -> list[str]:
    return [to_html(text) for text in texts]


def text_of(html: str, length: int) -> str:
    """The text of rendered HTML in one line of at most `length` characters; a longer one is cut at a word."""
    start = html if len(html) <= HTML_OF_TEXT * length else INCOMPLETE.sub("", html[: HTML_OF_TEXT * length])
    text = SPACES.sub(" ", unescape(nh3.clean(start, tags=set()))).strip()
    return cut(text, length)


def excerpt(text: str) -> str:
    """The part of a text that feeds and clients get."""
    return cut(text, TEXT_LENGTH)


def cut(text: str, length: int) -> str:
    """The first words of a text: at most `length` characters with `…`, or all of a text that is no longer."""
    if len(text) <= length:
        return text
    start = text[: length - 1]
    words = start if text[length - 1].isspace() else LAST_WORD.sub("", start)
    return (words if len(words) > length // 2 else start).rstrip() + CUT
