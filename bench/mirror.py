"""
Measures how many changes a second the mirror takes from the log of a store into a database.

    python -m bench.mirror [URL] [--changes 100000]

Without the URL of an empty database it is an SQLite file. Of 20 changes one is a post, and the others are votes on one
of the newest 2 000 articles. The figures are changes for each second, and for each second of CPU of this process with
all its threads. They include reading from Valkey and the index of the search.
"""

import argparse
import asyncio
import random
import tempfile
import time
from collections.abc import Awaitable, Iterator
from pathlib import Path

from database.database import Database
from database.mirror import Mirror
from server.managed_valkey import server
from store import keys
from store.client import Command
from store.store import Store

BATCH = 1_000
CHANGES_PER_POST = 20
VOTED_ARTICLES, VOTERS = 2_000, 5_000
START = 1_470_311_520_000  # unix milliseconds


async def main(url: str | None, count: int) -> None:
    with tempfile.TemporaryDirectory() as folder, server.running(Path(folder)) as redis_url:
        store = await Store.open(redis_url)
        database = Database(url or f"sqlite:///{folder}/upvote.db")
        await database.open()
        mirror = Mirror(store.site, database)
        await mirror.catch_up()  # the store is empty: this is not measured
        await fill(store, count)
        await measure(f"{count:,} changes", count, mirror.catch_up())
        await measure("replay of them", count, mirror.rebuild())
        await mirror.close()
        await database.close()
        await store.close()


async def fill(store: Store, count: int) -> None:
    """Append entries, without the changes of the store that belong to them."""
    commands = list(entries(random.Random(count), count))
    for start in range(0, count, BATCH):
        await store.site.redis.pipeline(commands[start : start + BATCH])


def entries(chance: random.Random, count: int) -> Iterator[Command]:
    numbers: list[int] = []
    for at in range(START, START + count):
        if at % CHANGES_PER_POST == START % CHANGES_PER_POST:
            numbers.append(2 * at * keys.SLOTS)
            texts = ("title", f"A title of usual length {at}", "link", f"https://example.com/{at}", "content", "")
            yield entry(
                "posted", at, "alice", numbers[-1], *texts, "groups", "show ask", "time", at, "up", 1, "down", 0
            )
        else:
            voter, number = f"voter-{chance.randrange(VOTERS)}", chance.choice(numbers[-VOTED_ARTICLES:])
            yield entry("voted", at, voter, number, "value", 1, "up", at - START, "down", 0)


def entry(kind: str, at: int, actor: str, number: int, *values: str | int) -> Command:
    head = ("kind", kind, "at", at, "actor", actor, "subject", f"article:{number}")
    return ("XADD", keys.log(0), "*", *head, *values)


async def measure(name: str, count: int, work: Awaitable[object]) -> None:
    started, cpu = time.perf_counter(), time.process_time()
    await work
    rate, by_cpu = count / (time.perf_counter() - started), count / (time.process_time() - cpu)
    print(f"{name}: {rate:,.0f} a second, {by_cpu:,.0f} a second of CPU")


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("url", nargs="?")
    parser.add_argument("--changes", type=int, default=100_000)
    chosen = parser.parse_args()
    asyncio.run(main(chosen.url, chosen.changes))
