"""
The comments of an article as rows of its page, in the order in which the schema gives them, as `reader/src/thread.ts`
has them.

Together with the article's text, the rows of a page have at most `MAX_TEXTS` bytes. However large the texts are, there
is at least one row, and on the page of one comment at least one answer. The next page begins with the first row that is
left out.
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
# rows, each as (HTML, its number of bytes), by what they show of the article and `key_of`; one is rendered in 50 us
ROWS = POOL.cache("rows", microseconds=50)

Comment = Mapping[str, Any]


@dataclass(slots=True)
class ShownThread:
    """The rows that fit into a page, the comments in them, and the cursor of the next page; "" if there is none."""

    rows: list[str] = field(default_factory=list)
    comments: list[tuple[Comment, RenderedText]] = field(default_factory=list)
    next: str = ""


class RowPlace(NamedTuple):
    """
    Where a comment stands: the comment that it answers (None if that is not on the page), its depth on the page, and
    whether the page is about it.
    """

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
    The rows of a thread, in a language. `edges` come from the field `thread` of the article; at the same index of
    `texts` is the text of each. The page has `size` bytes of other texts.

    On the page of one comment, `current` is its id, and the first edge is not indented. This comment and those above it
    have the cursor "", as no page begins after them.
    """
    thread, has_next = ShownThread(), article["thread"]["pageInfo"]["hasNextPage"]
    places = places_of(edges, current)
    shown = [index for index, kept in enumerate(are_shown(edges, has_next)) if kept]
    key_of_article = words, article["id"], article["poster"]["username"], article["isCommentingOpen"]
    keys = [(*key_of_article, *key_of(words, edges[index], texts[index], places[index], now)) for index in shown]
    for index, key, known in zip(shown, keys, ROWS.get_all(keys), strict=True):
        edge, text = edges[index], texts[index]
        row, row_size = known or drawn(words, article, edge, text, places[index], now)
        size += row_size
        if size > MAX_TEXTS and thread.rows and (cursor := edges[index - 1]["cursor"]):
            thread.next = cursor
            return thread
        if known is None:
            ROWS.put(key, (row, row_size), KEY_BYTES + CHARACTER_BYTES * len(row))
        thread.rows.append(row)
        thread.comments.append((edge["node"], text))
    thread.next = edges[-1]["cursor"] if has_next else ""
    return thread


def places_of(edges: Sequence[Mapping[str, Any]], current: str) -> list[RowPlace]:
    """The place of each comment. One whose parent is on an earlier page stands below the nearest on this one."""
    first_depth = edges[0]["node"]["depth"] if current else 0
    places, above = list[RowPlace](), list[Comment | None]()
    for edge in edges:
        comment = edge["node"]
        depth = comment["depth"]
        del above[depth:]
        parent = above[-1] if above else None
        places.append(RowPlace(parent, depth - first_depth, comment["id"] == current))
        above += [parent] * (depth - len(above))  # for levels whose comment is on an earlier page
        above.append(comment)
    return places


def key_of(
    words: Words, edge: Mapping[str, Any], text: RenderedText, place: RowPlace, now: datetime
) -> tuple[object, ...]:
    """All that the row of a comment shows, but for the article: as long as the key is the same, so is the row."""
    comment, parent, depth, is_current = edge["node"], *place
    removal, edited = comment["removal"], comment["editedAt"]
    return (
        comment["id"],
        edge["hiddenReplyCount"],
        text.digest,
        depth,
        is_current,
        comment["state"],
        comment["votes"],
        comment["content"] is None,
        author(comment),
        removal and removal["reason"],
        age(words, comment["postedAt"], now),
        edited and age(words, edited, now),
        *((parent["id"], author(parent), parent["state"]) if parent else ()),
    )


def drawn(
    words: Words,
    article: Mapping[str, Any],
    edge: Mapping[str, Any],
    text: RenderedText,
    place: RowPlace,
    now: datetime,
) -> tuple[str, int]:
    """The row of a comment, and one for its answers that are too deep, as HTML and its number of bytes."""
    comment, hidden = edge["node"], edge["hiddenReplyCount"]
    level = min(place.depth, DEEPEST)
    html: Markup = macro(words, "thread.html", "comment")(article, comment, text, level, place, now)
    if hidden:
        html += macro(words, "thread.html", "hidden")(article, comment, hidden, min(level + 1, DEEPEST))
    return str(html), len(html.encode())


def are_shown(edges: Sequence[Mapping[str, Any]], has_next: bool) -> list[bool]:
    """False for deleted comments that have nothing below them: deleted ones are kept for their replies only."""
    kept: list[bool] = []
    next_depth = 10**9 if has_next else -1  # below any depth: the next page may have replies to the last one
    for edge in reversed(edges):
        comment = edge["node"]
        has_replies = edge["hiddenReplyCount"] > 0 or next_depth > comment["depth"]
        kept.append(comment["state"] != "DELETED" or has_replies)
        if kept[-1]:
            next_depth = comment["depth"]
    return kept[::-1]
