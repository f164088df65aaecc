"""
Finds what is wrong with archived conversations, which are articles with comments that only the SQL database has: wrong
rows of comments, and wrong values of the columns that the archive filled when they left Redis. `maintenance.verify`
reports the faults.
"""

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple

from archive.conversations import Conversation, conversation
from database import article_places, conversations
from database.conversations import KeptOfArticle, KeptOfComment
from store.records import ArchivedConversation, ContentState
from store.site import unix_milliseconds

if TYPE_CHECKING:
    from database.statements import Connection

PATH = re.compile(r"\S* (?:0|[1-9][0-9]*)", re.ASCII)  # "TEXT INDEX", a comment's place in the tree: branch_paths.lua
Kept = Mapping[int, KeptOfComment]  # the columns that the archive filled, by the number of the comment


class Fault(NamedTuple):
    """
    A wrong value of an `article`, by its number, or of one of its comments: `where` names the column and the row.
    `is_derived` says that the right value can be computed from other rows.
    """

    article: int
    where: str
    found: object
    expected: object
    is_derived: bool


def faults(connection: "Connection", numbers: Sequence[int], best_z: float) -> list[Fault]:
    """
    The faults of archived articles and of their comments. Other numbers are passed over. Three queries, and two for
    each article with comments. `best_z` is the constant of the order BEST (`Policy.best_z`).
    """
    archived = [each for each in article_places.records(connection, numbers) if each]
    with_conversation = [each for each in archived if isinstance(each, ArchivedConversation)]
    alone = [each.number for each in archived if not isinstance(each, ArchivedConversation)]
    return [
        *_unknown_states(connection, [each.number for each in archived]),
        *(
            _fault(
                number,
                f"article {number}",
                "left_ms",
                found=None,
                expected="when it left, as it has comments",
                is_derived=True,
            )
            for number in sorted(article_places.with_comments(connection, alone))
        ),
        *(fault for each in with_conversation for fault in _faults(each, *_read(connection, each.number, best_z))),
    ]


def _unknown_states(connection: "Connection", articles: Sequence[int]) -> Iterator[Fault]:
    expected = "one of " + ", ".join(ContentState.__members__)
    for article, comment, word in conversations.unknown_states(connection, articles):
        what = f"article {article}" if comment is None else f"comment {comment}"
        yield _fault(article, what, "state", word, expected)


def repair(connection: "Connection", article: int, best_z: float) -> None:
    """Compute the derived values of an article and its comments, and write them. Nothing if it is not archived."""
    (record,) = article_places.records(connection, [article])
    if record is None:
        return
    computed, kept = _read(connection, article, best_z)
    fields = conversations.fields_kept(connection, [article])[article]
    # `left_ms`, when the article left, is also the version of the conversation: with a new one, processes that have
    # cached the conversation read it again
    left = (conversations.version(connection, article) or unix_milliseconds()) + 1
    active_at = computed.active_at if (computed.active_at or 0) > record.posted_at else None
    conversations.keep_article(connection, article, KeptOfArticle(active_at, computed.comment_count, left, **fields))
    counted = [(number, _counted(computed, number, kept[number])) for number in computed.comments]
    conversations.keep(connection, counted)


def _read(connection: "Connection", article: int, best_z: float) -> tuple[Conversation, Kept]:
    rows = conversations.comments(connection, article)
    return conversation(article, rows, best_z), conversations.kept(connection, article)


def _faults(article: ArchivedConversation, computed: Conversation, kept: Kept) -> Iterator[Fault]:
    """The faults of an article and its comments: what the rows have, beside what is computed from the comments."""
    of_article = {
        "comment_count": (article.comment_count, computed.comment_count),
        "active_ms": (article.active_at or article.posted_at, max(article.posted_at, computed.active_at or 0)),
    }
    for column, (found, expected) in of_article.items():
        if found != expected:
            yield _fault(article.number, f"article {article.number}", column, found, expected, is_derived=True)
    path_counts = Counter(each.path for each in kept.values())
    for number, comment in computed.comments.items():
        parent = None if comment.parent is None else computed.comments.get(comment.parent)
        depth = parent.depth + 1 if parent else 0
        if comment.parent is not None and parent is None:
            yield _fault(article.number, f"comment {number}", "parent", comment.parent, "a comment of the article")
        elif comment.depth != depth:
            yield _fault(article.number, f"comment {number}", "depth", comment.depth, depth)
        path = kept[number].path
        if path is None or not PATH.fullmatch(path) or path_counts[path] > 1:
            yield _fault(article.number, f"comment {number}", "path", path, "a path of its own")
        right = _counted(computed, number, kept[number])
        if kept[number] != right:
            pairs = zip(KeptOfComment._fields, kept[number], right, strict=True)
            yield from (
                _fault(article.number, f"comment {number}", column, found, expected, is_derived=True)
                for column, found, expected in pairs
                if found != expected
            )


def _counted(computed: Conversation, number: int, kept: KeptOfComment) -> KeptOfComment:
    """What is kept of a comment, with the right counts."""
    return kept._replace(
        reply_count=computed.comments[number].reply_count, descendant_count=computed.below.get(number, 0)
    )


def _fault(article: int, what: str, column: str, found: object, expected: object, *, is_derived: bool = False) -> Fault:
    return Fault(article, f"{column} of {what} in the database", found, expected, is_derived)
