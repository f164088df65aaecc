"""
Finds rows for `rebuild`, which makes the tables again from the store in Redis, and removes those of what the store does
not have. Archived articles stay: only the database has them. The derived tables, of the search and of the places of
archived articles in listings, follow (`derive`).
"""

from collections.abc import Sequence
from typing import Any

from sqlalchemy import ColumnElement, Connection, Row, Table, and_, delete, or_, select, tuple_, update

from database.changes import Changed, derive
from database.order_index import writes as places
from database.rows import (
    remove_articles,
    remove_comments,
    remove_rows,
)
from database.statements import slices
from database.tables import (
    ARTICLES,
    COMMENTS,
    FOLLOWS,
    GROUP_FOLLOWS,
    GROUP_TEXTS,
    MODERATION_ACTIONS,
    USERS,
)

ROWS_AT_ONCE = 1_000  # rows that a read returns
ARTICLES_AT_ONCE = 500  # archived articles that are unarchived in a transaction
PAIRS_AT_ONCE = 100  # follows that a statement removes: each is a condition


def next_rows(
    connection: Connection, table: Table, last: Row[Any] | None, conditions: Sequence[ColumnElement[bool]]
) -> list[Row[Any]]:
    """The primary keys of the rows after `last` (None: from the start), in the order of the primary key."""
    key = list(table.primary_key)
    statement = select(*key).where(*conditions).order_by(*key).limit(ROWS_AT_ONCE)
    if last is not None:
        statement = statement.where(tuple_(*key) > tuple_(*last) if len(key) > 1 else key[0] > last[0])
    return list(connection.execute(statement))


def remove_rows_of_articles(connection: Connection, rows: Sequence[Row[Any]]) -> None:
    """Remove the articles of these rows, with all about them, unless they were archived meanwhile."""
    found = [row.number for row in rows]
    in_store = select(ARTICLES.c.number).where(ARTICLES.c.number.in_(found), ARTICLES.c.archived.is_(False))
    remove_with_comments(connection, set(connection.scalars(in_store)))


def remove_with_comments(connection: Connection, numbers: set[int]) -> None:
    """Remove articles and their comments, with all about them."""
    comments = remove_articles(connection, numbers)
    derive(connection, Changed(removed=numbers, comments=comments))


def remove_rows_of_comments(connection: Connection, rows: Sequence[Row[Any]]) -> None:
    """Remove the comments of these rows, with all about them, unless their articles were archived meanwhile."""
    found = [row.number for row in rows]
    archived = select(ARTICLES.c.number).where(ARTICLES.c.archived.is_(True))
    is_in_store = COMMENTS.c.article.not_in(archived)
    numbers = set(connection.scalars(select(COMMENTS.c.number).where(COMMENTS.c.number.in_(found), is_in_store)))
    remove_comments(connection, numbers)
    derive(connection, Changed(comments=numbers))


def remove_comments_without_article(connection: Connection) -> None:
    """Remove the comments of articles that are not in the table of articles."""
    is_orphan = COMMENTS.c.article.not_in(select(ARTICLES.c.number))
    numbers = set(connection.scalars(select(COMMENTS.c.number).where(is_orphan)))
    remove_comments(connection, numbers)
    derive(connection, Changed(comments=numbers))


def remove_orphans(connection: Connection, table: Table, parents: Table) -> None:
    """Remove the rows of a table that belong to articles or comments which are not in `parents`."""
    connection.execute(delete(table).where(table.c.number.not_in(select(parents.c.number))))


def unarchive_some(connection: Connection) -> bool:
    """
    For a store that has no archive, mark some archived articles as not archived, and remove their places. False if
    there is none left.
    """
    is_archived = ARTICLES.c.archived.is_(True)
    numbers = connection.scalars(select(ARTICLES.c.number).where(is_archived).limit(ARTICLES_AT_ONCE)).all()
    places.lock(connection)
    places.remove(connection, numbers)
    connection.execute(update(ARTICLES).where(ARTICLES.c.number.in_(numbers)).values(archived=False))
    return bool(numbers)


def users_after(connection: Connection, after: str) -> dict[str, str]:
    """The names of some users as written, by the names in lower case."""
    statement = select(USERS.c.username, USERS.c.name).where(USERS.c.username > after)
    rows = connection.execute(statement.order_by(USERS.c.username).limit(ROWS_AT_ONCE))
    return {row.username: row.name for row in rows}


def remove_users(connection: Connection, rows: Sequence[Row[Any]]) -> None:
    names = [row.username for row in rows]
    connection.execute(delete(USERS).where(USERS.c.username.in_(names)))
    derive(connection, Changed(users=set(names)))


def remove_group_texts(connection: Connection, rows: Sequence[Row[Any]]) -> None:
    connection.execute(delete(GROUP_TEXTS).where(GROUP_TEXTS.c.name.in_([row.name for row in rows])))


def remove_actions(connection: Connection, rows: Sequence[Row[Any]]) -> None:
    remove_rows(connection, MODERATION_ACTIONS, [row.number for row in rows])


def remove_follows(connection: Connection, rows: Sequence[Row[Any]]) -> None:
    pairs = [and_(FOLLOWS.c.follower == row.follower, FOLLOWS.c.followee == row.followee) for row in rows]
    for some in slices(pairs, PAIRS_AT_ONCE):
        connection.execute(delete(FOLLOWS).where(or_(*some)))


def remove_group_follows(connection: Connection, rows: Sequence[Row[Any]]) -> None:
    pairs = [and_(GROUP_FOLLOWS.c.follower == row.follower, GROUP_FOLLOWS.c.name == row.name) for row in rows]
    for some in slices(pairs, PAIRS_AT_ONCE):
        connection.execute(delete(GROUP_FOLLOWS).where(or_(*some)))
