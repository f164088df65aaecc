"""
Measures first pages of a home of 500 groups in each order, and a naive implementation in the same run. The home of a
user has the articles of the groups that they follow, without those that they hide.

    python -m bench.home [SIZE ...]

The naive implementation reads one range of each group in one redis-py pipeline, and merges them in Python. Only the
indexes of the groups are written: one article a minute, with votes as unevenly spread as on a real site. Groups differ
in size as on a real site, too. The server is restarted before it is measured: writing so many articles at once leaves
its memory in pieces, in which each reply takes two to four times as long. Then it rewrites its log, before it is
measured. What is measured are the places of a page: the articles cost the same in every list.
"""

import asyncio
import heapq
import random
import sys
import tempfile
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path
from statistics import median
from time import perf_counter
from typing import Any, NamedTuple

from redis.asyncio import Redis
from rich.console import Console
from rich.table import Table

from bench.orders import NOW, made_up
from bench.since import cpu_seconds
from resolvers.dataloader import Reads
from server.managed_valkey import server
from store import home, keys, listings
from store.client import Command
from store.hidden import HIDDEN
from store.home import Choices, HomeListing
from store.listings import Window
from store.ranking.formulas import DAY, Order
from store.records import Article
from store.store import Store

SIZES = [1_000, 20_000, 1_000_000]
GROUPS = [f"group-{each}" for each in range(500)]
SHARES = [1 / (each + 10) for each in range(len(GROUPS))]  # of the articles
HIDDEN_ARTICLES = 10_000
COUNT = 25  # articles of a page
ROUNDS = 15  # reads of a page
BATCH = 200  # articles
READER = Choices("reader", tuple(GROUPS))
HIDER = Choices("hider", tuple(GROUPS))
WEEK_AGO = NOW - 7 * DAY * 1000  # unix milliseconds


class Figures(NamedTuple):
    """
    The figures of a page: milliseconds until it is there, and milliseconds of CPU of the server; calls of scripts; and
    the longest call in microseconds. That is of the round in which it was shortest: in others the server may have
    waited for the processor during a call.
    """

    elapsed: float
    server: float
    calls: int
    longest: int


async def main(sizes: Sequence[int]) -> None:
    for size in sizes:
        with tempfile.TemporaryDirectory() as folder:
            async with opened(folder) as (store, _):
                await fill(store, size)
            async with opened(folder) as (store, redis):
                await rewritten(store)
                Console(width=180).print(await table(store, redis, size))


@asynccontextmanager
async def opened(folder: str) -> AsyncIterator[tuple[Store, "Redis"]]:
    with server.running(Path(folder)) as url:
        store = await Store.open(url, clock=lambda: NOW, cached_keys=0)
        redis = Redis.from_url(url, decode_responses=True)
        yield store, redis
        await redis.aclose()
        await store.close()


async def rewritten(store: Store) -> None:
    """Let Valkey rewrite its append-only file now, and wait until it has: else it may do so while it is measured."""
    await store.site.redis.run(("BGREWRITEAOF",))
    while True:
        if "aof_rewrite_in_progress:0" in await store.site.redis.run(("INFO", "persistence")):
            return
        await asyncio.sleep(0.1)


async def fill(store: Store, size: int) -> None:
    chance = random.Random(size)
    for start in range(0, size, BATCH):
        commands: list[Command] = []
        for each in range(start, min(start + BATCH, size)):
            groups = set(chance.choices(GROUPS, SHARES, k=chance.choice((1, 1, 1, 2, 3))))
            commands += placing_commands(store, made_up(chance, each, size), sorted(groups))
        await store.site.redis.pipeline(commands)


def placing_commands(store: Store, article: Article, groups: Sequence[str]) -> list[Command]:
    """The commands that write the places of an article in its groups, in every order."""
    value, member = store.site.policy.value, keys.member(article.number)
    return [
        ("ZADD", keys.group(0, group, order.value), value(order, article), member)
        for group in groups
        for order in Order
    ]


async def table(store: Store, redis: "Redis", size: int) -> Table:
    columns = ("order", "page ms", "server ms", "calls", "longest call µs", "naive ms", "naive / page")
    rows = Table(*columns, "first 10,000 hidden: ms", "server ms", "longest call µs", title=f"{size:,} articles")
    wholes = {order.name: listings.whole(store.site, order) for order in Order}
    for order in (Order.TIME, Order.VOTES):
        wholes[f"{order.name}, a week"] = listings.posted_since(store.site, group=None, order=order, at=WEEK_AGO)
    for name, whole in wholes.items():
        order = Order[name.split(",")[0]]
        of_reader, of_hider = home.listing_of(READER, order, whole), home.listing_of(HIDER, order, whole)
        await hide_first(store, of_reader)
        found, found_by_hider = await measured(store, of_reader), await measured(store, of_hider)
        naive = "-"
        # by GRAVITY, and by VOTES since an instant, a page is no range of an index
        if order != Order.GRAVITY and not whole.since:
            naive = f"{await milliseconds(lambda order=order: naive_page(redis, order)):.1f}"
        rows.add_row(
            name,
            f"{found.elapsed:.1f}",
            f"{found.server:.1f}",
            str(found.calls),
            str(found.longest),
            naive,
            "-" if naive == "-" else f"{float(naive) / found.elapsed:.1f}",
            f"{found_by_hider.elapsed:.1f}",
            f"{found_by_hider.server:.1f}",
            str(found_by_hider.longest),
        )
    return rows


async def hide_first(store: Store, listing: HomeListing) -> None:
    """Let HIDER hide the first `HIDDEN_ARTICLES` of a home, or half of the articles of a smaller one."""
    members: list[str] = []
    window = Window(200)  # articles at a time
    while len(members) < HIDDEN_ARTICLES:
        found = await Reads(store, login=None).home_page(listing, window)
        members += [place.member for place in found.positions]
        if not found.below:
            break
        window = replace(window, beyond=found.positions[-1], at=found.at)
    hidden = members if len(members) == HIDDEN_ARTICLES else members[: len(members) // 2]
    pairs = [text for member in hidden for text in (NOW, member)]
    key = HIDDEN(0, HIDER.username)
    await store.site.redis.pipeline([("DEL", key), *([("ZADD", key, *pairs)] if pairs else [])])


async def measured(store: Store, listing: HomeListing) -> Figures:
    client = store.site.redis
    await client.run(("CONFIG", "SET", "slowlog-log-slower-than", 50, "slowlog-max-len", 100_000))  # microseconds
    await page(store, listing)
    await client.run(("CONFIG", "RESETSTAT"))
    before, times, longest = await cpu_seconds(store), [], []
    for _ in range(ROUNDS):
        await client.run(("SLOWLOG", "RESET"))
        started = perf_counter()
        await page(store, listing)
        times.append((perf_counter() - started) * 1000)
        longest.append(max((duration for _, _, duration, *_ in await client.run(("SLOWLOG", "GET", -1))), default=0))
    spent = (await cpu_seconds(store) - before) / ROUNDS * 1000
    statistics = await client.run(("INFO", "commandstats"))
    calls = int(statistics.split("cmdstat_evalsha:calls=")[1].split(",")[0])
    return Figures(median(times), spent, calls // ROUNDS, min(longest))


async def page(store: Store, listing: HomeListing) -> None:
    await Reads(store, login=None).home_page(listing, Window(COUNT))


async def milliseconds(run: Callable[[], Awaitable[object]]) -> float:
    times = []
    for _ in range(ROUNDS):
        started = perf_counter()
        await run()
        times.append((perf_counter() - started) * 1000)
    return median(times)


async def naive_page(redis: "Redis", order: Order) -> list[tuple[float, str]]:
    """The usual way with redis-py: the first of every group, merged."""
    pipeline = redis.pipeline(transaction=False)
    for group in GROUPS:
        pipeline.zrange(keys.group(0, group, order.value), 0, COUNT, desc=True, withscores=True)
    found: list[Any] = await pipeline.execute()
    return heapq.nlargest(COUNT, {(float(value), member) for pairs in found for member, value in pairs})


if __name__ == "__main__":
    asyncio.run(main([int(each) for each in sys.argv[1:]] or SIZES))
