"""
Makes the tables again: from the records of the store, and then from all entries that the log still has.

Rows of what the store does not have are removed, but for what only the database has: archived articles, votes whose
voters the store no longer has, when a vote was cast, and edits. Every step may be repeated, and a database without
positions is one whose rebuild has not ended.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy import ColumnElement, Connection, Row, Table, and_, delete, insert, or_, select, tuple_

from database import archive
from database.changes import Changed, Changes, derive
from database.comment_changes import row_of, state
from database.database import Database
from database.rows import (
    OF_A_COMMENT,
    OF_AN_ARTICLE,
    follow_row,
    remove_articles,
    remove_comments,
    remove_rows,
    replace_groups,
    slices,
    upsert,
    user_row,
    vote_row,
)
from database.tables import (
    ARTICLES,
    COMMENT_EDITS,
    COMMENT_VOTES,
    COMMENTS,
    EDITS,
    FOLLOWS,
    POSITIONS,
    USERS,
    VOTES,
)
from store import keys, log, records
from store.client import Command
from store.leases import Lease
from store.maintenance import dump
from store.maintenance.dump import Record, Skipped
from store.maintenance.restore import ORIGIN_FIELD
from store.maintenance.scan import Progress
from store.records import ContentState
from store.site import Site

RECORDS_AT_ONCE = 500  # in a transaction
VOTERS_AT_ONCE = 50_000
ROWS_AT_ONCE = 1_000
ENTRIES_AT_ONCE = 1_000
ARCHIVED_FIELD = "archived"  # of the settings of a store that has archived articles


class LogCutOff(Exception):
    """Entries that a rebuild had not read yet were removed from the log."""


@dataclass(frozen=True, slots=True)
class Rebuild:
    """`consumer` is the name under which the log keeps entries meanwhile."""

    site: Site
    database: Database
    consumer: str
    lease: Lease
    progress: Progress
    skipped: Skipped

    async def run(self) -> None:
        """Make all tables again. Costs a dump of the store, and a lookup in the store for each row."""
        while True:
            try:
                await self._run()
                return
            except LogCutOff:
                continue

    async def _run(self) -> None:
        identity, ends = await log.identity(self.site), await log.newest(self.site)
        for p in range(self.site.partitions):
            await log.advance(self.site, self.consumer, p, log.START)
        origin = await self.site.redis.run(("HGET", keys.store(), ORIGIN_FIELD))
        await self.database.write(delete_positions, origin or "")
        await self._copy_records()
        await self._remove_others()
        for p, end in enumerate(ends):
            await self._replay(p, end)
        await self.database.write(set_positions, identity, ends)
        for p, end in enumerate(ends):
            await log.advance(self.site, self.consumer, p, end)

    async def _copy_records(self) -> None:
        batch: list[Record] = []
        voters = 0
        async for some in dump.records_of(self.site, self.progress, self.skipped):
            batch += [record for record in some if record[0] in ("article", "comment", "follows", "user")]
            voters += sum(len(record[3]) + len(record[4]) for record in some if record[0] in ("article", "comment"))
            if len(batch) >= RECORDS_AT_ONCE or voters >= VOTERS_AT_ONCE:
                await self._copy(batch)
                batch, voters = [], 0
        await self._copy(batch)

    async def _copy(self, batch: list[Record]) -> None:
        await self.lease.extend()
        await self.database.write(copy, batch)

    async def _remove_others(self) -> None:
        """Remove the rows of what the store does not have: all archived articles, too, if it never archived any."""
        while not await self.site.redis.run(("HEXISTS", keys.store(), ARCHIVED_FIELD)):
            await self.lease.extend()
            if not await self.database.write(unarchive_some):
                break
        is_hot = ARTICLES.c.archived.is_(False)
        await self._sweep(ARTICLES, self._article_lookup, remove_rows_of_articles, is_hot)
        await self._sweep(COMMENTS, self._comment_lookup, remove_rows_of_comments)
        await self.database.write(remove_comments_without_article)
        for table in OF_AN_ARTICLE[1:]:
            await self.database.write(remove_orphans, table, ARTICLES)
        for table in OF_A_COMMENT[1:]:
            await self.database.write(remove_orphans, table, COMMENTS)
        await self._sweep(USERS, self._user_lookup, remove_users)
        await self._sweep(FOLLOWS, self._follow_lookup, remove_follows)

    async def _sweep(
        self,
        table: Table,
        lookup: Callable[[Row[Any]], Command],
        remove: Callable[[Connection, list[Row[Any]]], None],
        *conditions: ColumnElement[bool],
    ) -> None:
        """Look up each row of a table in the store by the command of `lookup`, and remove those it does not have."""
        last: Row[Any] | None = None
        while rows := await self.database.run(next_rows, table, last, conditions):
            found = await self.site.redis.pipeline([lookup(row) for row in rows])
            await self.lease.extend()
            absent = [row for row, reply in zip(rows, found, strict=True) if reply in (0, None)]
            if absent:
                await self.database.write(remove, absent)
            last = rows[-1]

    def _article_lookup(self, row: Row[Any]) -> Command:
        return ("EXISTS", keys.article(self.site.home_of_article(row.number), row.number))

    def _comment_lookup(self, row: Row[Any]) -> Command:
        return ("EXISTS", keys.comment(self.site.home_of_article(row.number), row.number))

    def _user_lookup(self, row: Row[Any]) -> Command:
        return ("EXISTS", keys.user(self.site.home_of_user(row.username), row.username))

    def _follow_lookup(self, row: Row[Any]) -> Command:
        return ("ZSCORE", keys.following(self.site.home_of_user(row.follower), row.follower), row.followee)

    async def _replay(self, p: int, end: str) -> None:
        """Apply the entries that the log still has, up to a position."""
        after = log.START
        while is_after(end, after):
            entries = await log.read(self.site, p, after, ENTRIES_AT_ONCE)
            if after != log.START and not await log.has_all_after(self.site, p, after):
                raise LogCutOff
            entries = [entry for entry in entries if not is_after(entry.id, end)]
            if not entries:
                return
            await self.lease.extend()
            await self.database.write(replay, entries)
            after = entries[-1].id


def stored_positions(connection: Connection) -> tuple[str, dict[int, str]]:
    """The identity of the log that the database follows, and the last entry of each partition that it has."""
    rows = connection.execute(select(POSITIONS.c.partition, POSITIONS.c.log, POSITIONS.c.entry)).all()
    identities = {row.log for row in rows}
    if len(identities) != 1:
        return "", {}
    return identities.pop(), {row.partition: row.entry for row in rows}


def delete_positions(connection: Connection, origin: str) -> None:
    """Mark the tables as incomplete. `origin` is that of a store that was restored: see `origin_of`."""
    identity, positions = stored_positions(connection)
    if origin.startswith(f"{identity} ") and positions:
        _, taken_at, *ends = origin.split()
        delete_since(connection, int(taken_at), ends)
    connection.execute(delete(POSITIONS))


def delete_since(connection: Connection, taken_at: int, ends: Sequence[str]) -> None:
    """Remove the edits and the votes that a restored store does not have, as they came after its backup."""
    for votes in (VOTES, COMMENT_VOTES):
        connection.execute(delete(votes).where(votes.c.cast_ms > taken_at))
    for edits in (EDITS, COMMENT_EDITS):
        for p, end in enumerate(ends):
            entries = connection.scalars(select(edits.c.entry).where(edits.c.partition == p))
            later = [id for id in entries if is_after(id, end)]
            for some in slices(later):
                connection.execute(delete(edits).where(edits.c.partition == p, edits.c.entry.in_(some)))


def is_after(id: str, other: str) -> bool:
    return log.sort_key(id) > log.sort_key(other)


def set_positions(connection: Connection, identity: str, ends: Sequence[str]) -> None:
    connection.execute(delete(POSITIONS))
    rows = [
        {"partition": p, "log": identity, "entry": end, "at_ms": log.sort_key(end)[0]} for p, end in enumerate(ends)
    ]
    connection.execute(insert(POSITIONS), rows)


def replay(connection: Connection, entries: Sequence[log.Entry]) -> None:
    Changes().add(entries).write(connection)


def copy(connection: Connection, batch: Sequence[Record]) -> None:
    """Write the rows of some records of a dump."""
    articles = [record[1:] for record in batch if record[0] == "article"]
    upsert(connection, ARTICLES, [article_row(number, fields) for number, fields, _, _ in articles], keep=("archived",))
    replace_groups(connection, {number: fields["groups"].split() for number, fields, _, _ in articles})
    replace_votes(connection, VOTES, articles)
    comments = [record[1:] for record in batch if record[0] == "comment"]
    copy_comments(connection, comments)
    users = [fields for kind, fields, *_ in batch if kind == "user"]
    upsert(connection, USERS, [user_row(fields["name"], int(fields["joined"]), fields.get("seen")) for fields in users])
    follows = [record[1:] for record in batch if record[0] == "follows"]
    pairs = [follow_row(name, other, since) for name, others in follows for other, since in others.items()]
    upsert(connection, FOLLOWS, pairs)
    changed = Changed(
        articles={number for number, *_ in articles},
        users={each["name"].lower() for each in users},
        comments={number for number, *_ in comments},
    )
    derive(connection, changed)


def copy_comments(connection: Connection, comments: Sequence[Sequence[Any]]) -> None:
    """Write the rows of comments, of which each comes after its parent. What is deleted keeps no votes and edits."""
    parents = {int(fields["parent"]) for _, fields, *_ in comments if "parent" in fields}
    depths: dict[int, int] = {}
    for some in slices(parents):
        found = connection.execute(select(COMMENTS.c.number, COMMENTS.c.depth).where(COMMENTS.c.number.in_(some)))
        depths.update((number, depth) for number, depth in found)
    for number, fields, *_ in comments:
        depths[number] = depths.get(int(fields["parent"]), 0) + 1 if "parent" in fields else 0
    upsert(connection, COMMENTS, [comment_row(number, fields, depths[number]) for number, fields, *_ in comments])
    replace_votes(connection, COMMENT_VOTES, [comment for comment in comments if not is_deleted(comment[1])])
    deleted = [number for number, fields, *_ in comments if is_deleted(fields)]
    for table in OF_A_COMMENT[1:]:
        remove_rows(connection, table, deleted)


def is_deleted(fields: dict[str, str]) -> bool:
    return fields.get("state") == ContentState.DELETED.value


def comment_row(number: int, fields: dict[str, str], depth: int) -> dict[str, Any]:
    return row_of(number, {"parent": "", **fields, "depth": str(depth)}) | {
        "poster": fields.get("poster"),
        "content": fields.get("content"),
        "edited_ms": int(fields["edited"]) if "edited" in fields else None,
        "imported_votes": int(fields.get("imported", 0)),
        "state": state(ContentState(fields.get("state", ContentState.VISIBLE.value))),
    }


def article_row(number: int, fields: dict[str, str]) -> dict[str, Any]:
    return {
        "number": number,
        "poster": fields["poster"],
        "title": fields["title"],
        "link": fields.get("link"),
        "content": fields.get("content"),
        "posted_ms": int(fields["time"]),
        "edited_ms": int(fields["edited"]) if "edited" in fields else None,
        "up": int(fields["up"]),
        "down": int(fields["down"]),
        "imported_votes": int(fields.get("imported", 0)),
        "archived": False,
    }


def replace_votes(connection: Connection, table: Table, subjects: Sequence[Sequence[Any]]) -> None:
    """
    Set the votes on articles or comments, and keep when equal votes were cast. Where the store no longer has the
    voters, all votes are kept, and the poster's is among them.
    """
    stored = stored_votes(connection, table, [number for number, *_ in subjects])
    gone: list[tuple[int, str]] = []
    rows = []
    for number, fields, up, down in subjects:
        poster, known = fields["poster"], stored.get(number, {})
        votes = {poster: 1, **dict.fromkeys(up, 1), **dict.fromkeys(down, -1)}
        cast = {poster: own_vote_cast(number, int(fields["time"]))}
        rows += [
            vote_row(number, voter, vote, cast.get(voter)) for voter, vote in votes.items() if known.get(voter) != vote
        ]
        gone += [(number, voter) for voter in known.keys() - votes.keys() if up]
    upsert(connection, table, rows)
    for some in slices(gone):
        connection.execute(delete(table).where(tuple_(table.c.number, table.c.voter).in_(some)))


def own_vote_cast(number: int, posted: int) -> int | None:
    """When the poster of an article or a comment voted on it: at once. None of an imported one, or if it is unknown."""
    sequence = records.sequence_of(number)
    return posted if sequence >= records.FIRST_STORY_SEQUENCE and not records.is_of_story(sequence) else None


def stored_votes(connection: Connection, table: Table, numbers: Sequence[int]) -> dict[int, dict[str, int]]:
    """The votes that the table has, by number and voter."""
    found: dict[int, dict[str, int]] = {}
    for some in slices(numbers):
        rows = connection.execute(select(table.c.number, table.c.voter, table.c.value).where(table.c.number.in_(some)))
        for number, voter, value in rows:
            found.setdefault(number, {})[voter] = value
    return found


def next_rows(
    connection: Connection, table: Table, last: Row[Any] | None, conditions: Sequence[ColumnElement[bool]]
) -> list[Row[Any]]:
    """The keys of the rows after one, in the order of the primary key."""
    key = list(table.primary_key)
    statement = select(*key).where(*conditions).order_by(*key).limit(ROWS_AT_ONCE)
    if last is not None:
        statement = statement.where(tuple_(*key) > tuple_(*last) if len(key) > 1 else key[0] > last[0])
    return list(connection.execute(statement))


def remove_rows_of_articles(connection: Connection, rows: Sequence[Row[Any]]) -> None:
    found = [row.number for row in rows]
    hot = select(ARTICLES.c.number).where(ARTICLES.c.number.in_(found), ARTICLES.c.archived.is_(False))
    numbers = set(connection.scalars(hot))  # one that was archived meanwhile is no longer in the store
    comments = remove_articles(connection, numbers)
    derive(connection, Changed(removed=numbers, comments=comments))


def remove_rows_of_comments(connection: Connection, rows: Sequence[Row[Any]]) -> None:
    numbers = {row.number for row in rows}
    remove_comments(connection, numbers)
    derive(connection, Changed(comments=numbers))


def remove_comments_without_article(connection: Connection) -> None:
    """Remove the comments of articles that are not in the table of articles."""
    is_orphan = COMMENTS.c.article.not_in(select(ARTICLES.c.number))
    numbers = set(connection.scalars(select(COMMENTS.c.number).where(is_orphan)))
    remove_comments(connection, numbers)
    derive(connection, Changed(comments=numbers))


def remove_orphans(connection: Connection, table: Table, parents: Table) -> None:
    """Remove the rows of articles or comments that are not in the table of these."""
    connection.execute(delete(table).where(table.c.number.not_in(select(parents.c.number))))


def unarchive_some(connection: Connection) -> bool:
    """Make archived articles plain rows, some at a time. False if there is none."""
    numbers = archive.numbers(connection, 0, RECORDS_AT_ONCE)
    archive.unarchive(connection, numbers)
    return bool(numbers)


def remove_users(connection: Connection, rows: Sequence[Row[Any]]) -> None:
    names = [row.username for row in rows]
    connection.execute(delete(USERS).where(USERS.c.username.in_(names)))
    derive(connection, Changed(users=set(names)))


def remove_follows(connection: Connection, rows: Sequence[Row[Any]]) -> None:
    pairs = [and_(FOLLOWS.c.follower == row.follower, FOLLOWS.c.followee == row.followee) for row in rows]
    for some in slices(pairs, 100):
        connection.execute(delete(FOLLOWS).where(or_(*some)))
