"""
Reads all articles, comments and votes of the database in the order of their times, some thousand at a time. `upvote
rules try` replays them, to show what rules of moderation would have done.
"""

from collections.abc import AsyncIterator, Callable

from sqlalchemy import Connection, func, select, tuple_

from database.database import Database
from database.tables import ARTICLES, COMMENT_VOTES, COMMENTS, USERS, VOTES
from store.records import ContentState
from store.trials import PastText, PastVote

ROWS_AT_ONCE = 5_000
VISIBLE = ContentState.VISIBLE.name
# by the kind of text: the table of votes on such texts, and that of the texts
TABLES = {"article": (VOTES, ARTICLES), "comment": (COMMENT_VOTES, COMMENTS)}

Numbered = list[tuple[int, PastText]]  # texts (articles or comments), each after its number, which is part of its id
Keyed = list[tuple[tuple[int, str], PastVote]]  # votes, each after its primary key: the text's number and the voter


async def joined(database: Database) -> dict[str, int]:
    """When each user joined (unix milliseconds), by name in lower case."""
    found: dict[str, int] = {}
    last = ""
    while some := await database.run(_users, last):
        found.update(some)
        last = some[-1][0]
    return found


async def texts(database: Database) -> AsyncIterator[PastText]:
    """All articles and comments that are not deleted, in the order of their numbers, and so of their times."""
    articles, comments = _walked(database, _articles), _walked(database, _comments)
    article, comment = await anext(articles, None), await anext(comments, None)
    while article or comment:
        if article and (comment is None or article[0] < comment[0]):
            yield article[1]
            article = await anext(articles, None)
        elif comment:
            yield comment[1]
            comment = await anext(comments, None)


async def votes(database: Database) -> list[PastVote]:
    """
    All votes on what others posted, by their times. A vote whose time is not known has the time of the posting. All are
    kept in memory: some 300 bytes each.
    """
    found: list[PastVote] = []
    for kind in TABLES:
        last = (-1, "")
        while some := await database.run(_votes, kind, last):
            found += [vote for _, vote in some]
            last = some[-1][0]
    return sorted(found)


async def _walked(
    database: Database, read: Callable[[Connection, int], Numbered]
) -> AsyncIterator[tuple[int, PastText]]:
    """All texts of a table. `read` returns the next ones after a number."""
    last = -1
    while some := await database.run(read, last):
        for each in some:
            yield each
        last = some[-1][0]


def _users(connection: Connection, last: str) -> list[tuple[str, int]]:
    users = select(USERS.c.username, USERS.c.joined_ms).where(USERS.c.username > last)
    return [(name, at) for name, at in connection.execute(users.order_by(USERS.c.username).limit(ROWS_AT_ONCE))]


def _articles(connection: Connection, last: int) -> Numbered:
    """The next articles after the number `last`."""
    c = ARTICLES.c
    columns = select(c.number, c.poster, c.posted_ms, c.state, c.title, c.link, c.content, c.imported_votes)
    rows = connection.execute(columns.where(c.number > last).order_by(c.number).limit(ROWS_AT_ONCE))
    return [
        (number, PastText(at, f"article:{number}", poster, _fields(title, link, content), state == VISIBLE, imported))
        for number, poster, at, state, title, link, content, imported in rows
    ]


def _fields(title: str, link: str | None, content: str | None) -> dict[str, str]:
    return {"title": title, "link": link or "", "content": content or ""}


def _comments(connection: Connection, last: int) -> Numbered:
    c = COMMENTS.c
    columns = select(c.number, c.poster, c.posted_ms, c.state, c.content, c.imported_votes)
    known = (c.number > last, c.poster.is_not(None), c.content.is_not(None))
    rows = connection.execute(columns.where(*known).order_by(c.number).limit(ROWS_AT_ONCE))
    return [
        (number, PastText(at, f"comment:{number}", poster, {"content": content}, state == VISIBLE, imported))
        for number, poster, at, state, content, imported in rows
    ]


def _votes(connection: Connection, kind: str, last: tuple[int, str]) -> Keyed:
    """The next votes on articles or comments, each with its primary key."""
    table, subjects = TABLES[kind]
    key = (table.c.number, table.c.voter)
    at = func.coalesce(table.c.cast_ms, subjects.c.posted_ms)
    is_of_other = func.lower(table.c.voter) != func.lower(subjects.c.poster)
    rows = connection.execute(
        select(*key, table.c.value, at, subjects.c.poster)
        .join_from(table, subjects, subjects.c.number == table.c.number)
        .where(tuple_(*key) > tuple_(*last), is_of_other, table.c.value != 0)
        .order_by(*key)
        .limit(ROWS_AT_ONCE)
    )
    return [
        ((number, voter), PastVote(at, f"{kind}:{number}", poster, voter, value))
        for number, voter, value, at, poster in rows
    ]
