"""What the subscriptions of one process share: the events they hear, what is read for an event, and the rankings."""

import asyncio
from collections import Counter, defaultdict
from collections.abc import Awaitable, Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from typing import NoReturn, TypeVar
from weakref import WeakKeyDictionary

from resolvers.dataloader import Reads
from resolvers.errors import TooManyRankings
from resolvers.listings import listing_in
from store.errors import StoreUnavailable
from store.events import RECONNECT_PAUSE, Event, Events, of_listing
from store.listings import Window
from store.ranking.formulas import Order
from store.records import Article
from store.store import Store

TICK = 0.2  # seconds between two readings of a ranking
RANKING_PLACES = 2_000
LEAST_PLACES = 50  # what a ranking counts at least, for each is a round trip
DRIFT = 5.0  # seconds after which a ranking by age is read even if nothing happened

T = TypeVar("T")
Wanted = tuple[Order, str | None, int]  # the first places of which listing


@dataclass(frozen=True, slots=True, eq=False)
class Standings:
    """The first places of a listing, as they stood at an instant in unix milliseconds."""

    at: int
    articles: Sequence[Article] = ()


class Live:
    """`ranking_places` are how many places of different rankings one address may watch: each is read as it moves."""

    def __init__(self, store: Store, events: Events | None = None, ranking_places: int = RANKING_PLACES) -> None:
        self.events = events or Events()
        self._ranking_places = ranking_places
        self._watched: defaultdict[str, Counter[Wanted]] = defaultdict(Counter)  # rankings by address
        self._store = store
        self._reads: WeakKeyDictionary[Event, Reads] = WeakKeyDictionary()
        self._rankings: dict[Wanted, Ranking] = {}

    async def after(self, event: Event, read: Callable[[Reads], Awaitable[T]]) -> T:
        """
        Read what stands in the store after an event: once, whoever else wants the same of it.

        While the store does not answer this waits, so that a failover ends no subscription.
        """
        while True:
            if event not in self._reads:
                self._reads[event] = Reads(self._store, None)
            try:
                # Others wait for the same reply: a subscriber who leaves must not take it away from them.
                return await asyncio.shield(asyncio.ensure_future(read(self._reads[event])))
            except StoreUnavailable:
                self._reads.pop(event, None)
                await asyncio.sleep(RECONNECT_PAUSE)

    @contextmanager
    def ranking(self, order: Order, group: str | None, size: int, address: str | None) -> "Iterator[Ranking]":
        """
        Watch the first places of a listing, together with everyone else who does; without an address any number.

        Raises:
            TooManyRankings: the different rankings that the address watches would have too many places.
        """
        wanted = (order, group, size)
        with self._counted(wanted, address):
            if wanted not in self._rankings:
                self._rankings[wanted] = Ranking(self._store, self.events, wanted)
            ranking = self._rankings[wanted]
            ranking.watchers += 1
            try:
                yield ranking
            finally:
                ranking.watchers -= 1
                if not ranking.watchers:
                    self._rankings.pop(wanted).close()

    @contextmanager
    def _counted(self, wanted: Wanted, address: str | None) -> Iterator[None]:
        """Count a ranking for an address: once, however many of its subscriptions watch it."""
        if address is None:
            yield
            return
        places = sum([max(size, LEAST_PLACES) for _, _, size in self._watched.get(address, {}).keys() | {wanted}])
        if places > self._ranking_places:
            raise TooManyRankings(self._ranking_places)
        watched = self._watched[address]
        watched[wanted] += 1
        try:
            yield
        finally:
            watched[wanted] -= 1
            if not watched[wanted]:
                del watched[wanted]
            if not watched:
                del self._watched[address]


class Ranking:
    """The first places of a listing: read when something moves there, but not before a tick has passed."""

    def __init__(self, store: Store, events: Events, wanted: Wanted) -> None:
        self.watchers = 0
        self.latest = Standings(0)
        self._store = store
        self._wanted = wanted
        self._moved, self._ticked = asyncio.Event(), asyncio.Event()
        self._task = asyncio.create_task(self._run(events))
        self._task.add_done_callback(lambda task: self._ticked.set())

    def close(self) -> None:
        self._task.cancel()

    def refresh(self) -> None:
        self._moved.set()

    async def later_than(self, seen: Standings) -> Standings:
        """The latest standings, once they are not these: who is slow misses those between."""
        while self.latest is seen:
            if self._task.done():
                self._task.result()  # a fault, which is for those who watch to report
            await self._ticked.wait()
        return self.latest

    async def _run(self, events: Events) -> NoReturn:
        with events.subscribed(of_listing(self._wanted[1]), lambda event: self.refresh()):
            while True:
                await self._stirred()
                self._moved.clear()
                await self._tick()
                await asyncio.sleep(TICK)

    async def _stirred(self) -> None:
        with suppress(TimeoutError):
            async with asyncio.timeout(DRIFT if self._wanted[0].decays else None):
                await self._moved.wait()

    async def _tick(self) -> None:
        try:
            self.latest = await self._read()
        except StoreUnavailable:
            self._moved.set()
            return
        ticked, self._ticked = self._ticked, asyncio.Event()
        ticked.set()

    async def _read(self) -> Standings:
        order, group, size = self._wanted
        site, reads = self._store.site, Reads(self._store, None)
        (page,) = await reads.pages([(listing_in(site, order, group), Window(size))])
        articles = await reads.articles(position.number for position in page.positions)
        return Standings(site.clock(), [article for article in articles if article])
