"""
Events, the reads after an event, and rankings, which all subscriptions of a process share.

An event says what was changed, by Redis pub/sub, and not how it is now: that is read after it. A ranking is the first
articles of a listing.
"""

import asyncio
from collections import Counter, defaultdict
from collections.abc import AsyncGenerator, Awaitable, Callable, Iterable, Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from time import monotonic
from typing import NamedTuple, NoReturn, Self, TypeVar
from weakref import WeakKeyDictionary

from database.database import Database
from resolvers.arguments import articles_by
from resolvers.dataloader import Reads
from store.errors import StoreUnavailable
from store.events import RECONNECT_PAUSE, Event, Events, of_activity, of_article, of_listing
from store.listings import Window
from store.ranking.formulas import Order
from store.records import Article
from store.store import Store

READ_INTERVAL = 0.2  # seconds at least from a read of a ranking to the next one
DECAY_INTERVAL = 5.0  # seconds after which a ranking by age is read even without an event
MAX_PLACES = 2_000  # of the rankings of one address
MIN_PLACES = 50  # that a ranking counts for: each one costs a round trip per read

T = TypeVar("T")


class TooManyRankings(Exception):
    """The rankings that an address subscribes to have too many places: all places are read after each change."""

    def __init__(self, limit: int) -> None:
        super().__init__(f"the rankings of this address would have more than {limit} places")


class RankingKey(NamedTuple):
    """The first `size` articles by an order, of a group or of all."""

    order: Order
    group: str | None
    size: int


@dataclass(frozen=True, slots=True, eq=False)
class RankedArticles:
    """The articles of a ranking. The instance stays the same as long as their places, votes and comment counts do."""

    articles: Sequence[Article] = ()

    def shows_same(self, other: Self) -> bool:
        return self is other or self._shown() == other._shown()

    def _shown(self) -> list[tuple[int, int, int, int]]:
        return [(each.number, each.upvotes, each.downvotes, each.comment_count) for each in self.articles]


@dataclass(frozen=True, slots=True)
class RankingMove:
    """
    A move of an article within a ranking. `before` and `after` are its places, which count from 1. `before` is None for
    an article that is new in the ranking, `after` for one that left it.
    """

    article_id: str
    before: int | None
    after: int | None


@dataclass(frozen=True, slots=True, eq=False)
class RankingChange:
    """The articles of a ranking, read at an instant in unix milliseconds, and their moves since the last change."""

    at: int
    articles: Sequence[Article]
    moves: Sequence[RankingMove]


class ChangedArticles:
    """
    Articles that a subscriber watches, until `close`, and their changes that it has not taken yet: the latest of each.
    """

    __slots__ = ("_changes", "_shared", "_waiting")

    def __init__(self) -> None:
        self._shared: dict[int, SharedArticle] = {}  # what is watched, by number of the article
        self._changes: dict[int, Article | Exception | None] = {}  # by number, the oldest first; None: it is gone
        self._waiting: asyncio.Future[None] | None = None  # while `take` waits for a change

    def watch(self, shared: "SharedArticle") -> None:
        self._shared[shared.number] = shared
        shared.add(self)

    def forget(self, number: int) -> None:
        """Stop watching an article."""
        self._shared.pop(number).remove(self)
        self._changes.pop(number, None)

    def close(self) -> None:
        for shared in self._shared.values():
            shared.remove(self)

    def put(self, number: int, article: Article | Exception | None) -> None:
        self._changes.pop(number, None)
        self._changes[number] = article
        if self._waiting is not None and not self._waiting.done():
            self._waiting.set_result(None)

    async def take(self) -> tuple[int, Article | None]:
        """
        The number of an article that has changed, and the article; None if it is gone.

        Raises the exception that was put in the place of an article.
        """
        while not self._changes:
            self._waiting = asyncio.get_running_loop().create_future()
            await self._waiting
            self._waiting = None
        number = next(iter(self._changes))
        article = self._changes.pop(number)
        if isinstance(article, Exception):
            raise article
        return number, article


class Live:
    """
    What the subscriptions of a process share.

    The different rankings that one address subscribes to may have `ranking_places` places together.
    """

    def __init__(
        self,
        store: Store,
        events: Events | None = None,
        ranking_places: int = MAX_PLACES,
        database: Database | None = None,
    ) -> None:
        self.events = events or Events()
        self._ranking_places = ranking_places
        self._subscribed: defaultdict[str, Counter[RankingKey]] = defaultdict(Counter)  # by address
        self._store = store
        self._database = database
        self._reads: WeakKeyDictionary[Event, Reads] = WeakKeyDictionary()  # after each event, shared by subscribers
        self._rankings: dict[RankingKey, SharedRanking] = {}
        self._articles: dict[int, SharedArticle] = {}  # each removes itself

    async def read_after(self, event: Event, read: Callable[[Reads], Awaitable[T]]) -> T:
        """
        Read the state after an event. Subscribers that read the same after the same event share one round trip.

        While the store does not answer, this retries, so that a failover ends no subscription.
        """
        while True:
            if event not in self._reads:
                self._reads[event] = Reads(self._store, login=None, database=self._database)
            try:
                return await read(self._reads[event])
            except StoreUnavailable:
                self._reads.pop(event, None)
                await asyncio.sleep(RECONNECT_PAUSE)

    @contextmanager
    def changed_articles(self, numbers: Iterable[int]) -> Iterator[ChangedArticles]:
        """Articles after each event about them, also if they are not visible. All subscribers share the reads."""
        changed = ChangedArticles()
        for number in numbers:
            if number not in self._articles:
                self._articles[number] = SharedArticle(self, number)
            changed.watch(self._articles[number])
        try:
            yield changed
        finally:
            changed.close()

    @contextmanager
    def ranking(self, order: Order, group: str | None, size: int, address: str | None) -> "Iterator[SharedRanking]":
        """
        Share a ranking with all its subscribers. Without an address there is no limit.

        Raises:
            TooManyRankings: the different rankings of the address would have too many places.
        """
        key = RankingKey(order, group, size)
        with self._counted(key, address):
            if key not in self._rankings:
                self._rankings[key] = SharedRanking(self._store, self.events, key, self._database)
            ranking = self._rankings[key]
            ranking.subscribers += 1
            try:
                yield ranking
            finally:
                ranking.subscribers -= 1
                if not ranking.subscribers:
                    self._rankings.pop(key).close()

    @contextmanager
    def _counted(self, key: RankingKey, address: str | None) -> Iterator[None]:
        """Count a ranking for an address once, also if the address has several subscriptions to it."""
        if address is None:
            yield
            return
        places = sum([max(each.size, MIN_PLACES) for each in self._subscribed.get(address, {}).keys() | {key}])
        if places > self._ranking_places:
            raise TooManyRankings(self._ranking_places)
        subscribed = self._subscribed[address]
        subscribed[key] += 1
        try:
            yield
        finally:
            subscribed[key] -= 1
            if not subscribed[key]:
                del subscribed[key]
            if not subscribed:
                del self._subscribed[address]


class SharedArticle:
    """
    An article that is read after each event about it, as long as somebody watches it. All events during a read lead to
    one more read.
    """

    def __init__(self, live: Live, number: int) -> None:
        self.number = number
        self._live = live
        self._subscribers: dict[ChangedArticles, None] = {}  # the oldest first
        self._event: Event | None = None  # the latest event, until a read begins
        self._reading: asyncio.Task[None] | None = None
        self._subscription = ExitStack()
        self._subscription.enter_context(live.events.subscribed(self._note, of_article(number)))

    def add(self, subscriber: ChangedArticles) -> None:
        self._subscribers[subscriber] = None

    def remove(self, subscriber: ChangedArticles) -> None:
        """Without its last subscriber, an article is not read any more."""
        del self._subscribers[subscriber]
        if self._subscribers:
            return
        self._subscription.close()
        if self._reading is not None:
            self._reading.cancel()
        del self._live._articles[self.number]

    def _note(self, event: Event) -> None:
        self._event = event
        if self._reading is None:
            self._reading = asyncio.create_task(self._read())

    async def _read(self) -> None:
        while self._event is not None:
            event, self._event = self._event, None
            subscribers, found = list(self._subscribers), await self._read_after(event)
            for each in subscribers:
                if each in self._subscribers:  # it may have left since
                    each.put(self.number, found)
        self._reading = None

    async def _read_after(self, event: Event) -> Article | Exception | None:
        try:
            (found,) = await self._live.read_after(event, lambda reads: reads.articles_of_any_state([self.number]))
        except Exception as error:
            return error  # each subscriber raises it
        return found


class SharedRanking:
    """
    A ranking that is read after each event in its listing, but at most once in `READ_INTERVAL`, with a pause of at
    least a fourth of the time that the read took.
    """

    def __init__(self, store: Store, events: Events, key: RankingKey, database: Database | None = None) -> None:
        self.subscribers = 0
        self.latest = RankedArticles()
        self._read_at = 0  # unix milliseconds
        # by the articles that a subscriber was sent: the change from these to the latest
        self._changes: dict[RankedArticles, RankingChange] = {}
        self._store = store
        self._database = database
        self._key = key
        self._is_outdated, self._was_read = asyncio.Event(), asyncio.Event()
        self._task = asyncio.create_task(self._run(events))
        self._task.add_done_callback(lambda task: self._was_read.set())  # wakes who waits if it fails

    def close(self) -> None:
        self._task.cancel()

    def refresh(self, event: Event | None = None) -> None:
        """Read the ranking again, for example after an event."""
        self._is_outdated.set()

    async def changes(self) -> AsyncGenerator[RankingChange, None]:
        """
        The ranking as it is now, and then after each change of places, votes or comment counts; a slow subscriber
        misses some.

        Subscribers that were sent the same articles are sent the same object.
        """
        sent = await self._current()
        yield RankingChange(self._read_at, sent.articles, _moves(before=(), after=sent.articles))
        while True:
            latest = await self._other_than(sent)
            if sent not in self._changes:
                self._changes[sent] = RankingChange(
                    self._read_at, latest.articles, _moves(sent.articles, latest.articles)
                )
            change, sent = self._changes[sent], latest
            yield change

    async def _current(self) -> RankedArticles:
        """The articles as of the next read."""
        self.refresh()
        await self._next_read()
        return self.latest

    async def _other_than(self, sent: RankedArticles) -> RankedArticles:
        while self.latest.shows_same(sent):
            await self._next_read()
        return self.latest

    async def _next_read(self) -> None:
        if not self._task.done():
            await self._was_read.wait()
        if self._task.done():
            self._task.result()  # raises its error for each subscriber

    async def _run(self, events: Events) -> NoReturn:
        group = self._key.group
        with events.subscribed(self.refresh, of_listing(group), of_activity(group)):
            while True:
                await self._wait_until_outdated()
                self._is_outdated.clear()
                began = monotonic()
                await self._update()
                took = monotonic() - began
                await asyncio.sleep(max(READ_INTERVAL - took, took / 4))

    async def _wait_until_outdated(self) -> None:
        with suppress(TimeoutError):
            async with asyncio.timeout(DECAY_INTERVAL if self._key.order.decays else None):
                await self._is_outdated.wait()

    async def _update(self) -> None:
        """Read the ranking, and wake those who wait for a read. If the store does not answer, it stays outdated."""
        try:
            read = await self._read()
        except StoreUnavailable:
            self._is_outdated.set()
            return
        self._read_at = self._store.site.clock()
        if not read.shows_same(self.latest):
            self.latest = read
            self._changes.clear()
        was_read, self._was_read = self._was_read, asyncio.Event()  # the new one is that of the next read
        was_read.set()

    async def _read(self) -> RankedArticles:
        site, reads = self._store.site, Reads(self._store, login=None, database=self._database)
        listing = articles_by(site, self._key.order, self._key.group)
        page = await reads.page(listing, Window(self._key.size))
        articles = await reads.articles(position.number for position in page.positions)
        return RankedArticles([article for article in articles if article])


def _moves(before: Iterable[Article], after: Iterable[Article]) -> list[RankingMove]:
    old = {article.id: place for place, article in enumerate(before, 1)}
    new = {article.id: place for place, article in enumerate(after, 1)}
    return [RankingMove(id, old.get(id), new.get(id)) for id in old | new if old.get(id) != new.get(id)]
