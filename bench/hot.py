"""
Measures the memory of Valkey without an archive and with one, for stores of several sizes.

    python -m bench.hot [--articles 40000,80000,160000] [--hot 10000]

One article a minute by one of 500 users, in one of five groups, with a link of its own, as `post` leaves them after
voting: without the keys of imports, and with a trimmed log.
"""

import argparse
import asyncio
import random
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import NoReturn

from bench.tables import markdown
from database.archiver import Archiver, Limits
from database.database import Database
from database.mirror import Mirror
from server.managed_valkey import server
from store import keys, log
from store.maintenance.import_stories import Story, import_batch
from store.ranking.formulas import DAY
from store.site import unix_milliseconds
from store.store import Store

BATCH = 500
USERS, GROUPS = 500, ("ask", "show", "tell", "news", "video")
MINUTE = 60_000  # milliseconds
NO_LIMIT = 10**9
SETTLING = 3.0  # seconds


async def main(sizes: list[int], hot: int) -> None:
    head = ["articles", "all in Valkey, MB", f"{hot:,} in Valkey, MB", "CPU of the process, ms for an archived article"]
    print(markdown(head, [await row(size, hot) for size in sizes]))


async def row(size: int, hot: int) -> list[str]:
    with tempfile.TemporaryDirectory() as folder, server.running(Path(folder)) as redis_url:
        store = await Store.open(redis_url)
        database = Database(f"sqlite:///{folder}/upvote.db")
        await database.open()
        empty = await used(store)
        await fill(store, size)
        mirror = Mirror(store.site, database)
        await mirror.catch_up()
        await leave_as_posts(store)
        everything = await used(store) - empty

        following = asyncio.create_task(follow(mirror))
        started = time.process_time()
        moved = await Archiver(store.site, database, Limits(hot, NO_LIMIT), notice=0).move()
        cpu = (time.process_time() - started) * 1000 / max(moved, 1)
        following.cancel()
        await asyncio.wait([following])
        await log.trim(store.site, 0, NO_LIMIT)
        left = await used(store) - empty
        await database.close()
        await store.close()
    return [f"{size:,}", f"{everything / 1e6:.1f}", f"{left / 1e6:.1f}", f"{cpu:.2f}"]


async def fill(store: Store, size: int) -> None:
    made = list(stories(random.Random(size), size))
    for start in range(0, size, BATCH):
        await import_batch(store, made[start : start + BATCH])


def stories(chance: random.Random, size: int) -> Iterator[Story]:
    newest = unix_milliseconds() - 8 * DAY * 1000
    for number in range(size):
        title, link = f"A title of usual length, number {number}", f"https://example.com/articles/{number}"
        votes = 1 + int(chance.paretovariate(1))
        poster, group = f"user-{chance.randrange(USERS)}", chance.choice(GROUPS)
        yield Story(str(number), title, link, poster, newest - (size - number) * MINUTE, min(votes, 5_000), (group,))


async def leave_as_posts(store: Store) -> None:
    await store.site.redis.run(("UNLINK", keys.imported(0), keys.numbered(0)))
    await log.trim(store.site, 0, NO_LIMIT)


async def follow(mirror: Mirror) -> NoReturn:
    while True:
        await mirror.catch_up()
        await asyncio.sleep(0.05)


async def used(store: Store) -> int:
    """The bytes that Valkey has allocated, once it has freed what was removed."""
    await asyncio.sleep(SETTLING)
    text: str = await store.site.redis.run(("INFO", "memory"))
    return int(text.partition("used_memory:")[2].split()[0])


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument(
        "--articles", type=lambda text: [int(size) for size in text.split(",")], default="40000,80000,160000"
    )
    parser.add_argument("--hot", type=int, default=10_000)
    chosen = parser.parse_args()
    asyncio.run(main(chosen.articles, chosen.hot))
