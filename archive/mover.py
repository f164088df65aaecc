"""
Moves articles from Redis into the archive, which is in the SQL database only: the oldest ones whose voting is closed,
while Redis has more than the settings allow (`HotLimits`).

An article that moves is marked in Redis; the database writes its places, which are its values in all listings; then a
script removes it from Redis (`archive/__init__.py`). One process at a time moves the articles of a partition, a share
of the data in Redis: it has a lease there, a key that expires, and its token in the database, so that a process whose
lease has ended cannot change anything.
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

from archive import comment_lists, departures, places, steps
from archive.departures import Departure
from archive.steps import MAY_BE_LOST, Archivable
from database import article_places
from database import conversations as conversation_rows
from database.conversations import KeptOfComment
from database.database import Database, DatabaseUnavailable
from database.positions import has_entry
from database.statements import Statement
from store import conversations, keys, log, moving
from store.background import running
from store.errors import LeaseTaken, StoreUnavailable
from store.ranking.formulas import DAY, Order
from store.records import Article
from store.site import Site, unix_milliseconds

if TYPE_CHECKING:
    from database.statements import Connection

INTERVAL = 10.0  # seconds between two passes
LISTS_INTERVAL = 6 * 3600.0  # seconds between two passes over the lists of users' comments
LISTED_COMMENTS = 100  # that stay in the list of each user, by default
BATCH = 200  # articles that are moved, or whose places are removed, in one transaction
NOTICE = 10.0  # seconds for all processes to learn that the store has an archive, before the first article leaves
REMOVAL_DELAY = 5.0  # seconds after an article came back: reads that started before it still use its places
LAG = 10.0  # seconds to wait until the mirror, which copies all changes to the database, has the last one of a batch
POLL = 0.02  # seconds between two looks while waiting for the mirror

logger = logging.getLogger("upvote")


class LeaseLost(Exception):
    """Another process has taken the lease."""


@dataclass(frozen=True, slots=True, kw_only=True)
class HotLimits:
    """How many articles stay in Redis: of all users, and of each user. Those that are open to votes always stay."""

    articles: int
    articles_per_user: int
    days: int | None = None  # after which a conversation leaves if nothing was written there; None: it stays
    listed_comments: int = LISTED_COMMENTS  # that stay in the list of each user

    def quiet_since(self, site: Site) -> int | None:
        """Conversations leave if nothing was written there since this instant (unix milliseconds); None: all stay."""
        if self.days is None:
            return None
        return site.clock() - max(self.days * DAY * 1000, site.policy.voting_ms + steps.GRACE)


@dataclass(slots=True)
class Mover:
    """
    Moves the articles of all partitions whose lease it has, and shortens the lists of the comments of users there.
    `token` is the random text that the lease and the database have for this process. `notice`, `removal_delay` and
    `lists_interval` are the constants of these names unless a test gives others.
    """

    site: Site
    database: Database
    limits: HotLimits
    notice: float = NOTICE
    removal_delay: float = REMOVAL_DELAY
    lists_interval: float = LISTS_INTERVAL
    token: str = field(default_factory=lambda: secrets.token_hex(8))
    _claimed: set[int] = field(default_factory=set)  # partitions for which the database has `token`
    # by partition and number: the instant of the monotonic clock at which a marked article was first seen
    _seen: dict[int, dict[int, float]] = field(default_factory=dict)
    _lists_due: float = 0  # the instant of the monotonic clock from which the lists are cut again

    async def run(self) -> NoReturn:
        """Move articles every `INTERVAL` seconds, once the database was opened. An interruption is logged once."""
        fault = ""
        await self.database.tried()
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
        for partition in range(self.site.partitions):
            try:
                if await self._hold_lease(partition):
                    await self._renew_listings(partition)
                    await self._mark_returned(partition)
                    await self._remove_old_places(partition)
                    await self._remove_archived_comments(partition)
                    moved += await self._move_partition(partition)
            except LeaseLost:
                self._claimed.discard(partition)
        if self._claimed and monotonic() >= self._lists_due:
            await self.cut_lists()
            self._lists_due = monotonic() + self.lists_interval
        return moved

    async def cut_lists(self) -> int:
        """Cut the lists of users' comments down to the limit. Returns how many comments were cut off."""
        return await comment_lists.cut(self.site, self._claimed, self.limits.listed_comments, self._wait_for_all)

    async def _wait_for_all(self) -> bool:
        """Wait until the database has all changes up to now. False if the store has no archive and cannot begin one."""
        if not await self._begin_archive():
            return False
        for partition in range(self.site.partitions):
            await self._wait_for_mirror(partition)
        return True

    async def close(self) -> None:
        """Give up the leases."""
        for partition in range(self.site.partitions):
            await steps.lease(self.site, partition, self.token).end()

    async def _hold_lease(self, partition: int) -> bool:
        """
        Take or extend the lease of a partition; False if another process has it. A claim writes the token into the
        database: it is made again after the lease was lost, as another process may have made its own.
        """
        if not await steps.lease(self.site, partition, self.token).extend():
            self._claimed.discard(partition)
            return False
        if partition not in self._claimed:
            await self.database.write(_claim, partition, self.token)
            self._claimed.add(partition)
        return True

    async def _move_partition(self, partition: int) -> int:
        """Move what is beyond the limits in a partition, and what leaves also within them. Return how many articles."""
        site, moved = self.site, 0
        of_partition = max(self.limits.articles // site.partitions, 1 if self.limits.articles else 0)
        beyond = await steps.count(site, partition) - of_partition
        moved += await self._move_oldest(partition, keys.index(partition, Order.TIME.value), beyond)
        async for name, beyond in steps.long_timelines(site, partition, self.limits.articles_per_user):
            moved += await self._move_oldest(partition, keys.timeline(partition, name), beyond)
        return moved + await self._move_woken(partition) + await self._move_removed(partition)

    async def _move_woken(self, partition: int) -> int:
        """
        Move woken conversations (articles with comments that came back to Redis for a write) again, also within the
        limits, so that others find room: Redis takes only so many of their comments.
        """
        moved, numbers = 0, await conversations.that_came_back(self.site, partition)
        if not numbers or not await self._begin_archive():
            return 0
        for start in range(0, len(numbers), BATCH):
            moved += await self._move_batch(partition, numbers[start : start + BATCH])
        return moved

    async def _move_removed(self, partition: int) -> int:
        """Move articles that were removed, within the limits, too: no index has them, and few read them."""
        moved, quiet_since = 0, self.limits.quiet_since(self.site)
        if quiet_since is None:
            return 0
        above = (0, 0)  # posting time and number of the last article that was looked at
        while found := await self.database.run(article_places.removed, quiet_since, above, BATCH):
            numbers = [number for _, number in found if self.site.partition_of_article(number) == partition]
            if numbers and await self._begin_archive():
                moved += await self._move_batch(partition, numbers)
            above = found[-1]
        return moved

    async def _move_oldest(self, partition: int, index: str, count: int) -> int:
        """Move the oldest `count` articles of an index, without those that are open to votes."""
        moved = stayed = 0
        if count > 0 and not await self._begin_archive():
            return 0
        while moved + stayed < count:
            limit = min(BATCH, count - moved - stayed)
            numbers = await steps.oldest_closed(self.site, index, stayed, limit)
            if not numbers:
                break
            moved_now = await self._move_batch(partition, numbers)
            moved, stayed = moved + moved_now, stayed + len(numbers) - moved_now
        return moved

    async def _move_batch(self, partition: int, numbers: Sequence[int]) -> int:
        """Move those of some articles that may leave Redis. Return how many."""
        if not await self._hold_lease(partition):
            raise LeaseLost
        found = await steps.archivable(self.site, partition, numbers, self.limits.quiet_since(self.site))
        if not found:
            return 0
        await self._wait_for_mirror(partition)
        moved = 0
        if plain := [each for each in found if not each.has_conversation]:
            await self._mark(partition, [each.article.number for each in plain], is_moving=True)
            articles = [each.article for each in plain]
            await self._write(partition, partial(_write_places, self.site, partition, articles))
            moved = await steps.remove(self.site, partition, plain, self.token)
        for each in found:
            if each.has_conversation and (departure := await departures.of(self.site, self.database, each)):
                moved += await self._move_conversation(partition, each, departure)
        return moved

    async def _move_conversation(self, partition: int, found: Archivable, departure: Departure) -> int:
        """Move an article with its comments. These are removed from Redis after it."""
        if not await self._begin_conversations() or not await self._hold_lease(partition):
            raise LeaseLost
        for rows in departure.rows():
            await self._write(partition, partial(_keep, rows))
            if not await self._hold_lease(partition):
                raise LeaseLost
        await self._mark(partition, [found.article.number], is_moving=True)
        await self._write(partition, partial(_write_conversation, self.site, partition, found.article, departure))
        moved = await steps.remove(self.site, partition, [found], self.token)
        await self._remove_archived_comments(partition)
        return moved

    async def _remove_archived_comments(self, partition: int) -> None:
        """
        Remove the comments of archived articles that Redis still has, unless another process does so, or writes
        comments back.
        """
        await _remove_archived_comments_of(self.site, partition)

    async def _begin_conversations(self) -> bool:
        """
        Before the first conversation leaves Redis, let all processes know that some will be in the database. False if
        another process has to do that: the one with the lease of partition 0.
        """
        rankings = self.site.rankings
        if not rankings.has_archived_conversations:
            if not await self._hold_lease(partition=0):
                return False
            await steps.begin_conversations(self.site)
            await asyncio.sleep(self.notice)
            await rankings.read(self.site.redis)
        return True

    async def _wait_for_mirror(self, partition: int) -> None:
        """Wait until the database has all changes of a partition up to now."""
        newest, deadline = (await log.newest(self.site))[partition], monotonic() + LAG
        identity = await log.identity(self.site)
        while not await self.database.run(has_entry, partition, identity, newest):
            if monotonic() > deadline:
                raise DatabaseUnavailable(f"the database is more than {LAG:.0f} seconds behind")
            await asyncio.sleep(POLL)

    async def _begin_archive(self) -> bool:
        """
        Before the first article leaves Redis, let all processes know that from now on some are in the database. False
        if another process has to do that: the one with the lease of partition 0.
        """
        rankings = self.site.rankings
        await rankings.read(self.site.redis)
        if rankings.archive is None:
            if not await self._hold_lease(partition=0):
                return False
            identity = secrets.token_hex(8)
            await self._write(partition=0, change=partial(_set_identity, identity))
            await steps.begin(self.site, identity)
            await asyncio.sleep(self.notice)
            await rankings.read(self.site.redis)
        await self.database.run(check_identity, rankings.archive or "")
        return True

    async def _remove_old_places(self, partition: int) -> None:
        """Remove the places of articles that came back, or did not leave: those marked for `removal_delay` seconds."""
        seen, now = self._seen.get(partition, {}), monotonic()
        self._seen[partition] = {number: seen.get(number, now) for number in await moving.marked(self.site, partition)}
        old = [number for number, since in self._seen[partition].items() if now - since >= self.removal_delay]
        for start in range(0, len(old), BATCH):
            some = old[start : start + BATCH]
            await self._mark(partition, some, is_moving=True)  # raises the count by which reads see that places change
            await self._write(partition, partial(_remove_places, some))
            await self._mark(partition, some, is_moving=False)

    async def _mark_returned(self, partition: int) -> None:
        """
        Mark articles again that are back because Redis was killed and has lost its last writes.

        After a failover to a replica that lacks more than `MAY_BE_LOST`, `verify` finds the others.
        """
        recent = await self.database.run(partial(_recent, partition))
        for start in range(0, len(recent), BATCH):
            if returned := await steps.in_redis(self.site, partition, recent[start : start + BATCH]):
                await self._mark(partition, returned, is_moving=True)
        if recent:
            await self._write(partition, partial(_delete_old_batches, partition))

    async def _renew_listings(self, partition: int) -> None:
        """Compute the places again of listings whose weights have changed."""
        if partition != 0 or self.site.rankings.archive is None:
            return
        await renew_listings(self.site, self.database)

    async def _mark(self, partition: int, numbers: Sequence[int], *, is_moving: bool) -> None:
        """Mark articles as moving, so that reads ignore their places in the database, or remove the marks."""
        if await steps.mark(self.site, partition, self.token, numbers, is_moving=is_moving) == "overtaken":
            raise LeaseLost

    async def _write(self, partition: int, change: "Callable[[Connection], None]") -> None:
        await self.database.write_durably(_fenced, partition, self.token, change)


@asynccontextmanager
async def archiving_old(database: Database | None, site: Site, limits: HotLimits) -> AsyncIterator[None]:
    """Move articles that are beyond the limits into the archive, in the background, as long as the context is open."""
    if database is None:
        yield
        return
    mover = Mover(site, database, limits)
    try:
        async with running(mover.run()):
            yield
    finally:
        with suppress(StoreUnavailable):
            await mover.close()


async def remove_archived_comments(site: Site) -> None:
    """Remove comments from Redis that the database has. Nothing if another process does so."""
    for partition in range(site.partitions):
        await _remove_archived_comments_of(site, partition)


async def _remove_archived_comments_of(site: Site, partition: int) -> None:
    """Remove comments of archived articles from Redis, in one partition. Nothing if another process does so."""
    if numbers := await conversations.noted(site, partition):
        lease = conversations.lease(site, partition)
        with suppress(LeaseTaken, conversations.Overtaken):
            async with lease.held():
                for number in numbers:
                    await conversations.drop(site, lease, number)


async def renew_listings(site: Site, database: Database) -> None:
    """
    Compute the archived places again of listings whose weights are no longer those of the store: about 15 seconds for
    1,000,000 places. Meanwhile every page of such a listing asks the database.
    """
    for name in await database.run(article_places.stale, site):
        await steps.forget_greatest(site, name)
        await database.write(article_places.recompute, site, name)
        is_set = False
        while not is_set:  # again if articles have left Redis since: their places may be above the greatest
            greatest, serials = await steps.at_rest(site, partial(database.run, _greatest, name))
            is_set = await steps.set_greatest(site, name, greatest, serials)


def check_identity(connection: "Connection", identity: str) -> None:
    """
    Check that the archive of a database has the random id that the store has noted for its own.

    Raises:
        DatabaseUnavailable: the archive of the database is not that of the store.
    """
    if IDENTITY.run(connection).scalar() != identity:
        raise DatabaseUnavailable("this database does not have the archive of this store")


def _set_identity(identity: str, connection: "Connection") -> None:
    """Begin an archive. What another store has archived here is removed, and the mirror has to be built again."""
    while foreign := article_places.numbers(connection, after=0, count=BATCH):
        article_places.unarchive(connection, foreign)
        DELETE_POSITIONS.run(connection)
    DELETE_IDENTITY.run(connection)
    SET_IDENTITY.run(connection, {"id": identity})


def _claim(connection: "Connection", partition: int, token: str) -> None:
    DELETE_CLAIM.run(connection, {"partition": partition})
    CLAIM.run(connection, {"partition": partition, "token": token})


def _fenced(connection: "Connection", partition: int, token: str, change: "Callable[[Connection], None]") -> None:
    """
    Write a change if this token is the last one that has claimed the partition, and keep others from claiming it until
    the end of the transaction.
    """
    if KEEP_CLAIM.run(connection, {"partition": partition, "token": token}).rowcount != 1:
        raise LeaseLost
    change(connection)


def _write_places(site: Site, partition: int, articles: Sequence[Article], connection: "Connection") -> None:
    conversation_rows.forget(connection, [article.number for article in articles])
    article_places.archive(connection, site, articles)
    _note_batch(connection, partition, articles)


def _keep(rows: Sequence[tuple[int, KeptOfComment]], connection: "Connection") -> None:
    conversation_rows.keep(connection, rows)


def _write_conversation(
    site: Site, partition: int, article: Article, departure: Departure, connection: "Connection"
) -> None:
    conversation_rows.keep_article(connection, article.number, departure.of_article)
    article_places.archive(connection, site, [article])
    _note_batch(connection, partition, [article])


def _note_batch(connection: "Connection", partition: int, articles: Sequence[Article]) -> None:
    numbers = " ".join(str(article.number) for article in articles)
    ADD_BATCH.run(connection, {"partition": partition, "numbers": numbers, "at": unix_milliseconds()})


def _recent(partition: int, connection: "Connection") -> list[int]:
    """The articles that were archived last."""
    batches = BATCHES.run(connection, {"partition": partition}).scalars()
    return [int(number) for numbers in batches for number in numbers.split()]


def _delete_old_batches(partition: int, connection: "Connection") -> None:
    DELETE_BATCHES.run(connection, {"partition": partition, "until": unix_milliseconds() - MAY_BE_LOST})


def _remove_places(numbers: Sequence[int], connection: "Connection") -> None:
    article_places.unarchive(connection, numbers)


def _greatest(connection: "Connection", name: str) -> float:
    """The greatest value of a listing."""
    (greatest,) = places.greatest(connection, [name])
    return -inf if greatest is None else greatest


IDENTITY = Statement("SELECT id FROM archives")
SET_IDENTITY = Statement("INSERT INTO archives (id) VALUES (:id)")
DELETE_IDENTITY = Statement("DELETE FROM archives")
DELETE_POSITIONS = Statement("DELETE FROM positions")
CLAIM = Statement("INSERT INTO archivers (partition, token) VALUES (:partition, :token)")
DELETE_CLAIM = Statement("DELETE FROM archivers WHERE partition = :partition")
KEEP_CLAIM = Statement("UPDATE archivers SET token = :token WHERE partition = :partition AND token = :token")
BATCHES = Statement("SELECT numbers FROM archived_batches WHERE partition = :partition")
ADD_BATCH = Statement("INSERT INTO archived_batches (partition, numbers, at_ms) VALUES (:partition, :numbers, :at)")
DELETE_BATCHES = Statement("DELETE FROM archived_batches WHERE partition = :partition AND at_ms < :until")
