"""
Markdown of articles and comments as HTML and as plain text, for clients that render no Markdown themselves.

markdown-it-py renders CommonMark with tables and strikethrough, and shows raw HTML as text; nh3 then removes whatever
is not in its lists. Images become links, so that a text loads nothing from other hosts.
"""

import asyncio
import re
from collections.abc import Sequence
from html import unescape

import nh3
from markdown_it import MarkdownIt

from caches import shared_cache

TAGS = {
    *("a", "blockquote", "br", "code", "del", "em", "h1", "h2", "h3", "h4", "h5", "h6", "hr", "li", "ol", "p", "pre"),
    *("s", "strong", "table", "tbody", "td", "th", "thead", "tr", "ul"),
}
ATTRIBUTES = {"a": {"href", "title"}, "ol": {"start"}}
SCHEMES = {"http", "https", "mailto"}
LINK_REL = "nofollow ugc noopener noreferrer"
CUT = "…"  # the end of a text that was cut
HTML_OF_TEXT = 8  # characters of HTML that are read for each character of plain text; the rest is ignored
CHARACTER_BYTES = 4  # of a str, at most
SPACES = re.compile(r"\s+")
INCOMPLETE = re.compile("[<&][^<>&;]*$")  # a tag or a character reference at the end of a text that was cut
LAST_WORD = re.compile(r"\s\S*$")

HTML = shared_cache("html")
RENDERER = MarkdownIt("commonmark", {"html": False}).enable(["table", "strikethrough"]).disable("image")


def to_html(markdown: str) -> str:
    """
    The text as HTML with the elements `TAGS` and absolute links only.

    Takes up to 9 us a character: `render` does it in a thread.
    """
    return nh3.clean(
        RENDERER.render(markdown),
        tags=TAGS,
        attributes=ATTRIBUTES,
        url_schemes=SCHEMES,
        url_relative="deny",
        link_rel=LINK_REL,
    )


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


def cut(text: str, length: int) -> str:
    """The first words of a text: at most `length` characters with `…`, or all of a text that is no longer."""
    if len(text) <= length:
        return text
    start = text[: length - 1]
    words = start if text[length - 1].isspace() else LAST_WORD.sub("", start)
    return (words if len(words) > length // 2 else start).rstrip() + CUT
