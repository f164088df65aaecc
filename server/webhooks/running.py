"""
Sends changes of the store to webhooks (receivers outside), as long as a server runs, in one of all its processes: the
one that holds the lease.
"""

import asyncio
import logging
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, suppress
from importlib import import_module
from typing import TYPE_CHECKING, Any, NoReturn

from database import webhooks
from database.database import Database, DatabaseUnavailable
from server.webhooks.spooler import Spooler
from store.background import running
from store.errors import StoreError, StoreUnavailable
from store.leases import Lease
from store.site import Site

if TYPE_CHECKING:
    from server.webhooks.sender import Sender

# The process that holds the lease sends. Another can take it so many milliseconds after it was extended last.
LEASE, LEASE_TIME = "webhooks", 3_000
IDLE = 0.2  # seconds between two checks for new entries
WAITING = 1.0  # seconds between two checks while another process sends, or while there are no webhooks
RETRY_PAUSE = 2.0  # seconds after a fault
CLOSING_TIME = 1.0  # seconds in which tasks that send may end when the server stops
DROP_INTERVAL = 60_000  # milliseconds between two removals of old messages

logger = logging.getLogger("upvote")


class Webhooks:
    """What one process does for webhooks while it has the lease."""

    def __init__(self, site: Site, database: Database, on_result: Callable[[str], None]) -> None:
        self._site, self._database, self._on_result = site, database, on_result
        self._lease = Lease(site, LEASE, LEASE_TIME)
        self._spooler = Spooler(site, database, self._lease)
        self._dropped_at = 0
        self.sender: Sender | None = None

    async def turn(self) -> float:
        """
        Take all new changes, begin to send what is due, and return after how many seconds to check again.

        Without webhooks, one read of the database; without new changes, two, and four round trips.
        """
        cursor = await self._database.run(webhooks.position)
        if cursor is None:
            self.pause()
            await self._spooler.forget()
            return WAITING
        if not await self._lease.extend():
            self._spooler.reset()
            self.pause()
            return WAITING
        await self._spooler.turn(cursor)
        if self.sender is None:
            module: Any = await asyncio.to_thread(import_module, "server.webhooks.sender")  # slow to import
            self.sender = module.Sender(self._database, self._site.clock, self._on_result)
        await self.sender.start(await self._database.run(webhooks.webhooks))
        await self._drop_old()
        return IDLE

    def pause(self) -> None:
        """Begin to send nothing more: another process may, or there is nothing to send to."""
        if self.sender:
            self.sender.pause()

    async def close(self) -> None:
        if self.sender:
            await self.sender.close()
        await self._lease.end()

    async def _drop_old(self) -> None:
        now = self._site.clock()
        if now < self._dropped_at + DROP_INTERVAL:
            return
        while dropped := await self._database.write(webhooks.drop_old, now):
            logger.warning("%d messages of webhooks that are off were dropped: they are 7 days old", dropped)
        self._dropped_at = now


@asynccontextmanager
async def sending(site: Site, database: Database | None, on_result: Callable[[str], None]) -> AsyncIterator[None]:
    """Send webhooks in the background, as long as the context is open, if there is a database."""
    if database is None:
        yield
        return
    async with running(_send(site, database, on_result)):
        yield


async def _send(site: Site, database: Database, on_result: Callable[[str], None]) -> NoReturn:
    """Take turns for ever. A fault that lasts is logged once."""
    work, fault = Webhooks(site, database, on_result), ""
    await database.tried()  # to open it, for the first time
    try:
        while True:
            try:
                pause, fault = await work.turn(), ""
            except (StoreUnavailable, DatabaseUnavailable) as error:
                work.pause()
                pause, reported, fault = RETRY_PAUSE, fault, str(error)
                if fault != reported and work.sender:
                    logger.warning("no webhooks are sent: %s", fault)
            except Exception:  # the task must not end
                pause = RETRY_PAUSE
                logger.exception("webhooks failed")
            await asyncio.sleep(pause)
    finally:
        with suppress(StoreError, TimeoutError):
            async with asyncio.timeout(CLOSING_TIME):
                await work.close()
