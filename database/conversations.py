"""Conversations in the database: the comments of an article, also those that are not shown."""

from typing import TYPE_CHECKING

from database.statements import Statement
from store.records import Comment, ContentState

if TYPE_CHECKING:
    from database.statements import Connection


def comments(connection: "Connection", article: int) -> list[Comment]:
    """
    The comments of an article as their rows are, in no particular order. The rows lack the numbers of replies and
    whether a thread shows a comment: `archive.conversations` finds both.
    """
    found = COMMENTS.run(connection, {"article": article})
    return [Comment(*[*columns, 0, ContentState[state]]) for *columns, state in found]


COMMENTS = Statement("""
SELECT number, article, parent, depth, poster, content, posted_ms, edited_ms, up, down, imported_votes, state
FROM comments WHERE article = :article""")
