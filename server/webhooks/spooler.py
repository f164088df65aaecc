"""
Takes changes from the log, which has an entry for each change of the store, into tables of the database, from where
they are sent to webhooks. A cursor is a position in the log of all partitions, the shares of the data.

Messages and the new position in the log are written in one transaction, which fails if another process has moved the
position meanwhile. So each change is taken once, in order, whatever is killed.
"""

import logging
from asyncio import gather

from database import webhooks
from database.database import Database
from database.webhooks import AlreadySpooled
from resolvers.changes import CursorGone, LogPosition, LogReader, oldest_position, parse_cursor
from server.webhooks.messages import messages_of, users_who_left
from store import log
from store.leases import Lease
from store.site import Site

CONSUMER = "webhooks"  # the name under which the log keeps how far it was read for webhooks
BATCH = 500  # changes in a transaction

logger = logging.getLogger("upvote")


class Spooler:
    """Reads the log as the consumer `webhooks`, and puts messages into the database."""

    def __init__(self, site: Site, database: Database, lease: Lease) -> None:
        self._site, self._database, self._lease = site, database, lease
        self._reader: LogReader | None = None
        self._stored = ""  # the cursor in the database that the reader goes on from
        self._noted: dict[int, str] = {}  # by partition: the id of the last entry that the log knows to be taken

    def reset(self) -> None:
        """Read the position from the database again, as another process may have moved it."""
        self._reader = None

    async def turn(self, cursor: str) -> None:
        """Take all entries that the log has after the cursor in the database. Three round trips if there are none."""
        identity = await log.identity(self._site)
        if self._reader is None or cursor != self._stored or identity != self._reader.position.identity:
            self._reader, self._stored, self._noted = LogReader(self._site, await self._start(cursor)), cursor, {}
        is_complete = False
        try:
            await self._take_all(self._reader)
            is_complete = True
        except (AlreadySpooled, CursorGone):
            pass  # the next turn begins at the position in the database
        finally:
            if not is_complete:
                self.reset()

    async def forget(self) -> None:
        """Let the log keep no entries for webhooks any more, as the last one was removed."""
        if self._noted:
            await log.forget(self._site, CONSUMER)
            self._noted = {}
            self.reset()

    async def _take_all(self, reader: LogReader) -> None:
        """Take entries in batches up to the end of the log, as long as this process has the lease."""
        await self._note(reader.position)
        reader.refresh()  # learns where the log ends now
        while not reader.is_at_end and await self._lease.extend():
            changes = await reader.read(BATCH, kinds=None)
            after = reader.position
            if after.cursor == self._stored:
                return
            messages, deleted = messages_of(changes)
            left, now = users_who_left(changes), self._site.clock()
            await self._database.write(webhooks.spool, self._stored, after.cursor, messages, deleted, left, now)
            self._stored = after.cursor
            await self._note(after)

    async def _note(self, position: LogPosition) -> None:
        """Tell the log which entries were taken, so that they need not be kept."""
        taken = {partition: id for partition, id in enumerate(position.ids) if self._noted.get(partition) != id}
        await gather(*(log.advance(self._site, CONSUMER, partition, id) for partition, id in taken.items()))
        self._noted |= taken

    async def _start(self, cursor: str) -> LogPosition:
        """
        Where the log goes on after a cursor. Entries that were removed from it are passed over, and a warning says so.
        As some may have been deletions, the messages that wait lose their texts.
        """
        position = parse_cursor(cursor)
        oldest = await oldest_position(self._site)
        if position.identity != oldest.identity or len(position.ids) != len(oldest.ids):
            logger.warning("webhooks go on at the beginning of the log: the store was restored or moved since")
            await self._remove_texts()
            return oldest
        ids = tuple(max(pair, key=log.sort_key) for pair in zip(position.ids, oldest.ids, strict=True))
        if ids != position.ids:
            logger.error("webhooks miss changes: they were removed from the log before they were taken")
            await self._remove_texts()
        return LogPosition(position.identity, ids)

    async def _remove_texts(self) -> None:
        """Remove the texts of all messages that wait."""
        number: int | None = 0
        while number is not None:
            number = await self._database.write(webhooks.remove_texts_after, number)
