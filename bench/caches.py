"""
Compares with LRU what the pool of caches, which share a number of bytes, evicts in traces recorded from the
application.

    python -m bench.caches [--articles 20000] [--costs]

Each trace is recorded from requests to the application with room for everything: which entries of which caches it looks
up or makes, and their bytes. It is then replayed in pools of a half, a quarter and an eighth of these bytes: once as
the server evicts, and once evicting the least recently used entry of all caches. A miss costs the microseconds of its
cache. `saved` says how much less than LRU the server spends on all misses. Memos, caches of functions, are left out:
their hits cannot be recorded.

`--costs` prints how long it takes to make the values of each cache: medians of the CPU time from the last access to any
cache until a new value is cached. The constants in the code are rounded from these.
"""

import argparse
import asyncio
from collections import OrderedDict, defaultdict
from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass, field
from statistics import median
from time import thread_time
from typing import Any, NamedTuple
from unittest.mock import patch

import httpx

from bench.__main__ import filled
from bench.queries import NEWEST, Ground, Request, request, varied, varied_skewed, varied_uniform
from bench.tables import markdown
from caches import ENTRY_BYTES, MEGABYTE, POOL, Cache, CacheEntry, Pool
from server.app import Application, create
from server.http.connections import ConnectionLimiter
from server.settings import Settings

REQUESTS = 1_500  # of a trace
FLOOD = "query Flood%d { a%d: articles(first: 5) { totalCount nodes { id title } } b%d: %s }"
ROOM = 4_096  # megabytes of the pool while traces are recorded, in which nothing is evicted
PARTS = (2, 4, 8)  # a pool has a half, a quarter or an eighth of the bytes of a trace
# each figure of the server's pool is followed by that of LRU
HEAD = ["trace", "pool MB", "evictions", "LRU", "misses", "LRU", "ms to make them", "LRU", "saved"]


class Access(NamedTuple):
    """A lookup of an entry, by the number of its cache and its own."""

    cache: int
    entry: int


class Outcome(NamedTuple):
    """What a pool does in a trace. `milliseconds` is the time that making the missed values takes."""

    evictions: int
    misses: int
    milliseconds: float


@dataclass(slots=True)
class Trace:
    """Accesses to caches, and what replays need to know of the caches and of the entries, by their numbers."""

    accesses: list[Access] = field(default_factory=list)
    costs: list[tuple[str, float]] = field(default_factory=list)  # of each cache: name, microseconds for a value
    sizes: list[int] = field(default_factory=list)  # bytes of each entry

    @property
    def bytes(self) -> int:
        return sum(self.sizes)


class Recorder:
    """Records the accesses to all caches of the process but the memos, and how long it takes to make their values."""

    def __init__(self) -> None:
        self.trace = Trace()
        self.seconds: defaultdict[str, list[float]] = defaultdict(list)  # of CPU for each new value, by name of cache
        self._caches: dict[int, int] = {}  # the number of each cache, by its `id()`
        self._entries: dict[tuple[int, Any], int] = {}  # the number of each entry, by that of its cache and its key
        self._held: list[Any] = []  # caches: the `id()` of one that is freed might be used again
        self._last = 0.0  # when an access ended

    @contextmanager
    def recording(self) -> Iterator[None]:
        """Record all accesses while the context is open: the methods of `Cache` are replaced by ones that note them."""
        get, values_of, put, grow = Cache.get, Cache.values_of, Cache.put, Cache.grow

        def recorded_get(cache: Cache[Any, Any], key: Any) -> Any:
            self._looked_up(cache, [cache.entries.get(key)])
            return get(cache, key)

        def recorded_values_of(cache: Cache[Any, Any], entries: Sequence[CacheEntry[Any, Any] | None]) -> Any:
            self._looked_up(cache, entries)
            return values_of(cache, entries)

        def recorded_put(cache: Cache[Any, Any], key: Any, value: Any, size: int) -> None:
            put(cache, key, value, size)
            self._made(cache, key)

        def recorded_grow(cache: Cache[Any, Any], key: Any, value: Any, more: int) -> None:
            grow(cache, key, value, more)
            self._grown(cache, cache.entries.get(key))

        with patch.multiple(
            Cache, get=recorded_get, values_of=recorded_values_of, put=recorded_put, grow=recorded_grow
        ):
            yield

    def _looked_up(self, cache: Cache[Any, Any], entries: Sequence[CacheEntry[Any, Any] | None]) -> None:
        for entry in entries:
            if entry is not None:
                self._access(cache, entry)
        self._last = thread_time()

    def _made(self, cache: Cache[Any, Any], key: Any) -> None:
        entry = cache.entries.get(key)
        if cache.name != "memos" and entry is not None:
            self.seconds[cache.name].append(thread_time() - self._last)
            self._access(cache, entry)
            self._last = thread_time()

    def _grown(self, cache: Cache[Any, Any], entry: CacheEntry[Any, Any] | None) -> None:
        if entry is not None:
            self.trace.sizes[self._entries[self._caches[id(cache)], entry.key]] = entry.size

    def _access(self, cache: Cache[Any, Any], entry: CacheEntry[Any, Any]) -> None:
        if id(cache) not in self._caches:
            self._caches[id(cache)] = len(self.trace.costs)
            self.trace.costs.append((cache.name, cache._microseconds))
            self._held.append(cache)
        cache_number = self._caches[id(cache)]
        entry_number = self._entries.setdefault((cache_number, entry.key), len(self.trace.sizes))
        if entry_number == len(self.trace.sizes):  # a new one
            self.trace.sizes.append(entry.size)
        self.trace.sizes[entry_number] = entry.size
        self.trace.accesses.append(Access(cache_number, entry_number))


def replayed(trace: Trace, total: int) -> Outcome:
    """What a pool of this size does in a trace."""
    pool = Pool(total)
    caches = [pool.cache(name, microseconds) for name, microseconds in trace.costs]
    misses, microseconds = 0, 0.0
    for number, entry in trace.accesses:
        if caches[number].get(entry) is None:
            misses += 1
            microseconds += trace.costs[number][1]
            caches[number].put(entry, True, trace.sizes[entry] - ENTRY_BYTES)  # `put` adds these bytes
    return Outcome(sum(usage.evictions for usage in pool.usages().values()), misses, microseconds / 1000)


def replayed_by_lru(trace: Trace, total: int) -> Outcome:
    """What an LRU cache of this size for all entries does in a trace."""
    kept: OrderedDict[int, None] = OrderedDict()
    size = evictions = misses = 0
    microseconds = 0.0
    for number, entry in trace.accesses:
        if entry in kept:
            kept.move_to_end(entry)
            continue
        misses += 1
        microseconds += trace.costs[number][1]
        kept[entry] = None
        size += trace.sizes[entry]
        while size > total:
            size -= trace.sizes[kept.popitem(last=False)[0]]
            evictions += 1
    return Outcome(evictions, misses, microseconds / 1000)


def flooded(ground: Ground) -> list[Request]:
    """Skewed pages, and between each two a document that is sent once."""
    pages = varied_skewed(ground)[: REQUESTS // 2]
    floods = [request(FLOOD % (n, n, n, NEWEST), ground.tokens[0]) for n in range(len(pages))]
    return [each for pair in zip(pages, floods, strict=True) for each in pair]


TRACES = {
    "cyclic": lambda ground: (varied(ground) * REQUESTS)[:REQUESTS],
    "uniform": lambda ground: varied_uniform(ground)[:REQUESTS],
    "skewed, and a flood of documents": flooded,
}


async def record(url: str, requests: Sequence[Request]) -> Recorder:
    recorder = Recorder()
    async with application(url) as app:
        transport = httpx.ASGITransport(app)
        async with httpx.AsyncClient(transport=transport, base_url="http://127.0.0.1") as client:
            with recorder.recording():
                for body, token in requests:
                    headers = {"Authorization": f"Bearer {token}", "Content-Type": "application/json"}
                    reply = await client.post("/graphql", content=body, headers=headers)
                    assert reply.status_code == 200 and b'"errors"' not in reply.content, reply.text[:500]
    return recorder


@asynccontextmanager
async def application(url: str) -> AsyncIterator[Application]:
    settings = Settings(redis_url=url, rate_limits="off", cache_mb=ROOM, log_level="error")
    app = create(settings, ConnectionLimiter())
    for cache in list(POOL._caches):
        cache.clear()  # the caches of modules have what an earlier trace has left
    async with app.router.lifespan_context(app):
        yield app


def rows(name: str, trace: Trace) -> Iterator[list[str]]:
    for part in PARTS:
        total = trace.bytes // part
        ours, lru = replayed(trace, total), replayed_by_lru(trace, total)
        figures = [f"{figure:.0f}" for pair in zip(ours, lru, strict=True) for figure in pair]
        yield [name, f"{total / MEGABYTE:.0f}", *figures, f"{1 - ours.milliseconds / lru.milliseconds:.0%}"]


def costs(recorders: Sequence[Recorder]) -> Iterator[list[str]]:
    for name in sorted({name for each in recorders for name in each.seconds}):
        seconds = [second for each in recorders for second in each.seconds[name]]
        yield [name, str(len(seconds)), f"{median(seconds) * 1e6:.0f}"]


def record_all(articles: int) -> dict[str, Recorder]:
    with filled(articles) as (environment, ground, _):
        url = environment["UPVOTE_REDIS_URL"]
        return {name: asyncio.run(record(url, make(ground))) for name, make in TRACES.items()}


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(prog="python -m bench.caches", description="Compares the pool of caches with LRU.")
    parser.add_argument("--articles", type=int, default=20_000)
    parser.add_argument("--costs", action="store_true", help="print how long the values of each cache take to make")
    chosen = parser.parse_args(arguments)
    recorders = record_all(chosen.articles)
    print(markdown(HEAD, (row for name, each in recorders.items() for row in rows(name, each.trace))))
    if chosen.costs:
        print("\n" + markdown(["cache", "made", "us"], costs(list(recorders.values()))))


if __name__ == "__main__":
    main()
