"""
Makes rows of the tables from fields and log entries of the store in Redis, and writes and removes many rows at once.
The number of an article, a comment or an action of a moderator is the one in its id.
"""

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from functools import lru_cache
from typing import Any, NamedTuple

from sqlalchemy import Connection, Insert, Table, bindparam, delete
from sqlalchemy.dialects import postgresql, sqlite

from database.statements import RowsStatement, Statement, run_each, slices
from database.tables import ARTICLE_GROUPS, ARTICLES, COMMENT_EDITS, COMMENT_VOTES, COMMENTS, EDITS, VOTES

Row = dict[str, Any]


class VoteColumns(NamedTuple):
    """
    A vote as its row has it. `cast_ms` is None if it is not known when it was cast. `counts` is false while an action
    of a moderator annuls it (the action *holds* the vote).
    """

    value: int
    cast_ms: int | None
    counts: bool


class HeldVote(NamedTuple):
    """A vote that stops counting, as it is annulled, or counts again. Its row keeps the time when it was cast."""

    value: int
    counts: bool


Votes = defaultdict[int, dict[str, VoteColumns | None]]  # by number and voter; None for a vote that was withdrawn
Held = defaultdict[int, dict[str, HeldVote]]  # by number and voter

POSTGRESQL = postgresql.dialect()  # type: ignore[no-untyped-call]
# columns that are written when an article leaves Redis for the archive: other writes keep their values
KEPT_OF_ARTICLE = ("archived", "notified", "active_ms", "comment_count", "left_ms", "held_by", "unannounced")
KEPT_OF_COMMENT = ("reply_count", "descendant_count", "path", "notified")
PROFILE = ("display_name", "about", "avatar_url")
# the other tables with rows of an article, or of a comment, by its `number`
ABOUT_ARTICLES, ABOUT_COMMENTS = (ARTICLE_GROUPS, VOTES, EDITS), (COMMENT_VOTES, COMMENT_EDITS)
# all tables with such rows, that of its own row first
OF_AN_ARTICLE, OF_A_COMMENT = (ARTICLES, *ABOUT_ARTICLES), (COMMENTS, *ABOUT_COMMENTS)
THREAD = Statement("SELECT number FROM comments WHERE article IN :numbers", "numbers")


def user_row(fields: Mapping[str, str]) -> Row:
    """The row of a user. `fields` are those of the hash, or of an entry of the log."""
    row = {"username": fields["name"].lower(), "name": fields["name"], "joined_ms": integer(fields["joined"])}
    return row | {"seen": fields.get("seen")} | profile_row(fields)


def profile_row(fields: Mapping[str, str]) -> Row:
    """What a user writes about themselves; in an entry an empty text is one that was removed."""
    return {name: fields.get(name) or None for name in PROFILE}


def vote_row(number: int, voter: str, value: int, cast: int | None = None, counts: bool = True) -> Row:
    return {"number": number, "voter": voter, "value": value, "cast_ms": cast, "counts": counts}


def action_row(number: int, values: Mapping[str, str]) -> Row:
    """The row of what a moderator did, without the note. `values` are the fields of the action in the store."""
    until = values.get("until", "0")
    return {
        "number": number,
        "kind": values["kind"].upper(),
        "at_ms": integer(values["at"]),
        "moderator": values["moderator"],
        "subject_id": values["subject"],
        "group_name": values.get("group") or None,
        "reason": values["reason"],
        "expires_ms": integer(until) or None,
        "role": values["role"].upper() if "role" in values else None,
        "reverts": integer(values["reverts"]) if "reverts" in values else None,
        "ban": integer(values["ban"]) if "ban" in values else None,
    }


def follow_row(follower: str, followee: str, since: int) -> Row:
    return {"follower": follower, "followee": followee, "since_ms": since}


def group_follow_row(follower: str, group: str, since: int) -> Row:
    return {"follower": follower, "name": group, "since_ms": since}


def group_row(name: str, fields: Mapping[str, str]) -> Row:
    """What is written about a group, as its hash or an entry has it: there an empty text is one that was removed."""
    return {
        "name": name,
        "title": fields.get("title") or None,
        "about": fields.get("about") or None,
        "created_ms": integer(fields["created"]),
        "listed_ms": integer(fields["listed"]) if fields.get("listed") else None,
    }


def upsert(connection: Connection, table: Table, rows: Iterable[Row], keep: tuple[str, ...] = ()) -> None:
    """Insert rows, or replace those that exist, except their values in the columns to keep."""
    if listed := list(rows):
        run_each(connection, _upsert(table, connection.dialect.name, keep), listed)


def update_rows(connection: Connection, table: Table, columns: Mapping[int, Row]) -> None:
    """Set some columns of articles or comments, by number."""
    rows: dict[frozenset[str], list[Row]] = defaultdict(list)
    for number, row in columns.items():
        rows[frozenset(row)].append({**row, "number": number})
    for names, some in rows.items():
        listed = (*sorted(names - {"number"}), "number")
        _update(table, listed).run(connection, [tuple(row[name] for name in listed) for row in some])


def write_votes(connection: Connection, table: Table, votes: Mapping[int, Mapping[str, VoteColumns | None]]) -> None:
    """Set votes on articles or comments, and remove those that were withdrawn."""
    written, ended = [], []
    for number, of_number in votes.items():
        for voter, vote in of_number.items():
            if vote:
                written.append((number, voter, *vote))
            else:
                ended.append({"this": number, "voter_name": voter})
    _set_votes(table, "value, cast_ms, counts").run(connection, written)
    if ended:
        connection.execute(_end_vote(table), ended)


def hold_vote(votes: Votes, held: Held, number: int, voter: str, value: int, counts: bool) -> None:
    """Gather that a vote stops counting, or counts again, without changing when it was cast."""
    vote = votes[number].get(voter) if number in votes else None
    if vote:
        votes[number][voter] = VoteColumns(value, vote.cast_ms, counts)
    else:
        held[number][voter] = HeldVote(value, counts)


def write_held(connection: Connection, table: Table, held: Mapping[int, Mapping[str, HeldVote]]) -> None:
    """Set whether votes on articles or comments count, after `write_votes`."""
    rows = [
        (number, voter, value, None, counts)
        for number, of_number in held.items()
        for voter, (value, counts) in of_number.items()
    ]
    _set_votes(table, "value, counts").run(connection, rows)


def replace_groups(connection: Connection, groups: Mapping[int, Sequence[str]]) -> None:
    """Set the groups of articles."""
    remove_rows(connection, ARTICLE_GROUPS, groups)
    rows = [
        {"number": number, "name": name, "place": place}
        for number, names in groups.items()
        for place, name in enumerate(names)
    ]
    upsert(connection, ARTICLE_GROUPS, rows)


def existing(connection: Connection, table: Table, numbers: Collection[int]) -> set[int]:
    """Which of some articles or comments are in their table."""
    found: set[int] = set()
    for some in slices(numbers):
        found.update(_existing(table).run(connection, {"numbers": some}).scalars())
    return found


def comments_of(connection: Connection, numbers: Collection[int]) -> set[int]:
    """The numbers of the comments of articles, also of deleted comments."""
    found: set[int] = set()
    for some in slices(numbers):
        found.update(THREAD.run(connection, {"numbers": some}).scalars())
    return found


def remove_articles(connection: Connection, numbers: Collection[int]) -> set[int]:
    """Remove all rows of articles and of their comments. Returns the numbers of these comments."""
    comments = comments_of(connection, numbers)
    remove_comments(connection, comments)
    for table in OF_AN_ARTICLE:
        remove_rows(connection, table, numbers)
    return comments


def remove_comments(connection: Connection, numbers: Collection[int]) -> None:
    """Remove all rows of comments."""
    for table in OF_A_COMMENT:
        remove_rows(connection, table, numbers)


def remove_rows(connection: Connection, table: Table, numbers: Collection[int]) -> None:
    """Remove the rows of a table that are about some articles or comments."""
    for some in slices(numbers):
        _delete(table).run(connection, {"numbers": some})


def integer(text: str) -> int:
    """A number as Lua may write it: an integer, or a float without a fraction."""
    return int(text) if text.lstrip("-").isdigit() else int(float(text))


@lru_cache
def _upsert(table: Table, dialect: str, keep: tuple[str, ...]) -> Insert:
    insert: Any = sqlite.insert(table) if dialect == "sqlite" else postgresql.insert(table)
    key = [column.name for column in table.primary_key]
    others = [column.name for column in table.columns if column.name not in (*key, *keep)]
    statement: Insert = insert.on_conflict_do_update(
        index_elements=key, set_={name: insert.excluded[name] for name in others}
    )
    return statement


@lru_cache
def _update(table: Table, names: tuple[str, ...]) -> RowsStatement:
    """Sets columns of the row with a number, the last of the names."""
    each = ", ".join(f"{name} = :{name}" for name in names[:-1])
    together = ", ".join(f"{name} = row.{name}" for name in names[:-1])
    return RowsStatement(
        f"UPDATE {table.name} SET {each} WHERE number = :number",
        f"UPDATE {table.name} SET {together} FROM {{rows}} WHERE {table.name}.number = row.number",
        _types(table),
    )


@lru_cache
def _set_votes(table: Table, replaced: str) -> RowsStatement:
    """Inserts votes, or replaces these columns of those that exist."""
    names = "number, voter, value, cast_ms, counts"
    values = ", ".join(f":{name}" for name in names.split(", "))
    new = ", ".join(f"{name} = excluded.{name}" for name in replaced.split(", "))
    conflict = f"ON CONFLICT (number, voter) DO UPDATE SET {new}"
    return RowsStatement(
        f"INSERT INTO {table.name} ({names}) VALUES ({values}) {conflict}",
        f"INSERT INTO {table.name} ({names}) SELECT {names} FROM {{rows}} {conflict}",
        _types(table),
    )


def _types(table: Table) -> dict[str, str]:
    """PostgreSQL's types of the columns."""
    return {column.name: column.type.compile(POSTGRESQL) for column in table.columns}


@lru_cache
def _end_vote(table: Table) -> Any:
    return delete(table).where(table.c.number == bindparam("this"), table.c.voter == bindparam("voter_name"))


@lru_cache
def _existing(table: Table) -> Statement:
    return Statement(f"SELECT number FROM {table.name} WHERE number IN :numbers", "numbers")


@lru_cache
def _delete(table: Table) -> Statement:
    return Statement(f"DELETE FROM {table.name} WHERE number IN :numbers", "numbers")
