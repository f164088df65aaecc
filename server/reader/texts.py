"""
Texts of users in the HTML of pages: Markdown with the elements that the reader's script makes of it
(`reader/src/markdown.ts`), so that nothing changes when the script takes over.
"""

import asyncio
import re
from collections.abc import Sequence
from hashlib import blake2b
from html import escape
from typing import NamedTuple

import nh3
from comrak import ExtensionOptions, ParseOptions, RenderOptions
from markupsafe import Markup

from caches import POOL
from server.markdown_html import CHARACTER_BYTES, TAGS, bounded, cut, text_of, with_images_linked, without_html

MAX_TEXTS = 160_000  # bytes of all texts of a page, which has at most 200,000
MAX_HTML = 40_000  # bytes of the HTML of one text; a longer one is shown as it was written, and cut
MAX_WRITTEN = 5_000  # characters of one that is shown as it was written
PLAIN_LENGTH = 200  # characters of the plain text
PAGE_TAGS = {tag for tag in TAGS if not re.fullmatch("h[1-6]", tag)} | {"span"}
PAGE_ATTRIBUTES: dict[str, set[str]] = {"*": set(), "a": {"href"}, "ol": {"start"}}
SCHEMES = {"http", "https", "mailto"}
LINK_REL = "nofollow ugc noopener"
HEADING = re.compile("<(/?)h[1-6]>")
HEADING_TAGS = {"": "<p><strong>", "/": "</strong></p>"}
CHECKBOX = re.compile(r'<input type="checkbox"( checked="")? disabled="" />\s*')
DEAD_LINK = re.compile(r'<a rel="[^"]*">(.*?)</a>', re.DOTALL)  # its address was no http, https or mailto
PART = re.compile("(<[^>]*>)")  # tags and texts by turns: in attributes > is escaped by nh3
MENTION = re.compile(r"(?<![\w@/.+\-=&#%\\])@([A-Za-z0-9_-]{2,20})(?![A-Za-z0-9_@-])")  # as in reader/src/markdown.ts

EXTENSIONS, PARSING, RENDERING = ExtensionOptions(), ParseOptions(), RenderOptions()
EXTENSIONS.table = EXTENSIONS.strikethrough = EXTENSIONS.autolink = EXTENSIONS.tasklist = True
RENDERING.escape = RENDERING.escaped_char_spans = True


class RenderedText(NamedTuple):
    """
    A text as HTML, its beginning as plain text (`plain`), and as plain text all that is shown of it (`whole`). If a
    text is too large, it `is_plain`: its HTML is the Markdown itself, cut. `digest` is the digest of the Markdown.
    """

    html: Markup
    plain: str
    is_plain: bool = False
    digest: bytes = b""
    whole: str = ""


NO_TEXT = RenderedText(Markup(""), "")
TEXTS = POOL.cache("texts", microseconds=120)  # by digest; a text takes about so long to render


async def render_texts(texts: Sequence[str]) -> list[RenderedText]:
    """
    Each text as HTML, in the order of the texts. Those that are not in the cache, by their digests, are rendered in a
    thread.
    """
    keys = [blake2b(text.encode(), digest_size=16).digest() for text in texts]
    known = {key: found for key, found in zip(keys, TEXTS.get_all(keys), strict=True) if found is not None}
    missing = {key: text for key, text in zip(keys, texts, strict=True) if key not in known}
    if missing:
        for key, made in zip(missing, await asyncio.to_thread(_each_rendered, list(missing.values())), strict=True):
            known[key] = found = made._replace(digest=key)
            TEXTS.put(key, found, CHARACTER_BYTES * (len(found.html) + len(found.plain) + len(found.whole)))
    return [known[key] for key in keys]


def rendered(markdown: str) -> RenderedText:
    """Markdown as HTML: headings as bold lines, images as links, boxes of task lists as characters."""
    html = CHECKBOX.sub(_box, without_html(markdown, EXTENSIONS, PARSING, RENDERING))
    html = HEADING.sub(lambda heading: HEADING_TAGS[heading[1]], with_images_linked(html))
    clean = bounded(html, _clean)
    if clean and len(clean.encode()) <= MAX_HTML:
        whole = text_of(clean, MAX_HTML)
        return RenderedText(Markup(clean), cut(whole, PLAIN_LENGTH), whole=whole)
    written = cut(markdown, MAX_WRITTEN)
    return RenderedText(Markup(escape(written)), cut(markdown, PLAIN_LENGTH), is_plain=True, whole=written)


def _each_rendered(texts: list[str]) -> list[RenderedText]:
    return [rendered(text) if text else NO_TEXT for text in texts]


def _box(checkbox: re.Match[str]) -> str:
    return "☑ " if checkbox[1] else "☐ "


def _clean(html: str) -> str:
    clean = nh3.clean(
        html,
        tags=PAGE_TAGS,
        attributes=PAGE_ATTRIBUTES,
        url_schemes=SCHEMES,
        url_relative="deny",
        link_rel=LINK_REL,
    )
    clean = DEAD_LINK.sub(r"\1", clean)
    return _with_mentions(clean) if "@" in clean else clean


def _with_mentions(html: str) -> str:
    """Mentions as links to `user/NAME`, but none in code, and none in another link."""
    within, parts = 0, []
    for part in PART.split(html):
        if part.startswith("<"):
            within += _step(part)
        elif not within:
            part = MENTION.sub(r'<a href="user/\1">@\1</a>', part)
        parts.append(part)
    return "".join(parts)


def _step(tag: str) -> int:
    """By how many a tag changes the number of open links and code."""
    if tag.startswith(("</a>", "</code>")):
        return -1
    return 1 if tag.startswith(("<a ", "<code>")) else 0
