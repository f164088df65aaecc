"""
Measures pages by VOTES of the articles since an instant, and of all articles.

    python -m bench.since [SIZE]

Writes only the indexes that such a page reads: one article a minute, with three distributions of votes. The figures are
CPU time of the server's main thread, including the network, so that other processes do not affect them.
"""

import asyncio
import random
import sys
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path

from rich.console import Console
from rich.table import Table

from bench.orders import number_at, placing_command, without_texts
from resolvers.dataloader import Reads
from server.managed_valkey import server
from store import listings
from store.listings import Listing, Window
from store.ranking import since
from store.ranking.formulas import DAY, Order
from store.records import Article
from store.store import Store

SIZE = 1_000_000  # articles
ROUNDS = 100  # reads of a page
BATCH = 500  # articles
MINUTE = 60_000  # milliseconds
DAY_MS = DAY * 1000
NOW = 1_470_311_520_000  # unix milliseconds
MOST_VOTES = 5_000  # of an article
AGES = {"day": 1, "week": 7, "month": 30, "year": 365, "before all": 100_000}  # days
DISTRIBUTIONS: dict[str, Callable[[random.Random], int]] = {  # votes of each article
    "as on a site": lambda chance: min(int(chance.paretovariate(0.8)), MOST_VOTES) - chance.randrange(2),
    "200, standard deviation 14": lambda chance: round(chance.gauss(200, 14)),
    "all of one vote": lambda chance: 1,
}


async def main(size: int) -> None:
    for name, votes in DISTRIBUTIONS.items():
        with tempfile.TemporaryDirectory() as folder, server.running(Path(folder)) as url:
            store = await Store.open(url, clock=lambda: NOW, cached_keys=0)
            await fill(store, size, votes)
            Console(width=140).print(await table(store, f"{size:,} articles, {name}: µs of the server for 25 articles"))
            await store.close()


async def fill(store: Store, size: int, votes: Callable[[random.Random], int]) -> None:
    chance = random.Random(size)
    for start in range(0, size, BATCH):
        made = [
            random_article(chance, NOW - (size - each) * MINUTE, votes)
            for each in range(start, min(start + BATCH, size))
        ]
        await store.site.redis.pipeline([placing_command(store, order, made) for order in since.INDEXES])


def random_article(chance: random.Random, posted_at: int, votes: Callable[[random.Random], int]) -> Article:
    """An article posted within the minute from `posted_at`, with what orders it and no texts."""
    posted_at += chance.randrange(MINUTE)
    count = votes(chance)
    return without_texts(number_at(chance, posted_at), posted_at, upvotes=max(count, 0), downvotes=max(-count, 0))


async def table(store: Store, title: str) -> Table:
    rows = Table("since", "articles", "first", "after the 1,000th", "last", "1,000 skipped", "middle page", title=title)
    whole = listings.whole(store.site, Order.VOTES)
    for name, days in (("(plain VOTES)", None), *AGES.items()):
        of_turns = [whole if days is None else posted_since(store, days, turn) for turn in range(ROUNDS)]
        total = (await page(store, of_turns[0], Window(25))).total
        (thousandth,) = (await page(store, of_turns[0], Window(1, skip=999))).positions
        windows = [
            Window(25),
            Window(25, beyond=thousandth),
            Window(25, upwards=True),
            Window(25, skip=1_000),
            Window(25, skip=total // 2),
        ]
        rows.add_row(name, f"{total:,}", *[f"{await server_time(store, of_turns, each):.0f}" for each in windows])
    return rows


def posted_since(store: Store, days: int, turn: int) -> Listing:
    """A listing since an instant that slides by a second with each turn, as it does for readers of a running site."""
    at = NOW - days * DAY_MS + turn * 1000
    return listings.posted_since(store.site, group=None, order=Order.VOTES, at=at)


async def page(store: Store, listing: Listing, window: Window) -> listings.Page:
    (found,) = await Reads(store, login=None).pages([(listing, window)])
    return found


async def server_time(store: Store, pages_of: Sequence[Listing], window: Window) -> float:
    """Mean time of a page in microseconds."""
    await page(store, pages_of[0], window)
    before = await cpu_seconds(store)
    for listing in pages_of:
        await page(store, listing, window)
    return (await cpu_seconds(store) - before) / len(pages_of) * 1e6


async def cpu_seconds(store: Store) -> float:
    """CPU time of the server's main thread so far."""
    information: str = await store.site.redis.run(("INFO", "cpu"))
    found = dict(line.split(":") for line in information.splitlines() if ":" in line)
    return float(found["used_cpu_sys_main_thread"]) + float(found["used_cpu_user_main_thread"])


if __name__ == "__main__":
    asyncio.run(main(int(sys.argv[1]) if sys.argv[1:] else SIZE))
