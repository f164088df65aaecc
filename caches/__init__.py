"""
Caches of one process, which share the bytes of one pool.

While the pool has room, nothing is evicted. A full pool evicts the entry of the lowest priority, from any cache; the
algorithm is GreedyDual-Size-Frequency. The worth of an entry is its hits x the microseconds to make a value of its
cache / its bytes. Its priority is that worth plus the age of the pool when the entry was last ranked. The age is the
priority of the last entry evicted, and only rises: so entries that are not used any more fall behind. `python -m
bench.caches` compares this with LRU.

`memo` caches the results of a function.
"""

from collections import Counter, deque
from collections.abc import Callable, Hashable, Iterable, Sequence
from dataclasses import dataclass
from functools import wraps
from heapq import heapify, heappop, heappush, nsmallest
from itertools import count
from math import inf
from operator import attrgetter
from threading import RLock
from typing import Any, Generic, NamedTuple, ParamSpec, Protocol, TypeVar, cast
from weakref import WeakSet

K = TypeVar("K", bound=Hashable)
V = TypeVar("V")
P = ParamSpec("P")
R = TypeVar("R")

MEGABYTE = 1024 * 1024
ENTRY_BYTES = 340  # of an entry, beside its key and value: its slot in the dict, its ranks and their items in the heap
FLOOR_SHARE = 50  # the caches of one name keep a fiftieth of the pool, whatever the others need
FREED_SHARE = 1_000  # a full pool frees a thousandth of itself at once, so that most additions evict nothing
UNPROVEN = 0.1  # hits that each entry begins with: one that is never asked for again is worth little, however dear
MAX_HITS = 5  # that count: what is not asked for any more is evicted soon, however popular it was
MAX_CHECKS = 200  # entries of a cache that are checked for new hits, each time before it evicts
MAX_UNCOUNTED = 256  # lookups of many entries at once whose hits are counted later; the hits of older ones never are

VALUE = attrgetter("value")


class Usage(NamedTuple):
    """What the caches of one name hold now, and what has happened in them."""

    bytes: int
    entries: int
    evictions: int
    hits: int = 0
    misses: int = 0


class HasUsage(Protocol):
    @property
    def usage(self) -> Usage: ...


@dataclass(slots=True)
class Totals:
    """The totals of all caches of one name."""

    bytes: int = 0
    evictions: int = 0
    hits: int = 0
    misses: int = 0


@dataclass(slots=True, eq=False)
class CacheEntry(Generic[K, V]):
    """
    `size` is in bytes. Each change of its priority adds an item to the heap of its cache: `rank` is the number of the
    newest, the only valid one, and `ranked_hits` are the hits that its priority counts. `hits` has those since, too.
    """

    key: K
    value: V
    size: int = 0
    hits: int = 0
    ranked_hits: int = 0
    rank: int = 0


class Pool:
    """
    The bytes that the caches of a process hold together. Caches may be used in any thread.

    `total` are the bytes that the pool was given, `capacity` those without what is reserved, `size` those in use. `age`
    is the priority of the last entry that was evicted: priorities of later entries and hits begin there. `ranks` gives
    out the numbers of items in heaps.
    """

    def __init__(self, total: int = 128 * MEGABYTE) -> None:
        self.lock = RLock()
        self.age, self.size = 0.0, 0
        self.ranks = count(1)
        self._caches: WeakSet[Cache[Any, Any]] = WeakSet()
        self._totals: dict[str, Totals] = {}
        self.resize(total)

    def cache(
        self, name: str, microseconds: float, on_evict: "Callable[[Any, Any], object] | None" = None
    ) -> "Cache[Any, Any]":
        """
        A new cache, which exists as long as it is referenced. It takes `microseconds` to make one of its values.

        `on_evict` is called with the key and the value of each entry that the pool evicts.
        """
        with self.lock:
            cache: Cache[Any, Any] = Cache(self, name, self._totals.setdefault(name, Totals()), microseconds, on_evict)
            self._caches.add(cache)
        return cache

    def resize(self, total: int) -> None:
        """Change the bytes of the pool. Nothing is reserved any more."""
        with self.lock:
            self.total = self.capacity = total
            self._reserved: dict[str, HasUsage] = {}
            self.make_room()

    def reserve(self, name: str, measured: HasUsage, most: int) -> None:
        """Leave at most `most` bytes to something that limits itself to them; `measured` tells what it uses."""
        with self.lock:
            self._reserved[name] = measured
            self.capacity -= most
            self.make_room()

    def usages(self) -> dict[str, Usage]:
        """What the caches hold, by name, and what else has bytes of the pool."""
        with self.lock:
            entries = Counter[str]()
            for cache in self._caches:
                entries[cache.name] += len(cache.entries)
            usages = {
                name: Usage(total.bytes, entries[name], total.evictions, total.hits, total.misses)
                for name, total in self._totals.items()
            }
            return usages | {name: measured.usage for name, measured in self._reserved.items()}

    def make_room(self) -> None:
        """
        If the pool is full, evict entries of the lowest priority: from one cache as long as it has the lowest, then
        from the next. Caches of a name that is at its floor are spared.
        """
        if self.size <= self.capacity:
            return
        for cache in self._caches:
            cache.count_hits()
        floor, enough = self.capacity // FLOOR_SHARE, self.capacity - self.capacity // FREED_SHARE
        while self.size > enough:
            above = [cache for cache in self._caches if cache.entries and cache.totals.bytes > floor]
            if not above:
                return
            cache, *second = nsmallest(2, above, key=Cache.lowest)
            bound = second[0].lowest() if second else inf
            cache.evict()
            while self.size > enough and cache.entries and cache.totals.bytes > floor and cache.lowest() <= bound:
                cache.evict()


class Cache(Generic[K, V]):
    """One of the caches of a pool. Whoever puts an entry gives its size in bytes."""

    def __init__(
        self, pool: Pool, name: str, totals: Totals, microseconds: float, on_evict: Callable[[K, V], object] | None
    ) -> None:
        self.name, self.totals = name, totals
        self.entries: dict[K, CacheEntry[K, V]] = {}  # callers may read it; only the methods below change it
        # items (priority, rank, entry), the lowest priority first; an item is valid if its rank is that of its entry
        self._heap: list[tuple[float, int, CacheEntry[K, V]]] = []
        self._uncounted: deque[Sequence[CacheEntry[K, V]]] = deque(maxlen=MAX_UNCOUNTED)  # see `count_hits`
        self._pool, self._microseconds, self._on_evict = pool, microseconds, on_evict  # microseconds to make a value

    def get(self, key: K) -> V | None:
        """The value of a key, which is a hit; None without one."""
        entry = self.entries.get(key)
        if entry is None:
            self.totals.misses += 1
            return None
        entry.hits += 1
        self.totals.hits += 1
        return entry.value

    def get_all(self, keys: Iterable[K]) -> list[V | None]:
        """The values of some keys, None for those without one."""
        return self.values_of(list(map(self.entries.get, keys)))

    def values_of(self, entries: Sequence[CacheEntry[K, V] | None]) -> list[V | None]:
        """
        The values of entries that were looked up, and None for each that was not found. Pages look up dozens, so their
        hits are counted when something has to be evicted.
        """
        found: Any = entries  # no `cast`, which is a call
        if not all(entries):
            found = [entry for entry in entries if entry is not None]
            self.totals.misses += len(entries) - len(found)
        self.totals.hits += len(found)
        self._uncounted.append(found)
        if found is entries:
            return list(map(VALUE, found))
        return [None if entry is None else entry.value for entry in entries]

    def count_hits(self) -> None:
        """Count the hits of the last lookups of many entries."""
        while self._uncounted:  # other threads may add to it
            for entry in self._uncounted.popleft():
                entry.hits += 1

    def put(self, key: K, value: V, size: int) -> None:
        """Cache a value, in place of an older one. In a full pool it may be evicted at once."""
        with self._pool.lock:
            entry = self.entries.get(key)
            if entry is None:
                entry = self.entries[key] = CacheEntry(key, value)
            entry.value = value
            self._grow(entry, size + ENTRY_BYTES - entry.size)

    def grow(self, key: K, value: V, more: int) -> None:
        """Add `more` bytes to the size of an entry, if it still has this value. Then it may be evicted."""
        with self._pool.lock:
            entry = self.entries.get(key)
            if entry is not None and entry.value is value:
                self._grow(entry, more)

    def discard(self, key: K) -> None:
        """Remove the entry of a key, if there is one."""
        with self._pool.lock:
            entry = self.entries.pop(key, None)
            if entry is not None:
                entry.rank = 0
                entry.value = None  # type: ignore[assignment]  # its item stays in the heap
                self._add_bytes(-entry.size)

    def clear(self) -> None:
        with self._pool.lock:
            self._add_bytes(-sum([entry.size for entry in self.entries.values()]))
            self.entries.clear()
            self._heap.clear()
            self._uncounted.clear()

    __del__ = clear

    def lowest(self) -> float:
        """The priority of the entry that is evicted next, which rises by the hits since it was ranked."""
        for _ in range(MAX_CHECKS):
            priority, rank, entry = self._heap[0]
            if rank == entry.rank and entry.hits == entry.ranked_hits:
                return priority
            heappop(self._heap)
            if rank == entry.rank:
                self._rank(entry)
        return self._heap[0][0]

    def evict(self) -> None:
        """Remove the entry of the lowest priority."""
        with self._pool.lock:
            priority, rank, entry = heappop(self._heap)
            while rank != entry.rank:
                priority, rank, entry = heappop(self._heap)
            self._pool.age = max(self._pool.age, priority)
            del self.entries[entry.key]
            self._add_bytes(-entry.size)
            self.totals.evictions += 1
            if self._on_evict:
                self._on_evict(entry.key, entry.value)

    def _grow(self, entry: CacheEntry[K, V], more: int) -> None:
        entry.size += more
        self._add_bytes(more)
        self._rank(entry)
        self._pool.make_room()

    def _rank(self, entry: CacheEntry[K, V]) -> None:
        """Put an entry into the heap with the priority of its hits so far. An item that it had becomes invalid."""
        entry.hits = entry.ranked_hits = min(entry.hits, MAX_HITS)
        entry.rank = next(self._pool.ranks)
        priority = self._pool.age + (entry.hits + UNPROVEN) * self._microseconds / entry.size
        heappush(self._heap, (priority, entry.rank, entry))
        if len(self._heap) > 2 * len(self.entries) + 100:  # most items are invalid
            self._heap[:] = [(priority, rank, each) for priority, rank, each in self._heap if rank == each.rank]
            heapify(self._heap)

    def _add_bytes(self, more: int) -> None:
        self.totals.bytes += more
        self._pool.size += more


POOL = Pool()  # of the caches and memos of modules, and of what the server makes


def memo(
    entry_bytes: int, call_microseconds: float = 1, when: Callable[..., bool] | None = None
) -> Callable[[Callable[P, R]], Callable[P, R]]:
    """
    Memoise a function of positional arguments.

    The result is cached if `when` is true of the arguments. The caller makes sure that the arguments and the result are
    then no larger than `entry_bytes`: what clients send is checked before, or by `when`. `call_microseconds` is what a
    call of the function takes.
    """

    def decorate(function: Callable[P, R]) -> Callable[P, R]:
        cache: Cache[tuple[Any, ...], R] = POOL.cache("memos", call_microseconds)
        entries, totals, make = cache.entries, cache.totals, cast(Callable[..., R], function)

        @wraps(function)
        def memoised(*arguments: Any) -> R:
            entry = entries.get(arguments)
            if entry is not None:
                entry.hits += 1
                totals.hits += 1
                return entry.value
            totals.misses += 1
            value = make(*arguments)
            if when is None or when(*arguments):
                cache.put(arguments, value, entry_bytes)
            return value

        return cast(Callable[P, R], memoised)

    return decorate


class Hashed:
    """A tuple as a key whose hash is computed once: large tuples are hashed again for each access to a dict."""

    __slots__ = ("_hash", "value")

    def __init__(self, *value: Any) -> None:
        self.value = value
        self._hash = hash(value)

    def __hash__(self) -> int:
        return self._hash

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Hashed) and self.value == other.value
