"""
Comments by time, of the whole site, a group or a user. Redis has lists of the newest ones; older ones are read here.
"""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from database.statements import LISTED_AT_ONCE, Statement

if TYPE_CHECKING:
    from database.statements import Connection

PlaceInTime = tuple[int, int]  # posting time (unix milliseconds) and number of a comment


class CommentRange(NamedTuple):
    """
    The comments of a group or of a user, by the name as written, or else of the whole site, that were posted up to an
    instant (unix milliseconds).
    """

    until: int
    group: str | None = None
    poster: str | None = None


def newest(connection: "Connection", within: CommentRange, below: PlaceInTime | None, count: int) -> list[PlaceInTime]:
    """The newest comments of a range, or the newest below a place in time; the newest first."""
    bound = "" if below is None else "AND (comments.posted_ms, comments.number) < (:time, :number)"
    return _places(connection, within, bound, below, count, "DESC")


def oldest(connection: "Connection", within: CommentRange, above: PlaceInTime | None, count: int) -> list[PlaceInTime]:
    """The oldest comments of a range, or the oldest above a place in time; the oldest first."""
    bound = "" if above is None else "AND (comments.posted_ms, comments.number) > (:time, :number)"
    return _places(connection, within, bound, above, count, "ASC")


def size(connection: "Connection", within: CommentRange) -> int:
    """How many visible comments a range has."""
    given, condition = _condition(connection, within)
    counted = Statement(f"SELECT count(*) {VISIBLE} {condition}", *_lists(given))
    return int(counted.run(connection, {"until": within.until, **given}).scalar_one())


def of_poster(connection: "Connection", poster: str, until: int) -> list[int]:
    """
    The numbers of all comments of a user, by the name as written, that were posted up to an instant (unix
    milliseconds), also of those that are not shown; the oldest first.
    """
    return list(OF_POSTER.run(connection, {"poster": poster, "until": until}).scalars())


def _places(
    connection: "Connection", within: CommentRange, bound: str, place: PlaceInTime | None, count: int, direction: str
) -> list[PlaceInTime]:
    """The places of a range within a `bound`, a condition that compares with `place`."""
    given, condition = _condition(connection, within)
    order = f"ORDER BY comments.posted_ms {direction}, comments.number {direction} LIMIT :count"
    sql = f"SELECT comments.posted_ms, comments.number {VISIBLE} {bound} {condition} {order}"
    values = {"until": within.until, "count": count, **given}
    if place:
        values |= dict(zip(("time", "number"), place, strict=True))
    return [(row[0], row[1]) for row in Statement(sql, *_lists(given)).run(connection, values)]


def _condition(connection: "Connection", within: CommentRange) -> tuple[dict[str, Any], str]:
    """The condition of a group or of a user, and its parameters."""
    if within.poster is not None:
        return {"poster": within.poster}, "AND comments.poster = :poster"
    return ({}, "") if within.group is None else _in_group(connection, within.group)


def _in_group(connection: "Connection", group: str) -> tuple[dict[str, Any], str]:
    """
    The condition of a group, and its parameters. If the group has few articles, their numbers are listed in the
    condition; otherwise the statement passes over all comments by time, and looks up the groups of each article.
    """
    articles = list(IN_GROUP.run(connection, {"group": group, "most": LISTED_AT_ONCE + 1}).scalars())
    if len(articles) <= LISTED_AT_ONCE:
        return {"articles": articles}, "AND comments.article IN :articles"
    return {"group": group}, f"AND EXISTS ({MEMBERSHIP})"


def _lists(given: dict[str, Any]) -> Sequence[str]:
    """The names of the parameters that are lists."""
    return [name for name in given if name == "articles"]


VISIBLE = """FROM comments JOIN articles ON articles.number = comments.article
  WHERE comments.state = 'VISIBLE' AND articles.state = 'VISIBLE' AND comments.posted_ms <= :until"""
MEMBERSHIP = "SELECT 1 FROM article_groups WHERE article_groups.number = comments.article AND name = :group"
IN_GROUP = Statement("SELECT number FROM article_groups WHERE name = :group LIMIT :most")
OF_POSTER = Statement("SELECT number FROM comments WHERE poster = :poster AND posted_ms <= :until ORDER BY posted_ms")
