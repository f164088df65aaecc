"""
The comments of an article as rows of its page, in the order of the server, as `reader/src/thread.ts` has them.

A page of HTML has at most `MAX_TEXTS` bytes of them and of the article's text, and at least one; the next page begins
with the first that is left out.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, NamedTuple

from markupsafe import Markup

from caches import POOL
from server.markdown_html import CHARACTER_BYTES
from server.reader.rendering import age, author, macro
from server.reader.texts import MAX_TEXTS, RenderedText
from server.words.words import Words

DEEPEST = 12  # levels that are indented, as `--deepest` of `reader/src/components/thread.css`
KEY_BYTES = 2_000  # of the key of a row
ROWS = POOL.cache("rows", microseconds=50)

Comment = Mapping[str, Any]


@dataclass(slots=True)
class ShownThread:
    """The rows that fit into a page, the comments in them, and the cursor of the next page; "" if there is none."""

    rows: list[str] = field(default_factory=list)
    comments: list[tuple[Comment, RenderedText]] = field(default_factory=list)
    next: str = ""


class RowPlace(NamedTuple):
    """The comment that one answers, if that is on the page, its depth on the page, and whether the page is about it."""

    parent: Comment | None
    depth: int
    is_current: bool


def thread_of(
    words: Words,
    article: Mapping[str, Any],
    edges: Sequence[Mapping[str, Any]],
    texts: Sequence[RenderedText],
    now: datetime,
    *,
    size: int = 0,
    current: str = "",
) -> ShownThread:
    """
    The rows of a thread; each of `texts` belongs to the edge at the same place, and the page has `size` bytes of
    others. The page of one comment, the `current` one, has a branch, whose first comment is not indented.
    """
    thread, has_next = ShownThread(), article["thread"]["pageInfo"]["hasNextPage"]
    first_depth = edges[0]["node"]["depth"] if current else 0
    kept = places_with_text_or_replies(edges, has_next)
    above: list[Comment | None] = []
    cursor = ""
    for edge, text, is_kept in zip(edges, texts, kept, strict=True):
        comment = edge["node"]
        if is_kept:
            place = RowPlace(
                parent_in(above, comment["depth"]), comment["depth"] - first_depth, comment["id"] == current
            )
            row, row_size = drawn(words, article, edge, text, place, now)
            size += row_size
            if size > MAX_TEXTS and thread.rows:
                thread.next = cursor
                return thread
            thread.rows.append(row)
            thread.comments.append((comment, text))
        above = [*above[: comment["depth"]], *[None] * (comment["depth"] - len(above)), comment]
        cursor = edge["cursor"]
    thread.next = cursor if has_next else ""
    return thread


def drawn(
    words: Words,
    article: Mapping[str, Any],
    edge: Mapping[str, Any],
    text: RenderedText,
    place: RowPlace,
    now: datetime,
) -> tuple[str, int]:
    """
    The row of a comment, and one for its answers that are too deep, as HTML and its number of bytes. It is kept as long
    as it says the same.
    """
    comment, hidden, parent = edge["node"], edge["hiddenReplyCount"], place.parent
    edited = comment["editedAt"] and age(words, comment["editedAt"], now)
    key = (
        *(words, article["id"], article["poster"]["username"], article["isCommentingOpen"], hidden, text.digest),
        *(comment["id"], place.depth, place.is_current, comment["state"], comment["votes"], comment["content"] is None),
        *(author(comment), (comment["removal"] or {}).get("reason"), age(words, comment["postedAt"], now), edited),
        *((parent["id"], author(parent), parent["state"]) if parent else ()),
    )
    known: tuple[str, int] | None = ROWS.get(key)
    if known is not None:
        return known
    level = min(place.depth, DEEPEST)
    html: Markup = macro(words, "thread.html", "comment")(article, comment, text, level, place, now)
    if hidden:
        html += macro(words, "thread.html", "hidden")(article, comment, hidden, min(level + 1, DEEPEST))
    row = str(html), len(html.encode())
    ROWS.put(key, row, KEY_BYTES + CHARACTER_BYTES * len(html))
    return row


def parent_in(above: Sequence[Comment | None], depth: int) -> Comment | None:
    """The nearest comment above that a comment of this depth stands under; None if it is not on this page."""
    return next((comment for comment in reversed(above[:depth]) if comment is not None), None)


def places_with_text_or_replies(edges: Sequence[Mapping[str, Any]], has_next: bool) -> list[bool]:
    """False for deleted comments that have nothing below them: the server keeps those for their replies only."""
    kept: list[bool] = []
    next_depth = 10**9 if has_next else -1  # the next page may have replies to the last one
    for edge in reversed(edges):
        comment = edge["node"]
        has_replies = edge["hiddenReplyCount"] > 0 or next_depth > comment["depth"]
        kept.append(comment["state"] != "DELETED" or has_replies)
        if kept[-1]:
            next_depth = comment["depth"]
    return kept[::-1]
