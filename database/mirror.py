"""
Keeps a database equal to a store in Redis: reads the log of each partition and writes its changes into the tables. A
partition is a share of the store; every change there appends an entry to its log, a Redis stream. A position is the id
of the last entry that the database has.

Rows and the position in the log are written in one transaction, on condition that the position is still the one before
these entries. So each entry is applied once, in order, also if two processes do this at the same time or are killed.
"""

import asyncio
import logging
from collections.abc import Iterator, Sequence

from sqlalchemy import Connection, bindparam, update

from database.changes import Changes
from database.database import CONSUMER, Database
from database.positions import stored_positions
from database.rebuild import Rebuild
from database.tables import POSITIONS
from store import deletions, log
from store.leases import Lease
from store.log import Entry
from store.maintenance.records.record import OnSkipped
from store.maintenance.scan import Progress
from store.site import Site

# A lease is a key that expires: its holder is the one process that mirrors the store.
LEASE, LEASE_TIME = "mirror", 3_000  # the lease's name, and milliseconds after which another process takes over
BATCH = 1_000  # entries that are read at once
MOST_CHANGES = 1_000  # in a transaction: entries, and votes of entries that have many
IDLE = 0.2  # seconds between two checks for new entries
MANY_PARTITIONS, IDLE_WITH_MANY = 128, 0.5  # a check takes two commands for each partition
WAITING = 1.0  # seconds between two checks while another process mirrors the store

MOVE_POSITION = (
    update(POSITIONS)
    .where(
        POSITIONS.c.partition == bindparam("p"),
        POSITIONS.c.log == bindparam("identity"),
        POSITIONS.c.entry == bindparam("after"),
    )
    .values(entry=bindparam("id"), at_ms=bindparam("at"))
)

logger = logging.getLogger("upvote")


def ignore(_: object) -> None:
    """Takes the place of a function that would be told the progress."""


class AlreadyApplied(Exception):
    """Another process has applied these entries."""


class Mirror:
    """Applies the entries of a store's log to a database. One process does this at a time: the holder of the lease."""

    def __init__(self, site: Site, database: Database) -> None:
        self._site = site
        self._database = database
        self._lease = Lease(site, LEASE, LEASE_TIME)
        self._identity = ""  # of the log: another store has another one, and so has a store that was restored
        self._positions: dict[int, str] = {}  # by partition

    async def turn(self) -> float:
        """
        Apply all new entries, unless another process does, and return after how many seconds to check again.

        Three round trips if there are none.
        """
        if not await self._lease.extend():
            self._positions.clear()
            return WAITING
        await self.catch_up()
        return IDLE if self._site.partitions <= MANY_PARTITIONS else IDLE_WITH_MANY

    async def catch_up(self) -> None:
        """Apply all entries that the logs have now. A database that cannot go on from its positions is rebuilt."""
        identity, ends = await asyncio.gather(log.identity(self._site), log.newest(self._site))
        if not self._positions or identity != self._identity:
            await self._find_positions(identity)
        try:
            for partition, end in enumerate(ends):
                while self._positions[partition] != end and await self._apply_some(partition):
                    pass
        except AlreadyApplied:
            self._positions.clear()

    async def rebuild(self, progress: Progress = ignore, on_skipped: OnSkipped = ignore) -> None:
        """
        Make all tables again from the store and the log, while no other process mirrors the store.

        `progress` is called with the number of keys that were seen, `on_skipped` with each key that is damaged.
        """
        self._positions.clear()
        await self._lease.take_over()
        await Rebuild(self._site, self._database, CONSUMER, self._lease, progress, on_skipped).run()
        self._identity, self._positions = await self._database.run(stored_positions)

    async def close(self) -> None:
        await self._lease.end()

    async def _find_positions(self, identity: str) -> None:
        """
        Read the positions of the database, and note them in the store as the positions of its consumer, so that the log
        keeps what the database lacks. Rebuild the database if it follows another log.
        """
        self._identity, self._positions = await self._database.run(stored_positions)
        if not self._positions:
            await self.rebuild()  # it is new, or a rebuild was interrupted
        elif self._identity != identity or len(self._positions) != self._site.partitions:
            logger.warning("the database is rebuilt: it is of another store, or of this one before a restore or a move")
            await self.rebuild()

        taken = (await log.positions(self._site)).get(CONSUMER, {})
        for partition, id in self._positions.items():
            if taken.get(partition) != id:  # the process that wrote it was killed before it noted it in the store
                await log.advance(self._site, CONSUMER, partition, id)

    async def _apply_some(self, partition: int) -> bool:
        """Apply the next entries of a partition. False if there is none, or if the database was rebuilt."""
        after = self._positions[partition]
        entries = await log.read(self._site, partition, after, BATCH)
        if not await log.has_all_after(self._site, partition, after):
            logger.warning("the database is rebuilt: the log of partition %d lacks entries after %s", partition, after)
            await self.rebuild()
            return False
        if not entries:
            return False
        for some in transactions(entries):
            await self._database.write(apply, self._site, self._identity, self._positions[partition], some)
            self._positions[partition] = some[-1].id
            await log.advance(self._site, CONSUMER, partition, some[-1].id)
            if any(entry.kind in log.DELETIONS for entry in some):
                # the database no longer has what was deleted, so reads need not leave it out any more
                await deletions.forget(self._site, partition, some[-1].id)
            await self._lease.extend()
        return True


def transactions(entries: Sequence[Entry]) -> Iterator[list[Entry]]:
    """
    Entries in parts of at most `MOST_CHANGES` changes, as requests wait for the thread that writes a part. An entry
    with more changes is a part of its own.

    An entry of votes that a moderator has annulled or restored counts as many changes as it has votes: each changes a
    row, and on an archived article some 20 places, too. Its field `votes` has a word for each, divided by spaces.
    """
    part, changes = list[Entry](), 0
    for entry in entries:
        count = 1 + entry.values.get("votes", "").count(" ")
        if part and changes + count > MOST_CHANGES:
            yield part
            part, changes = [], 0
        part.append(entry)
        changes += count
    yield part


def apply(connection: Connection, site: Site, identity: str, after: str, entries: Sequence[Entry]) -> None:
    """
    Apply the entries of a partition that follow a position, and set the position to the last of them.

    Raises:
        AlreadyApplied: the position is another one by now.
    """
    last = entries[-1]
    move = {"p": last.partition, "identity": identity, "after": after, "id": last.id, "at": last.at}
    if connection.execute(MOVE_POSITION, move).rowcount != 1:
        raise AlreadyApplied
    Changes().add(entries).write(connection, site)
