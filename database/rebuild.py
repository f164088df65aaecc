"""
Makes the tables again: from a dump of the store in Redis, and then from all entries that the log still has. The log is
a stream of changes; each partition, a share of the store, has its own.

Rows of what the store does not have are removed. What only the database has is kept: archived articles, votes whose
voters the store no longer has, when a vote was cast, and edits. Every step may be repeated. The positions, which say up
to where the database has read the log, are written last: a database without positions is not complete.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy import ColumnElement, Connection, Row, Table, delete, insert, select

from database import record_rows, stale_rows, vote_gaps
from database.changes import Changes
from database.database import Database
from database.leaving import replace_some
from database.positions import stored_positions
from database.rows import ABOUT_ARTICLES, ABOUT_COMMENTS
from database.statements import slices
from database.tables import (
    ARTICLES,
    COMMENT_EDITS,
    COMMENT_VOTES,
    COMMENTS,
    EDITS,
    FOLLOWS,
    GROUP_FOLLOWS,
    GROUP_TEXTS,
    MODERATION_ACTIONS,
    POSITIONS,
    USERS,
    VOTES,
)
from store import followed, keys, leaving, log, moving
from store.client import Command
from store.leases import Lease
from store.maintenance import dump
from store.maintenance.records.content import VotedOnRecord
from store.maintenance.records.record import OnSkipped, Record
from store.maintenance.restore import ORIGIN_FIELD
from store.maintenance.scan import Progress
from store.site import Site

RECORDS_AT_ONCE = 500  # in a transaction
VOTERS_AT_ONCE = 50_000  # of the records in a transaction
ENTRIES_AT_ONCE = 1_000  # of the log, in a transaction
ARCHIVED_FIELD = "archived"  # of the settings of a store that has archived articles


class LogCutOff(Exception):
    """Entries that a rebuild had not read yet were removed from the log."""


@dataclass(frozen=True, slots=True)
class Rebuild:
    """
    `consumer` is the name under which the log notes what the database has read: it keeps the entries after that.
    `lease` lets one process at a time write the database, and is extended at each step. `progress` is called with the
    number of keys that were seen, `on_skipped` with each key that is damaged.
    """

    site: Site
    database: Database
    consumer: str
    lease: Lease
    progress: Progress
    on_skipped: OnSkipped

    async def run(self) -> None:
        """Make all tables again. Costs a dump of the store, and a lookup in the store for each row."""
        while True:
            try:
                await self._run()
                return
            except LogCutOff:
                continue

    async def _run(self) -> None:
        """
        Raises:
            LogCutOff: the log has lost entries meanwhile, so all has to be done again.
        """
        identity, ends = await log.identity(self.site), await log.newest(self.site)
        # from here on the log keeps all entries until `_replay` has read them
        for partition in range(self.site.partitions):
            await log.advance(self.site, self.consumer, partition, log.START)
        origin = await self.site.redis.run(("HGET", keys.store(), ORIGIN_FIELD))
        await self.database.write(delete_positions, origin or "")
        await self._copy_records()
        await self._remove_others()
        for partition, end in enumerate(ends):
            await self._replay(partition, end)
        # of what is open to votes Redis has the voters, and the counts may be newer than the position
        closed_before = self.site.clock() - self.site.policy.voting_window * 1000
        await self.database.write(vote_gaps.note, closed_before)
        await self.database.write(set_positions, identity, ends)
        for partition, end in enumerate(ends):
            await log.advance(self.site, self.consumer, partition, end)

    async def _copy_records(self) -> None:
        """Write the rows of all records of a dump, some in a transaction."""
        batch: list[Record] = []
        voters = 0
        async for some in dump.records_of(self.site, self.progress, self.on_skipped):
            batch += some
            voters += sum(record.voters for record in some if isinstance(record, VotedOnRecord))
            if len(batch) >= RECORDS_AT_ONCE or voters >= VOTERS_AT_ONCE:
                await self._copy(batch)
                batch, voters = [], 0
        await self._copy(batch)

    async def _copy(self, batch: list[Record]) -> None:
        await self.lease.extend()
        numbers = [record.number for record in batch if isinstance(record, VotedOnRecord)]
        commands: list[Command] = [
            ("HGETALL", keys.annulled(self.site.partition_of_article(number), number)) for number in numbers
        ]
        found = await self.site.redis.pipeline(commands) if commands else []
        # votes that do not count, as a moderator has annulled them
        annulled = {number: values_of(votes) for number, votes in zip(numbers, found, strict=True) if votes}
        await self.database.write(record_rows.copy, batch, annulled)

    async def _remove_others(self) -> None:
        """Remove the rows of what the store does not have; also archived articles, if the store has no archive."""
        while not await self.site.redis.run(("HEXISTS", keys.store(), ARCHIVED_FIELD)):
            await self.lease.extend()
            if not await self.database.write(stale_rows.unarchive_some):
                break
        await self._remove_deleted()
        await self._replace_names()
        is_in_store = ARTICLES.c.archived.is_(False)
        await self._sweep(ARTICLES, self._article_lookup, stale_rows.remove_rows_of_articles, is_in_store)
        archived = select(ARTICLES.c.number).where(ARTICLES.c.archived.is_(True))
        await self._sweep(
            COMMENTS, self._comment_lookup, stale_rows.remove_rows_of_comments, COMMENTS.c.article.not_in(archived)
        )
        await self.database.write(stale_rows.remove_comments_without_article)
        for table in ABOUT_ARTICLES:
            await self.database.write(stale_rows.remove_orphans, table, ARTICLES)
        for table in ABOUT_COMMENTS:
            await self.database.write(stale_rows.remove_orphans, table, COMMENTS)
        await self._sweep(USERS, self._user_lookup, stale_rows.remove_users)
        await self._sweep(FOLLOWS, self._follow_lookup, stale_rows.remove_follows)
        await self._sweep(GROUP_FOLLOWS, self._group_follow_lookup, stale_rows.remove_group_follows)
        await self._sweep(GROUP_TEXTS, self._group_lookup, stale_rows.remove_group_texts)
        await self._sweep(MODERATION_ACTIONS, self._action_lookup, stale_rows.remove_actions)

    async def _replace_names(self) -> None:
        """Replace the names of users who were deleted, whose deletion the log may no longer have."""
        after = ""
        while users := await self.database.run(stale_rows.users_after, after):
            after = max(users)
            for name, pseudonym in (await leaving.pseudonyms(self.site, users)).items():
                await self.lease.extend()
                while not await self.database.write(replace_some, users[name], pseudonym):
                    await self.lease.extend()

    async def _remove_deleted(self) -> None:
        """Remove articles that were archived, came back and were deleted: the log may no longer have their deletion."""
        for partition in range(self.site.partitions):
            # marked: articles that leave Redis or have come back, until the database has removed their places
            states = await moving.states_of(self.site, await moving.marked(self.site, partition))
            deleted = {number for number, state in states.items() if not (state.article or state.may_be_archived)}
            if deleted:
                await self.lease.extend()
                await self.database.write(stale_rows.remove_with_comments, deleted)

    async def _sweep(
        self,
        table: Table,
        lookup: Callable[[Row[Any]], Command],
        remove: Callable[[Connection, list[Row[Any]]], None],
        *conditions: ColumnElement[bool],
    ) -> None:
        """Look up each row of a table in the store by the command of `lookup`, and remove those it does not have."""
        last: Row[Any] | None = None
        while rows := await self.database.run(stale_rows.next_rows, table, last, conditions):
            found = await self.site.redis.pipeline([lookup(row) for row in rows])
            await self.lease.extend()
            # EXISTS replies 0, and ZSCORE None
            absent = [row for row, reply in zip(rows, found, strict=True) if reply in (0, None)]
            if absent:
                await self.database.write(remove, absent)
            last = rows[-1]

    def _article_lookup(self, row: Row[Any]) -> Command:
        return ("EXISTS", keys.article(self.site.partition_of_article(row.number), row.number))

    def _comment_lookup(self, row: Row[Any]) -> Command:
        return ("EXISTS", keys.comment(self.site.partition_of_article(row.number), row.number))

    def _user_lookup(self, row: Row[Any]) -> Command:
        return ("EXISTS", keys.user(self.site.partition_of_user(row.username), row.username))

    def _follow_lookup(self, row: Row[Any]) -> Command:
        return ("ZSCORE", followed.following(self.site.partition_of_user(row.follower), row.follower), row.followee)

    def _group_follow_lookup(self, row: Row[Any]) -> Command:
        partition = self.site.partition_of_user(row.follower)
        return ("ZSCORE", followed.followed_groups(partition, row.follower), row.name)

    def _group_lookup(self, row: Row[Any]) -> Command:
        return ("EXISTS", keys.place(self.site.partition_of_group(row.name), row.name))

    def _action_lookup(self, row: Row[Any]) -> Command:
        return ("EXISTS", keys.action(self.site.partition_of_article(row.number), row.number))

    async def _replay(self, partition: int, end: str) -> None:
        """Apply the entries that the log still has, up to a position."""
        after = log.START
        while is_after(end, after):
            entries = await log.read(self.site, partition, after, ENTRIES_AT_ONCE)
            if after != log.START and not await log.has_all_after(self.site, partition, after):
                raise LogCutOff
            entries = [entry for entry in entries if not is_after(entry.id, end)]
            if not entries:
                return
            await self.lease.extend()
            await self.database.write(replay, self.site, entries)
            after = entries[-1].id


def delete_positions(connection: Connection, origin: str) -> None:
    """
    Mark the tables as incomplete. If the store was restored from a backup of the log that the tables were made from,
    also remove what came after the backup. `origin` is "" if it was not restored, else words with spaces between them:
    the identity of that log, when the backup was made (unix milliseconds), and the last entry of each partition then.
    """
    identity, positions = stored_positions(connection)
    if origin.startswith(f"{identity} ") and positions:
        _, taken_at, *ends = origin.split()
        delete_since(connection, int(taken_at), ends)
    connection.execute(delete(POSITIONS))


def delete_since(connection: Connection, taken_at: int, ends: Sequence[str]) -> None:
    """Remove the edits and the votes that came after a backup: a store restored from it does not have them."""
    for votes in (VOTES, COMMENT_VOTES):
        connection.execute(delete(votes).where(votes.c.cast_ms > taken_at))
    for edits in (EDITS, COMMENT_EDITS):
        for partition, end in enumerate(ends):
            entries = connection.scalars(select(edits.c.entry).where(edits.c.partition == partition))
            later = [id for id in entries if is_after(id, end)]
            for some in slices(later):
                connection.execute(delete(edits).where(edits.c.partition == partition, edits.c.entry.in_(some)))


def is_after(id: str, other: str) -> bool:
    return log.sort_key(id) > log.sort_key(other)


def set_positions(connection: Connection, identity: str, ends: Sequence[str]) -> None:
    """Mark the tables as complete up to the entries `ends`, one of each partition."""
    connection.execute(delete(POSITIONS))
    rows = [
        {"partition": partition, "log": identity, "entry": end, "at_ms": log.sort_key(end)[0]}
        for partition, end in enumerate(ends)
    ]
    connection.execute(insert(POSITIONS), rows)


def replay(connection: Connection, site: Site, entries: Sequence[log.Entry]) -> None:
    Changes().add(entries).write(connection, site)


def values_of(annulled: Mapping[str, str]) -> dict[str, int]:
    """
    The values of the votes on an article or a comment that do not count, by voter. `annulled` is the hash that Redis
    has of them: by voter the value, and then the actions that annul the vote, separated by spaces.
    """
    values = {voter: int(text.partition(" ")[0]) for voter, text in annulled.items()}
    return {voter: value for voter, value in values.items() if value}
