"""What the lines of lists need: an article, a comment outside of its thread, and texts with marked matches."""

import re
from collections.abc import Mapping, Sequence
from itertools import accumulate
from typing import Any

from markupsafe import Markup, escape

from server.markdown_html import cut
from server.reader.texts import PLAIN_LENGTH, RenderedText, render_texts
from store.words import composed

# what the queries of pages select for the line of an article, and of a comment
ARTICLE_LINE = "id title link votes commentCount postedAt poster { username } groups { name }"
COMMENT_LINE = "id content votes postedAt author: poster { username } article { id title }"
ANSWERED = "parent { id content }"  # the comment that one answers
MAX_LINES = 187_000  # bytes of the comments and other texts of a page, which has at most 200,000
LINE_BYTES, QUOTE_BYTES = 1_200, 1_300  # at most: the line of a comment beside its texts, and what it answers
# a match of a search, with the marks around it: as in reader/src/components/Matches.tsx
MATCH = re.compile("\ue000([^\ue001]*)\ue001")
MARKS = str.maketrans("", "", "\ue000\ue001")  # removes the marks


async def with_texts(
    comments: Sequence[Mapping[str, Any]], *, size: int = 0
) -> list[tuple[Mapping[str, Any], RenderedText]]:
    """
    Each comment with its rendered text, or with its first words where the texts before it take the room. The lines
    of a page and its other texts, of `size` bytes, have at most `MAX_LINES` bytes together.
    """
    texts = await render_texts([comment["content"] or "" for comment in comments])
    beginnings = [RenderedText(escape(text.plain), text.plain, is_plain=True) for text in texts]
    least = sum(line_size(comment) + size_of(short) for comment, short in zip(comments, beginnings, strict=True))
    # how much larger the page is with the whole texts of the comments up to each
    more = accumulate(size_of(text) - size_of(short) for text, short in zip(texts, beginnings, strict=True))
    return [
        (comment, text if size + least + added <= MAX_LINES else short)
        for comment, text, short, added in zip(comments, texts, beginnings, more, strict=True)
    ]


def line_size(comment: Mapping[str, Any]) -> int:
    """The most bytes of a line beside the text of its comment."""
    quote = QUOTE_BYTES if comment.get("parent") else 0
    return LINE_BYTES + len(escape(comment["article"]["title"]).encode()) + quote


def size_of(text: RenderedText) -> int:
    return len(text.html.encode())


async def quotes_of(comments: Sequence[Mapping[str, Any]]) -> dict[str, str]:
    """
    For each comment that answers another one, by its id: the beginning of the other one as plain text; "" if that is
    gone.
    """
    replies = [comment for comment in comments if comment["parent"]]
    contents = [comment["parent"]["content"] or "" for comment in replies]
    texts = await render_texts(contents)
    return {
        comment["id"]: text.plain or cut(content, PLAIN_LENGTH)
        for comment, content, text in zip(replies, contents, texts, strict=True)
    }


def marked(excerpt: str) -> Markup:
    """An excerpt of a search as HTML: plain text, in which each match stands between U+E000 and U+E001."""
    parts = MATCH.split(excerpt)
    return Markup("").join(
        Markup("<mark>{}</mark>").format(part) if place % 2 else escape(part) for place, part in enumerate(parts)
    )


def unmarked(excerpt: str) -> str:
    return excerpt.translate(MARKS)


def in_one_line(text: str) -> str:
    """A text as an excerpt has it: in composed Unicode, with one space for blanks."""
    return " ".join(composed(text).split())
