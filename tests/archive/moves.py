"""
Moves articles during reads, from Redis to the archive in the SQL database and back, which must not change any answer.

Each step of a move, a command to Redis or a transaction of the database, runs at a chosen point of a read: before one
of its commands or queries.
"""

import asyncio
import random
from collections import Counter
from collections.abc import AsyncIterator, Awaitable, Callable, Coroutine, Iterator, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field, replace
from itertools import cycle
from typing import Any, Self

from archive.mover import HotLimits, Mover
from archive.write_back import bring_back
from database import article_places
from database.database import Database
from database.tables import ARCHIVED_BATCHES, ARCHIVERS
from resolvers.dataloader import Reads
from store import keys, listings
from store.client import Command
from store.listings import Listing, Window
from store.ranking import standings
from store.ranking.formulas import DAY, Order, Policy
from store.records import Article, Position
from store.store import Store
from tests.conftest import Clock
from tests.database.conftest import mirrored, opened
from tests.store.histories import PEOPLE, history

Before = Callable[[], Awaitable[None]]  # is awaited before each command or transaction
Ask = Callable[[Reads], Awaitable[Any]]  # reads something as a request does, and returns the answer
POLICY = Policy(good_votes=1)  # most articles are good, so that days have many


class Schedule:
    """
    Lets the moves run one step at a time. A point is where a read is about to send something; `pauses` are the numbers
    of points before each next step, and begin again when they are used up.
    """

    def __init__(self, pauses: Sequence[int]) -> None:
        self._pauses = cycle(pauses)
        self._points_left = next(self._pauses)
        self._continued, self._stopped, self._turn = asyncio.Semaphore(0), asyncio.Semaphore(0), asyncio.Lock()
        self.has_ended = False

    async def run(self, moves: Coroutine[Any, Any, None]) -> None:
        try:
            await moves
        finally:
            self.has_ended = True
            self._stopped.release()

    async def step(self) -> None:
        """Wait until the next step of the moves may run. The moves call this before each step."""
        self._stopped.release()
        await self._continued.acquire()

    async def point(self) -> None:
        """Called at each point of the reads: runs the steps that are due."""
        async with self._turn:
            while self._points_left == 0 and not self.has_ended:
                self._continued.release()
                await self.stopped()
                self._points_left = next(self._pauses)
            self._points_left -= 1

    async def stopped(self) -> None:
        """Wait until the moves wait for their next step, or have ended."""
        await self._stopped.acquire()


@dataclass
class SeparateCommands:
    """A Redis client that calls `before` each command, and sends them one by one."""

    client: Any
    before: Before

    def __getattr__(self, name: str) -> Any:
        return getattr(self.client, name)

    async def run(self, command: Command) -> Any:
        await self.before()
        return await self.client.run(command)

    async def pipeline(self, commands: Sequence[Command]) -> list[Any]:
        return [await self.run(command) for command in commands]

    replies = pipeline


@dataclass
class SeparateQueries:
    """A database that calls `before` each transaction."""

    database: Database
    before: Before

    async def run(self, *call: Any) -> Any:
        await self.before()
        return await self.database.run(*call)

    async def write(self, *call: Any) -> Any:
        await self.before()
        return await self.database.write(*call)

    async def write_durably(self, *call: Any) -> Any:
        await self.before()
        return await self.database.write_durably(*call)


@dataclass
class World:
    """
    A store that has archived some articles, and the answers of all reads before any article moves (`expected`), with
    which answers during moves are compared. `asked` has the reads by name, `saved` is what Redis had before the moves,
    by key. `moving` is the same store with connections of its own, for the moves.
    """

    store: Store
    database: Database
    moving: Store
    articles: list[Article]  # all, newest first
    asked: dict[str, Ask]
    expected: dict[str, Any] = field(default_factory=dict)
    saved: dict[str, bytes] = field(default_factory=dict)
    archived: list[int] = field(default_factory=list)
    compared: Counter[str] = field(default_factory=Counter)

    @property
    def names(self) -> list[str]:
        return list(self.asked)

    @classmethod
    @asynccontextmanager
    async def opened(
        cls, redis_url: str, database_url: str, partitions: int, size: int, hot: int
    ) -> AsyncIterator[Self]:
        """Open a store with `size` articles, of which `hot` stay in Redis."""
        clock = Clock()
        async with opened(database_url) as database, AsyncExitStack() as stack:
            stores = []
            for _ in range(2):
                stores.append(await Store.open(redis_url, POLICY, partitions, clock=clock))
                stack.push_async_callback(stores[-1].close)
            yield await cls._begin(*stores, database, clock, size, hot)

    @classmethod
    async def _begin(cls, store: Store, moving: Store, database: Database, clock: Clock, size: int, hot: int) -> Self:
        articles = await history(store, seed=1, size=size)
        clock.advance(8 * DAY)
        asked = dict(every_read(store, clock.now, articles))
        world = cls(store, database, moving, articles, asked)
        world.expected = {name: await ask(Reads(store, login=None)) for name, ask in asked.items()}
        await archived(store, database, HotLimits(articles=hot, articles_per_user=1_000))
        await mirrored(store, database)
        await world.save()
        return world

    async def save(self) -> None:
        """Note what Redis has, and which articles are archived, for `reset`."""
        redis = self.store.site.redis
        names = [name async for some in redis.scan(1_000) for name in some if not name.startswith("lease:")]
        dumps = await redis.pipeline([("DUMP", name) for name in names])
        self.saved = {name: dump.encode(errors="surrogateescape") for name, dump in zip(names, dumps, strict=True)}
        await self.moving.site.rankings.read(redis)
        self.archived = await self.database.run(article_places.numbers, 0, len(self.articles))

    async def reset(self) -> None:
        """Undo all moves since the beginning."""
        site, by_number = self.store.site, {each.number: each for each in self.articles}
        await site.redis.run(("FLUSHDB",))
        site.serials.clear()  # serials begin again, as they never do in a store
        await site.redis.pipeline([("RESTORE", name, 0, dump) for name, dump in self.saved.items()])
        await self.database.write(_undo, site, [by_number[number] for number in self.archived])

    async def check(self, pauses: Sequence[int], plan: Sequence["Move"], chance: random.Random) -> None:
        """Compare answers, one after the other, while the moves of the plan run between the commands of the reads."""
        schedule = Schedule(pauses)
        store = replace(self.store, site=separate(self.store, schedule.point))
        database: Any = SeparateQueries(self.database, schedule.point)
        running = asyncio.create_task(schedule.run(self.move(schedule.step, plan)))
        await schedule.stopped()
        try:
            while not schedule.has_ended:
                await self.compare(store, database, chance)
            await running
        finally:
            running.cancel()

    async def compare_during(self, moving: "asyncio.Task[None]", chance: random.Random) -> None:
        """Compare answers, one after the other, until all articles have moved."""
        while not moving.done():
            await self.compare(self.store, self.database, chance)

    async def compare(self, store: Store, database: Database, chance: random.Random) -> None:
        """Read one of `asked`, and compare the answer with the expected one."""
        name = chance.choice(self.names)
        found = await self.asked[name](Reads(store, login=None, database=database))
        assert found == self.expected[name], name
        self.compared[name] += 1

    async def move(self, before: Before, plan: Sequence["Move"]) -> None:
        """Run the moves of a plan, one after the other."""
        store = replace(self.moving, site=separate(self.moving, before))
        database: Any = SeparateQueries(self.database, before)
        mover = archiver(store, database, HotLimits(articles=0, articles_per_user=0))
        for move in plan:
            await move(mover, store, self.archived)


Move = Callable[[Mover, Store, Sequence[int]], Awaitable[None]]  # takes the numbers of the archived articles, too


@dataclass(frozen=True)
class Archive:
    """A pass of the archiver with these limits."""

    articles: int
    articles_per_user: int

    async def __call__(self, mover: Mover, store: Store, archived: Sequence[int]) -> None:
        mover.limits = HotLimits(articles=self.articles, articles_per_user=self.articles_per_user)
        await mover.move()


@dataclass(frozen=True)
class BringBack:
    """Archived articles come back to Redis: those at these places in the list of the archived ones."""

    places: tuple[int, ...]

    async def __call__(self, mover: Mover, store: Store, archived: Sequence[int]) -> None:
        for place in self.places:
            await bring_back(store, mover.database, archived[place % len(archived)])


def separate(store: Store, before: Before) -> Any:
    """The site of a store whose Redis client awaits `before` ahead of each command."""
    return replace(store.site, redis=SeparateCommands(store.site.redis, before))  # type: ignore[arg-type]


async def archived(store: Store, database: Database, limits: HotLimits) -> None:
    """Archive what is beyond the limits, while the database follows the log."""
    moving = asyncio.create_task(archiver(store, database, limits).move())
    while not moving.done():
        await mirrored(store, database)
        await asyncio.sleep(0.02)
    assert await moving


def archiver(store: Store, database: Database, limits: HotLimits) -> Mover:
    """What moves articles beyond these limits, without the waits that give other processes of a server time."""
    return Mover(store.site, database, limits, notice=0, removal_delay=0)


def every_read(store: Store, now: int, articles: Sequence[Article]) -> Iterator[tuple[str, Ask]]:
    """Reads of every kind, by name: near the newest archived articles, far from them, and of all."""
    site, (newest, middle, oldest) = store.site, (articles[0], articles[len(articles) // 2], articles[-1])
    for listing in every_listing(store, now, articles):
        windows = [
            Window(3),
            Window(7, upwards=True),
            Window(500),
            Window(4, skip=len(articles) // 2),
            Window(4, skip=3),
        ]
        for window in windows:
            yield f"{listing.name} {window}", page(listing, window)
    for group in (None, "show"):
        for order in Order:
            listing = listings.whole(site, order) if group is None else listings.group(site, group, order)
            positions = [standings.position(site.policy, order, each, now) for each in (newest, middle, oldest)]
            yield f"ranks in {listing.name}", ranks(listing, positions)
            yield f"{listing.name} around {middle.number}", around(listing, positions[1], now)
    last_posts = {name: max(each.posted_at for each in articles if each.poster == name) for name in PEOPLE}
    bound = Position(middle.posted_at, keys.member(middle.number))
    for window in (Window(4), Window(100), Window(5, beyond=bound), Window(5, upwards=True, beyond=bound)):
        yield f"feed {window}", pull(last_posts, window, floor=None)
    yield "unseen", pull(last_posts, Window(100), floor=bound)
    for names in (PEOPLE, PEOPLE[:1]):
        yield f"articles of {names}", count(names)
    numbers = [each.number for each in articles]
    unknown = numbers[0] + 2 * keys.SLOTS  # of an article that does not exist
    yield "records", records([*numbers, unknown])
    yield "one record", records([oldest.number])


def every_listing(store: Store, now: int, articles: Sequence[Article]) -> Iterator[Listing]:
    site, long_ago = store.site, now - 100 * DAY * 1000
    for order in Order:
        yield listings.whole(site, order)
        yield listings.group(site, "show", order)
    for order in (Order.TIME, Order.VOTES):
        yield listings.posted_since(site, group=None, order=order, at=long_ago)
        yield listings.posted_since(site, "ask", order, long_ago)
    yield listings.front_page(site, day=None)
    yield listings.front_page(site, articles[len(articles) // 2].posted_at // (DAY * 1000) * DAY * 1000)
    yield listings.by_link(site, "https://example.com/")
    for name in PEOPLE[:2]:
        yield listings.timeline(site, name)


def page(listing: Listing, window: Window) -> Ask:
    """A page, and the next one in the same request."""

    async def ask(reads: Reads) -> Any:
        (first,) = await reads.pages([(listing, window)])
        beyond = first.positions[-1:] or (None,)
        (second,) = await reads.pages([(listing, Window(3, beyond=beyond[0], at=first.at))])
        return [(each.positions, each.total, each.above > 0, each.below > 0) for each in (first, second)]

    return ask


def around(listing: Listing, position: Position, now: int) -> Ask:
    """The pages above and below a position, at once."""
    at = now if listing.decay else None
    windows = [Window(5, upwards=upwards, beyond=position, at=at) for upwards in (False, True)]

    async def ask(reads: Reads) -> Any:
        found = await reads.pages([(listing, window) for window in windows])
        return [(each.positions, each.total, each.above > 0, each.below > 0) for each in found]

    return ask


def ranks(listing: Listing, positions: Sequence[Position]) -> Ask:
    """The ranks of the first position alone, and of all."""

    async def ask(reads: Reads) -> Any:
        return [await reads.ranks(listing, some) for some in (positions[:1], positions)]

    return ask


def pull(last_posts: dict[str, int], window: Window, floor: Position | None) -> Ask:
    """
    A page of a feed, of the articles above `floor` if there is one. `last_posts` has the followees, and when each has
    posted last (unix milliseconds).
    """

    async def ask(reads: Reads) -> Any:
        found = await reads.pull(last_posts, window, floor)
        return list(found.positions), found.behind

    return ask


def count(names: Sequence[str]) -> Ask:
    async def ask(reads: Reads) -> Any:
        return await reads.count(names)

    return ask


def records(numbers: Sequence[int]) -> Ask:
    async def ask(reads: Reads) -> Any:
        return await reads.articles(numbers)

    return ask


def _undo(connection: Any, site: Any, archived: Sequence[Article]) -> None:
    article_places.unarchive(connection, article_places.numbers(connection, after=0, count=100_000))
    article_places.archive(connection, site, archived)
    connection.execute(ARCHIVED_BATCHES.delete())
    connection.execute(ARCHIVERS.delete())
