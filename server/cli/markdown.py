"""
Turns the HTML of texts of Hacker News, which has paragraphs, italics, links and code only, into CommonMark. A line that
begins with `>` is a quotation there by custom, and becomes one.
"""

import re
from collections.abc import Iterator
from textwrap import dedent
from typing import Any

from markdownify import MarkdownConverter

from store.errors import Invalid

CUT = "\n\n[…]"  # the end of a text that was cut

PARAGRAPH = re.compile("<p>", re.IGNORECASE)
CODE = re.compile("<pre", re.IGNORECASE)
QUOTED = re.compile(r"\s*(?:&gt;|>)\s*(?=[^\s&<>=]|&(?!gt;|lt;))")  # not a comparison or a prompt: >=, >>>
CONTROLS = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f]")
LINK = re.compile(r"https?://[^\s<>\\]+", re.IGNORECASE)
ELLIPSIS = "..."  # of the shown text of a long link
# what Markdown takes for markup anywhere in a text, and at the start of a block
INLINE = re.compile(r"[\\`*_~<\[\]|]|&(?=#?[0-9A-Za-z]+;)")
BLOCK = re.compile(r"^(\s*)(#{1,6}(?=\s|$)|>|[-+](?=[\s-]|$))")
NUMBERED_ITEM = re.compile(r"^(\s*[0-9]{1,9})([.)](?=\s|$))")
FENCE = "```"
FENCES = re.compile("`{3,}")
ESCAPES = re.compile(r"(?:\\.|[^\\])*", re.DOTALL)  # all of a text but a backslash at its end that escapes nothing


def markdown(html: str, length: int) -> tuple[str, bool]:
    """
    The text as Markdown, and whether it was cut: a text of more than `length` characters ends after a paragraph, with
    "[…]". Control characters are removed.

    Raises:
        Invalid: its elements are nested too deeply.
    """
    paragraphs = PARAGRAPH.split(CONTROLS.sub("", html))
    try:
        text = _converted(paragraphs)
        return (text, False) if len(text) <= length else (_cut(paragraphs, length), True)
    except RecursionError as error:
        raise Invalid("text has elements that are nested too deeply", "text") from error


class _Converter(MarkdownConverter):
    """Escapes only what would be markup, and writes links as Hacker News shows them: by their addresses."""

    def escape(self, text: str, parent_tags: Any) -> str:
        escaped = BLOCK.sub(r"\1\\\2", INLINE.sub(r"\\\g<0>", text))
        return NUMBERED_ITEM.sub(r"\1\\\2", escaped)

    def convert_a(self, el: Any, text: str, parent_tags: Any) -> str:
        href, shown = str(el.get("href") or ""), el.get_text()
        if "_noformat" in parent_tags or not LINK.fullmatch(href):  # `_noformat`: within code
            return text
        is_shown = shown == href or (shown.endswith(ELLIPSIS) and href.startswith(shown[: -len(ELLIPSIS)]))
        return f"<{href}>" if is_shown or not text.strip() else f"[{text}](<{href}>)"

    def convert_pre(self, el: Any, text: str, parent_tags: Any) -> str:
        code, fence = dedent(text).strip("\r\n"), FENCE
        while fence in code:
            fence += "`"
        return f"\n\n{fence}\n{code}\n{fence}\n\n" if code.strip() else ""


# with `wrap`, a newline outside of code is a space, so that all lines of a paragraph are one
CONVERTER = _Converter(convert=["a", "blockquote", "i", "p", "pre", "code"], wrap=True, wrap_width=None)


def _converted(paragraphs: list[str]) -> str:
    """
    The paragraphs of a text as Markdown. Each is closed: HTML closes it where the next one begins, but the parser would
    nest them.
    """
    html = "".join(block for each in paragraphs for block in _blocks(each))
    text: str = CONVERTER.convert(html)
    return text.strip()


def _blocks(paragraph: str) -> Iterator[str]:
    """A paragraph as HTML, each quoted line of it as a block of its own."""
    plain: list[str] = []
    newline = "\n"  # Python 3.11 allows no backslash within an f-string
    for line in [paragraph] if CODE.search(paragraph) else paragraph.split("\n"):
        if quoted := QUOTED.match(line):
            yield f"<p>{newline.join(plain)}</p>"
            yield f"<blockquote>{line[quoted.end() :]}</blockquote>"
            plain = []
        else:
            plain.append(line)
    yield f"<p>{newline.join(plain)}</p>"


def _cut(paragraphs: list[str], length: int) -> str:
    kept, room = "", length - len(CUT)
    for each in paragraphs:
        text = _converted([each])
        longer = f"{kept}\n\n{text}" if kept and text else kept or text
        if len(longer) > room:
            break
        kept = longer
    return (kept or _start(text, room)) + CUT  # `text` is the first paragraph, if even that is too long


def _start(text: str, room: int) -> str:
    """The first words of a paragraph that is too long. A block of code is closed."""
    fence = FENCES.match(text)
    end = f"\n{fence[0]}" if fence else ""
    start = text[: room - len(end)]
    whole = ESCAPES.match(start.rpartition(" ")[0] or start)
    return (whole[0] if whole and not fence else start) + end
