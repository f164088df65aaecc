"""
Reads what only the database has of a user, for the export of their data: the edits of their articles and comments, and
their votes. The number of an article or a comment is the one in its id.
"""

from collections.abc import Collection
from typing import TYPE_CHECKING, Any, NamedTuple

from database.statements import Statement

if TYPE_CHECKING:
    from database.statements import Connection

VOTES_AT_ONCE = 1_000  # votes in a query

Edits = dict[int, list[dict[str, Any]]]  # by the number of the article or comment, the oldest edit first


class OwnVote(NamedTuple):
    """
    A vote on an article or a comment: its `value` is 1 or -1. `cast` is when it was cast (unix milliseconds), None if
    that is not known.
    """

    number: int
    value: int
    cast: int | None


def edits_of_articles(connection: "Connection", numbers: Collection[int]) -> Edits:
    """
    The edits of articles: each has `edited_ms`, when it was made (unix milliseconds), and the new values of `title`,
    `link` and `content`. A value of None was not changed; an empty one was removed by the edit.
    """
    return _edits(connection, ARTICLE_EDITS, numbers)


def edits_of_comments(connection: "Connection", numbers: Collection[int]) -> Edits:
    return _edits(connection, COMMENT_EDITS, numbers)


def votes_on_articles(connection: "Connection", voter: str, after: int) -> list[OwnVote]:
    """The next `VOTES_AT_ONCE` votes on articles with a greater number than `after`, by their numbers."""
    return _votes(connection, ARTICLE_VOTES, voter, after)


def votes_on_comments(connection: "Connection", voter: str, after: int) -> list[OwnVote]:
    return _votes(connection, COMMENT_VOTES, voter, after)


def _edits(connection: "Connection", statement: Statement, numbers: Collection[int]) -> Edits:
    found: Edits = {}
    for row in statement.run(connection, {"numbers": list(numbers)}).mappings():
        values = dict(row)
        found.setdefault(values.pop("number"), []).append(values)
    return found


def _votes(connection: "Connection", statement: Statement, voter: str, after: int) -> list[OwnVote]:
    rows = statement.run(connection, {"voter": voter, "after": after, "most": VOTES_AT_ONCE})
    return [OwnVote(*row) for row in rows]


ORDERED = "WHERE number IN :numbers ORDER BY number, edited_ms, entry"
ARTICLE_EDITS = Statement(f"SELECT number, edited_ms, title, link, content FROM edits {ORDERED}", "numbers")
COMMENT_EDITS = Statement(f"SELECT number, edited_ms, content FROM comment_edits {ORDERED}", "numbers")
CAST = """SELECT number, value, cast_ms FROM {}
  WHERE voter = :voter AND number > :after AND value <> 0 ORDER BY number LIMIT :most"""
ARTICLE_VOTES, COMMENT_VOTES = (Statement(CAST.format(table)) for table in ("votes", "comment_votes"))
