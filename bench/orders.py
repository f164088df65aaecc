"""
What orders cost: a page of each at growing sizes, a vote against the number of orders, and memory.

    python -m bench.orders [SIZE ...]

For pages, the server time of reading the places is measured, because reading the articles costs the same in every
order. For first pages, the time of a complete response without HTTP is measured, too. Articles are written directly,
one a minute, with votes as unevenly spread as on a real site; only those that are shown or voted on are complete.
"""

import asyncio
import random
import sys
import tempfile
from collections.abc import Awaitable, Callable, Sequence
from functools import partial
from pathlib import Path
from statistics import median
from time import perf_counter

from rich.console import Console
from rich.table import Table

from caches import Pool
from engine import Limits
from engine.compiler.execution import Execution
from engine.documents import Operations
from resolvers.context import Context
from resolvers.dataloader import Reads
from schema.schema import SCHEMA
from server.managed_valkey import server
from store import keys, listings
from store.articles import VOTE
from store.client import Command
from store.listings import Window
from store.ranking.formulas import Order
from store.records import Article, Position, Vote
from store.store import Store

SIZES = [1_000, 20_000, 1_000_000]
ROUNDS = 200  # reads of a page
VOTES = 300  # that are measured together
TURNS = 15  # how often `VOTES` votes are measured
GROUPS = ["ask", "show", "video"]
MINUTE = 60_000  # milliseconds
NOW = 1_470_311_520_000  # unix milliseconds
BATCH = 2_000  # articles
MOST_VOTES = 5_000  # of an article
PAGE = """{ articles(order: %s) {
  edges { cursor node { id title link votes poster { username } groups { name } } } pageInfo { endCursor } } }"""
OPERATIONS = Operations(SCHEMA, Limits(), Pool(10_000_000))  # bytes
PAGES = {"first": 0.0, "middle": 0.5, "last": 1.0}  # by name, which share of a listing is before the page


async def main(sizes: Sequence[int]) -> None:
    with tempfile.TemporaryDirectory() as folder, server.running(Path(folder)) as url:
        store = await Store.open(url, clock=lambda: NOW)
        pages = Table(
            "order",
            *(f"{name} of {size:,}" for name in PAGES for size in sizes),
            title="Pages of 25: µs of the server's time",
        )
        whole = Table(
            "order", *(f"{size:,}" for size in sizes), title="Complete first pages of 25: µs until the response"
        )
        columns: dict[tuple[str, int], dict[Order, float]] = {}  # microseconds, by page and size
        responses: dict[int, dict[Order, float]] = {}  # microseconds, by size
        for size in sizes:
            await store.site.redis.run(("FLUSHALL",))
            bytes_each = await fill(store, size)
            print(f"{size:,} articles: {bytes_each:.0f} bytes each in all indexes")
            for name, depth in PAGES.items():
                columns[name, size] = await page_times(store, size, depth)
            responses[size] = {order: await response_time(store, order) for order in Order}
        for order in Order:
            pages.add_row(order.name, *(f"{columns[name, size][order]:.0f}" for name in PAGES for size in sizes))
            whole.add_row(order.name, *(f"{responses[size][order]:.0f}" for size in sizes))
        Console(width=140).print(pages, whole)
        await votes(store, url)
        await store.close()


async def votes(store: Store, url: str) -> None:
    """The cost of a vote by the number of orders, on a site of 20,000 articles."""
    table = Table("orders", "without a group", "in one", "in three", title="A vote: µs of the server's time")
    for count in range(1, len(Order) + 1):
        await store.site.redis.run(("FLUSHALL",))
        await fill(store, SIZES[1])
        kept = list(Order)[:count]
        times = [await vote_time(url, kept, GROUPS[:groups]) for groups in (0, 1, 3)]
        table.add_row(", ".join(order.name for order in kept), *(f"{time:.1f}" for time in times))
    Console(width=140).print(table)


async def fill(store: Store, size: int) -> float:
    """Write articles and return the memory of an article in the indexes of the site."""
    chance = random.Random(size)
    connection, before = store.site.redis, await memory(store)
    hashes: list[Command] = []
    for start in range(0, size, BATCH):
        made = [made_up(chance, each, size) for each in range(start, min(start + BATCH, size))]
        hashes += [("HSET", keys.article(0, article.number), "time", article.posted_at) for article in made]
        await connection.pipeline([placing_command(store, order, made) for order in Order])
    used = await memory(store) - before
    for start in range(0, size, BATCH):
        await connection.pipeline(hashes[start : start + BATCH])
    return used / size


def placing_command(store: Store, order: Order, articles: Sequence[Article]) -> Command:
    """The command that writes the places of articles in the index of an order."""
    value = store.site.policy.value
    pairs = [text for article in articles for text in (value(order, article), keys.member(article.number))]
    return ("ZADD", keys.index(0, order.value), *pairs)


def made_up(chance: random.Random, each: int, size: int) -> Article:
    """Article `each` of `size`, the oldest first. Only what orders it is set."""
    up = min(int(chance.paretovariate(0.8)), MOST_VOTES)
    down = chance.randrange(max(up // 3, 2))
    at = NOW - (size - each) * MINUTE
    return without_texts(number_at(chance, at), at, upvotes=up, downvotes=down)


def number_at(chance: random.Random, posted_at: int) -> int:
    """A number that a post of an instant may get: its sequence is twice the time, see `store.numbering`."""
    return 2 * posted_at * keys.SLOTS + chance.randrange(keys.SLOTS)


def without_texts(number: int, posted_at: int, upvotes: int, downvotes: int) -> Article:
    return Article(
        number,
        title="",
        link=None,
        content=None,
        poster="",
        posted_at=posted_at,
        edited_at=None,
        upvotes=upvotes,
        downvotes=downvotes,
        imported_votes=0,
        groups=(),
    )


async def memory(store: Store) -> int:
    information: str = await store.site.redis.run(("INFO", "memory"))
    return int(information.split("used_memory:")[1].split()[0])


async def page_times(store: Store, size: int, depth: float) -> dict[Order, float]:
    times = {}
    for order in Order:
        shown = await window(store, order, size, depth)
        times[order] = await server_time(store, [partial(page, store, order, shown)] * ROUNDS)
    return times


async def window(store: Store, order: Order, size: int, depth: float) -> Window:
    """The first page, the last, or the one after an article that has votes and is in the middle by time."""
    if depth in (0, 1):
        return Window(25, upwards=depth == 1)
    connection, time, votes = store.site.redis, keys.index(0, "time"), keys.index(0, "votes")
    members = await connection.run(("ZRANGE", time, size // 2, size // 2 + 100))
    found = await connection.run(("ZMSCORE", votes, *members))
    member, up = next((member, up) for member, up in zip(members, found, strict=True) if up > 2)
    posted_at = await connection.run(("ZSCORE", time, member))
    article = without_texts(int(member), int(posted_at), upvotes=int(up), downvotes=0)
    return Window(25, beyond=Position(store.site.policy.value_at(order, article, NOW), member))


async def page(store: Store, order: Order, window: Window) -> None:
    await Reads(store, login=None).pages([(listings.whole(store.site, order), window)])


async def response_time(store: Store, order: Order) -> float:
    """Median time until the result of a first page, with the fields of its articles, in microseconds."""
    (shown,) = await Reads(store, login=None).pages([(listings.whole(store.site, order), Window(25))])
    texts = ("title", "a title", "link", "https://example.com/", "poster", "alice", "groups", "show")
    await store.site.redis.pipeline(
        [("HSET", keys.article(0, position.number), *texts, "up", 1, "down", 0) for position in shown.positions]
    )
    operation, execution = OPERATIONS.find(PAGE % order.name, name=None), Execution(SCHEMA)
    times = []
    for _ in range(ROUNDS):
        started = perf_counter()
        (result, _) = await execution.execute(operation, {}, Context(store))
        times.append(perf_counter() - started)
        assert not result.errors
    return median(times) * 1e6


async def vote_time(url: str, orders: Sequence[Order], groups: Sequence[str]) -> float:
    """The minimum of several measurements, because other programs use the machine, each with a new article."""
    store = await Store.open(url, orders=orders, clock=lambda: NOW)
    times = []
    for turn in range(TURNS):
        # A number consists of a sequence, here one that no article of `fill` and none of another number of groups has,
        # and the slot of the poster, here 0.
        number = (TURNS * len(groups) + turn + 1) * keys.SLOTS
        fields = ("title", "a", "poster", "alice", "time", NOW, "up", 1, "down", 0, "groups", " ".join(groups))
        made: list[Command] = [("HSET", keys.article(0, number), *fields), ("SADD", keys.voted(0, number), "alice")]
        # not measured: it loads the script, and gives the article a downvote and places in the indexes
        made.append(store.site.command(VOTE, 0, number, Vote.DOWN.value, username="first"))
        votes = [store.site.command(VOTE, 0, number, Vote.UP.value, username=f"voter-{each}") for each in range(VOTES)]
        pipeline = store.site.redis.pipeline
        times.append(await server_time(store, [partial(pipeline, made), partial(pipeline, votes)]) / VOTES)
    await store.close()
    return min(times)


async def server_time(store: Store, runs: Sequence[Callable[[], Awaitable[object]]]) -> float:
    """Mean time of all scripts of a run in microseconds, as the server counts it, without the first run."""
    await runs[0]()
    await store.site.redis.run(("CONFIG", "RESETSTAT"))
    for run in runs[1:]:
        await run()
    information: str = await store.site.redis.run(("INFO", "commandstats"))
    # its line is `cmdstat_evalsha:calls=NUMBER,usec=NUMBER,...`
    return float(information.split("cmdstat_evalsha:")[1].split("usec=")[1].split(",")[0]) / (len(runs) - 1)


if __name__ == "__main__":
    asyncio.run(main([int(size) for size in sys.argv[1:]] or SIZES))
