"""
Measures the memory of Valkey of a store that grows, before and after articles are archived.

    python -m bench.store_memory [--articles 40000,80000,160000] [--hot 10000] [--folder FOLDER]

`--hot` is how many articles stay in Valkey when all others are archived, which means moved to an SQLite file. There is
one article a minute, by one of 500 users, in one of five groups, with a link of its own. They are imported, which is
fast; then the keys that only imports leave are removed, and the log is trimmed, as if they had been posted.
"""

import argparse
import asyncio
import random
import tempfile
import time
from collections.abc import Awaitable, Callable, Iterator
from contextlib import suppress
from functools import partial
from itertools import islice
from pathlib import Path
from typing import NoReturn, TypeVar

from archive import steps
from archive.mover import HotLimits, Mover
from bench.tables import markdown
from database.database import Database, DatabaseUnavailable
from database.mirror import Mirror
from server.managed_valkey import server
from store import keys, log
from store.background import running
from store.errors import StoreUnavailable
from store.maintenance.import_stories import Story, import_batch
from store.ranking.formulas import DAY
from store.site import unix_milliseconds
from store.store import Store

BATCH, BATCHES = 500, 20  # stories of an import, and imports until the database follows
USERS, GROUPS = 500, ("ask", "show", "tell", "news", "video")
MINUTE = 60_000  # milliseconds
NO_LIMIT = 10**9  # more than there ever are
FREEING_SECONDS = 3.0  # in which Valkey frees what was removed
T = TypeVar("T")


async def main(sizes: list[int], hot: int, parent: str | None) -> None:
    with tempfile.TemporaryDirectory(dir=parent) as folder, server.running(Path(folder)) as redis_url:
        store = await Store.open(redis_url)
        database = Database(f"sqlite:///{folder}/upvote.db")
        await database.open()
        empty, remaining = await used(store), stories(random.Random(1), max(sizes))
        head = ["articles", "most in Valkey", "MB", f"{hot:,} in Valkey, MB", "ms of CPU for an archived article"]
        print(markdown(head, []), flush=True)
        size = 0
        for larger in sizes:
            added = larger - size
            await fill(store, database, islice(remaining, added))
            most_articles, most_bytes = added + min(size, hot), await used(store) - empty
            size = larger
            cpu = await archive(store, database, hot)
            hot_bytes = await used(store) - empty
            row = [f"{size:,}", f"{most_articles:,}", f"{most_bytes / 1e6:.1f}", f"{hot_bytes / 1e6:.1f}", f"{cpu:.2f}"]
            print(f"| {' | '.join(row)} |", flush=True)
        await database.close()
        await store.close()


async def fill(store: Store, database: Database, added: Iterator[Story]) -> None:
    mirror = Mirror(store.site, database)
    while batch := list(islice(added, BATCH * BATCHES)):
        for start in range(0, len(batch), BATCH):
            await repeated(partial(import_batch, store, batch[start : start + BATCH]))
        await repeated(mirror.catch_up)
        await repeated(partial(leave_as_posts, store))


async def repeated(work: Callable[[], Awaitable[T]]) -> T:
    """Do what can be repeated, again if Valkey or the database does not answer in time on a busy machine."""
    while True:
        with suppress(StoreUnavailable, DatabaseUnavailable):
            return await work()


async def archive(store: Store, database: Database, hot: int) -> float:
    """Archive all but `hot` articles. Returns the milliseconds of CPU of the process for each that is archived."""
    archiver = Mover(store.site, database, HotLimits(articles=hot, articles_per_user=NO_LIMIT), notice=0)
    async with running(follow(Mirror(store.site, database))):
        started, before = time.process_time(), await articles(store)
        await repeated(archiver.move)
        cpu = time.process_time() - started
    await repeated(archiver.close)
    await log.trim(store.site, kept_ms=0, max_entries=NO_LIMIT)
    return cpu * 1000 / max(before - await articles(store), 1)


async def articles(store: Store) -> int:
    """How many are in Valkey."""
    return await steps.count(store.site, 0)


def stories(chance: random.Random, size: int) -> Iterator[Story]:
    newest = unix_milliseconds() - 8 * DAY * 1000  # voting is closed
    for number in range(size):
        title, link = f"A title of usual length, number {number}", f"https://example.com/articles/{number}"
        votes = 1 + int(chance.paretovariate(1))
        poster, group = f"user-{chance.randrange(USERS)}", chance.choice(GROUPS)
        yield Story(str(number), title, link, poster, newest - (size - number) * MINUTE, min(votes, 5_000), (group,))


async def leave_as_posts(store: Store) -> None:
    """Remove what only imports leave, and the entries of the log that the database has taken."""
    await store.site.redis.run(("UNLINK", keys.imported(0), keys.numbered(0)))
    await log.trim(store.site, kept_ms=0, max_entries=NO_LIMIT)


async def follow(mirror: Mirror) -> NoReturn:
    """Take the entries of the log into the database, as a server does all the time."""
    while True:
        await repeated(mirror.catch_up)
        await asyncio.sleep(0.05)


async def used(store: Store) -> int:
    """The bytes that Valkey has allocated, once it has freed what was removed."""
    await asyncio.sleep(FREEING_SECONDS)
    text: str = await store.site.redis.run(("INFO", "memory"))
    return int(text.partition("used_memory:")[2].split()[0])


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument(
        "--articles", type=lambda text: [int(size) for size in text.split(",")], default="40000,80000,160000"
    )
    parser.add_argument("--hot", type=int, default=10_000)
    parser.add_argument("--folder", help="where the data of the measured store are kept meanwhile")
    chosen = parser.parse_args()
    asyncio.run(main(chosen.articles, chosen.hot, chosen.folder))
