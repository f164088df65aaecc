"""
Moves articles from Redis into the archive: the oldest beyond the limits of the settings whose voting is closed.

`store/archive.py` describes the steps. One process moves the articles of a partition: it has a lease in Redis, and its
token in the database, so that a process whose lease has ended cannot change anything.
"""

import asyncio
import logging
import secrets
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from functools import partial
from math import inf
from time import monotonic
from typing import TYPE_CHECKING, NoReturn

from database.database import Database, DatabaseUnavailable
from store import archiving, keys, log
from store.background import running
from store.errors import StoreUnavailable
from store.ranking.formulas import Order
from store.records import Article
from store.site import Site, unix_milliseconds

if TYPE_CHECKING:
    from sqlalchemy import Connection

INTERVAL = 10.0  # seconds between two passes
BATCH = 200  # articles that are moved at once
NOTICE = 10.0  # seconds for all processes to learn that the store has an archive, before the first article leaves
REMOVAL_DELAY = 5.0  # seconds after an article came back: reads that started before it still use its places
REVERSIBLE = 60_000  # milliseconds of writes that Redis may lose when it is killed or fails over
LAG = 10.0  # seconds to wait until the mirror has the last change of a batch
POLL = 0.02  # seconds

logger = logging.getLogger("upvote")


class Overtaken(Exception):
    """Another process has taken the lease."""


@dataclass(frozen=True, slots=True)
class Limits:
    """How many articles stay in Redis: of all users, and of each. Those that are open to votes always do."""

    articles: int
    articles_per_user: int


@dataclass(slots=True)
class Archiver:
    """Moves the articles of all partitions whose lease it has. `notice` and `removal_delay` are in seconds."""

    site: Site
    database: Database
    limits: Limits
    notice: float = NOTICE
    removal_delay: float = REMOVAL_DELAY
    token: str = field(default_factory=lambda: secrets.token_hex(8))
    _claimed: set[int] = field(default_factory=set)  # partitions of which the database has this token
    _seen: dict[int, dict[int, float]] = field(default_factory=dict)  # when articles were first seen to be moving

    async def run(self) -> NoReturn:
        """Move articles every `INTERVAL` seconds. An interruption is logged once."""
        fault = ""
        while True:
            await asyncio.sleep(INTERVAL)
            try:
                moved, fault = await self.move(), ""
                if moved:
                    logger.info("%d articles were archived", moved)
            except (StoreUnavailable, DatabaseUnavailable) as error:
                reported, fault = fault, str(error)
                if fault != reported:
                    logger.warning("no articles are archived: %s", fault)
            except Exception:  # the task must not end
                logger.exception("archiving failed")

    async def move(self) -> int:
        """Move what is beyond the limits, in all partitions that no other process is moving. Return how many."""
        moved = 0
        for p in range(self.site.partitions):
            try:
                if await self._has_lease(p):
                    await self._renew_listings(p)
                    await self._mark_lost(p)
                    await self._remove_old_places(p)
                    moved += await self._move_partition(p)
            except Overtaken:
                self._claimed.discard(p)
        return moved

    async def close(self) -> None:
        """Give up the leases."""
        for p in range(self.site.partitions):
            await archiving.lease(self.site, p, self.token).end()

    async def _has_lease(self, p: int) -> bool:
        """Take or extend the lease of a partition. A process that had it meanwhile has claimed the database, too."""
        if not await archiving.lease(self.site, p, self.token).extend():
            self._claimed.discard(p)
            return False
        if p not in self._claimed:
            await self.database.write(_claim, p, self.token)
            self._claimed.add(p)
        return True

    async def _move_partition(self, p: int) -> int:
        site, moved = self.site, 0
        of_partition = max(self.limits.articles // site.partitions, 1 if self.limits.articles else 0)
        beyond = await archiving.count(site, p) - of_partition
        moved += await self._move_oldest(p, keys.index(p, Order.TIME.value), beyond)
        async for name, beyond in archiving.long_timelines(site, p, self.limits.articles_per_user):
            moved += await self._move_oldest(p, keys.timeline(p, name), beyond)
        return moved

    async def _move_oldest(self, p: int, index: str, count: int) -> int:
        """Move the oldest `count` articles of an index, without those that are open to votes."""
        moved = stayed = 0
        if count > 0 and not await self._has_begun():
            return 0
        while moved + stayed < count:
            limit = min(BATCH, count - moved - stayed)
            numbers = await archiving.oldest_closed(self.site, index, stayed, limit)
            if not numbers:
                break
            batch = await self._move_batch(p, numbers)
            moved, stayed = moved + batch, stayed + len(numbers) - batch
        return moved

    async def _move_batch(self, p: int, numbers: Sequence[int]) -> int:
        if not await self._has_lease(p):
            raise Overtaken
        found = await archiving.archivable(self.site, p, numbers)
        if not found:
            return 0
        await self._wait_for_mirror(p)
        await self._mark(p, [each.article.number for each in found], is_moving=True)
        articles = [each.article for each in found]
        await self._write(p, partial(_write_places, self.site, p, articles))
        return await archiving.remove(self.site, p, found, self.token)

    async def _wait_for_mirror(self, p: int) -> None:
        """Wait until the database has all changes of a partition up to now."""
        newest, deadline = (await log.newest(self.site))[p], monotonic() + LAG
        identity = await log.identity(self.site)
        while not await self.database.run(_has_entry, p, identity, newest):
            if monotonic() > deadline:
                raise DatabaseUnavailable(f"the database is more than {LAG:.0f} seconds behind")
            await asyncio.sleep(POLL)

    async def _has_begun(self) -> bool:
        """Before the first article leaves Redis, let all processes know that from now on some are in the database."""
        rankings = self.site.rankings
        await rankings.read(self.site.redis)
        if rankings.archive is None:
            if not await self._has_lease(0):
                return False
            identity = secrets.token_hex(8)
            await self._write(0, partial(_set_identity, identity))
            await archiving.begin(self.site, identity)
            await asyncio.sleep(self.notice)
            await rankings.read(self.site.redis)
        await self.database.run(check_identity, rankings.archive or "")
        return True

    async def _remove_old_places(self, p: int) -> None:
        """Remove the places of articles that came back, or have not left, some time ago."""
        seen, now = self._seen.get(p, {}), monotonic()
        self._seen[p] = {number: seen.get(number, now) for number in await archiving.marked(self.site, p)}
        old = [number for number, since in self._seen[p].items() if now - since >= self.removal_delay]
        for start in range(0, len(old), BATCH):
            some = old[start : start + BATCH]
            await self._write(p, partial(_remove_places, some))
            await self._mark(p, some, is_moving=False)

    async def _mark_lost(self, p: int) -> None:
        """
        Mark articles again that are back because Redis was killed and has lost its last writes.

        After a failover to a replica that lacks more than `REVERSIBLE`, `verify` finds the others.
        """
        recent = await self.database.run(partial(_recent, p))
        for start in range(0, len(recent), BATCH):
            if returned := await archiving.in_redis(self.site, p, recent[start : start + BATCH]):
                await self._mark(p, returned, is_moving=True)
        if recent:
            await self._write(p, partial(_delete_old_batches, p))

    async def _renew_listings(self, p: int) -> None:
        """Compute the places again of listings whose weights have changed."""
        if p != 0 or self.site.rankings.archive is None:
            return
        await renew_listings(self.site, self.database)

    async def _mark(self, p: int, numbers: Sequence[int], *, is_moving: bool) -> None:
        if await archiving.mark(self.site, p, self.token, numbers, is_moving=is_moving) == "overtaken":
            raise Overtaken

    async def _write(self, p: int, change: "Callable[[Connection], None]") -> None:
        await self.database.write_durably(_fenced, p, self.token, change)


@asynccontextmanager
async def archiving_old(database: Database | None, site: Site, limits: Limits) -> AsyncIterator[None]:
    """Move articles that are beyond the limits into the archive, in the background, as long as the context is open."""
    if database is None:
        yield
        return
    archiver = Archiver(site, database, limits)
    try:
        async with running(archiver.run()):
            yield
    finally:
        with suppress(StoreUnavailable):
            await archiver.close()


async def renew_listings(site: Site, database: Database) -> None:
    """
    Compute the archived places again of listings whose weights are no longer those of the store: about 15 seconds for
    1,000,000 places. Meanwhile every page of such a listing asks the database.
    """
    from database import archive

    for name in await database.run(archive.stale, site):
        await archiving.set_greatest(site, name, inf)
        await archiving.set_greatest(site, name, await database.write(partial(_recompute, site, name)))


def check_identity(connection: "Connection", identity: str) -> None:
    """
    Raises:
        DatabaseUnavailable: the archive of the database is not that of the store.
    """
    from database.tables import ARCHIVES

    if connection.execute(ARCHIVES.select()).scalar() != identity:
        raise DatabaseUnavailable("this database does not have the archive of this store")


def _set_identity(identity: str, connection: "Connection") -> None:
    """Begin an archive. What another store has archived here is removed, and the mirror has to be built again."""
    from database import archive
    from database.tables import ARCHIVES, POSITIONS

    while foreign := archive.numbers(connection, 0, BATCH):
        archive.unarchive(connection, foreign)
        connection.execute(POSITIONS.delete())
    connection.execute(ARCHIVES.delete())
    connection.execute(ARCHIVES.insert().values(id=identity))


def _claim(connection: "Connection", p: int, token: str) -> None:
    from database.tables import ARCHIVERS

    connection.execute(ARCHIVERS.delete().where(ARCHIVERS.c.partition == p))
    connection.execute(ARCHIVERS.insert().values(partition=p, token=token))


def _fenced(connection: "Connection", p: int, token: str, change: "Callable[[Connection], None]") -> None:
    """
    Write a change if this token is the last one that has claimed the partition, and keep others from claiming it until
    the end of the transaction.
    """
    from database.tables import ARCHIVERS

    own = (ARCHIVERS.c.partition == p) & (ARCHIVERS.c.token == token)
    if connection.execute(ARCHIVERS.update().where(own).values(token=token)).rowcount != 1:
        raise Overtaken
    change(connection)


def _has_entry(connection: "Connection", p: int, identity: str, entry: str) -> bool:
    """Whether the mirror has a log up to an entry."""
    from database.tables import POSITIONS

    columns = POSITIONS.select().where(POSITIONS.c.partition == p)
    row = connection.execute(columns).one_or_none()
    return row is not None and row.log == identity and log.sort_key(row.entry) >= log.sort_key(entry)


def _write_places(site: Site, p: int, articles: Sequence[Article], connection: "Connection") -> None:
    from database import archive
    from database.tables import ARCHIVED_BATCHES

    archive.archive(connection, site, articles)
    numbers = " ".join(str(article.number) for article in articles)
    connection.execute(ARCHIVED_BATCHES.insert().values(partition=p, numbers=numbers, at_ms=unix_milliseconds()))


def _recent(p: int, connection: "Connection") -> list[int]:
    """The articles that were archived last."""
    from database.tables import ARCHIVED_BATCHES

    rows = connection.execute(ARCHIVED_BATCHES.select().where(ARCHIVED_BATCHES.c.partition == p))
    return [int(number) for row in rows for number in row.numbers.split()]


def _delete_old_batches(p: int, connection: "Connection") -> None:
    from database.tables import ARCHIVED_BATCHES

    old = ARCHIVED_BATCHES.c.at_ms < unix_milliseconds() - REVERSIBLE
    connection.execute(ARCHIVED_BATCHES.delete().where(ARCHIVED_BATCHES.c.partition == p, old))


def _remove_places(numbers: Sequence[int], connection: "Connection") -> None:
    from database import archive

    archive.unarchive(connection, numbers)


def _recompute(site: Site, name: str, connection: "Connection") -> float:
    """Compute the places of a listing, and return the greatest value."""
    from database import archive, places

    archive.recompute(connection, site, name)
    (greatest,) = places.greatest(connection, [name])
    return -inf if greatest is None else greatest
