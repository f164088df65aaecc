"""
Measures the memory of Valkey of a store that grows, before and after articles are archived.

    python -m bench.store_memory [--articles 40000,80000,160000] [--hot 10000] [--comments 5] [--folder FOLDER]

`--hot` is how many articles stay in Valkey when all others are archived, which means moved to an SQLite file, with
their comments. There is one article a minute, by one of 500 users, in one of five groups, with a link of its own. Each
has as many comments as `--comments` says, of 200 characters; each answers the article or a comment before it. All are
imported, which is fast; then the keys that only imports leave are removed, and the log is trimmed, as if they had been
posted.
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
from store.maintenance.import_comments import PlacedComment, StoryComment, create_posters, import_comments
from store.maintenance.import_stories import Story, import_batch
from store.ranking.formulas import DAY
from store.site import unix_milliseconds
from store.store import Store

BATCH, BATCHES = 500, 20  # stories of an import, and imports until the database follows
NAMES, GROUPS = [f"user-{number}" for number in range(500)], ("ask", "show", "tell", "news", "video")
FIRST_DAY = 0  # unix milliseconds, when all users joined
CHARACTERS = 200  # of a comment
MINUTE = 60_000  # milliseconds
QUIET_DAYS = 2  # after which a conversation leaves: the least that the setting allows
NO_LIMIT = 10**9  # more than there ever are
FREEING_SECONDS = 3.0  # in which Valkey frees what was removed
T = TypeVar("T")


async def main(sizes: list[int], hot: int, comments_each: int, parent: str | None) -> None:
    with tempfile.TemporaryDirectory(dir=parent) as folder, server.running(Path(folder)) as redis_url:
        store, earlier = await Store.open(redis_url), await Store.open(redis_url, clock=some_time_ago)
        database = Database(f"sqlite:///{folder}/upvote.db")
        await database.open()
        empty, remaining = await used(store), stories(random.Random(1), max(sizes))
        head = ["articles", "most in Valkey", "MB", f"{hot:,} in Valkey, MB", "ms of CPU for an archived article"]
        print(markdown(head, []), flush=True)
        size = 0
        for larger in sizes:
            added = larger - size
            await fill(earlier, database, islice(remaining, added), comments_each)
            most_articles, most_bytes = added + min(size, hot), await used(store) - empty
            size = larger
            cpu = await archive(store, database, hot)
            hot_bytes = await used(store) - empty
            row = [f"{size:,}", f"{most_articles:,}", f"{most_bytes / 1e6:.1f}", f"{hot_bytes / 1e6:.1f}", f"{cpu:.2f}"]
            print(f"| {' | '.join(row)} |", flush=True)
        await database.close()
        await earlier.close()
        await store.close()


def some_time_ago() -> int:
    """When everything is imported, in unix milliseconds: so long ago that conversations leave."""
    return unix_milliseconds() - 10 * DAY * 1000


async def fill(store: Store, database: Database, added: Iterator[Story], comments_each: int) -> None:
    mirror, chance = Mirror(store.site, database), random.Random(2)
    names = (await create_posters(store, {name: FIRST_DAY for name in NAMES})).names
    while batch := list(islice(added, BATCH * BATCHES)):
        for start in range(0, len(batch), BATCH):
            some = batch[start : start + BATCH]
            await repeated(partial(import_batch, store, some))
            comments = [
                PlacedComment(0, comment) for story in some for comment in conversation(chance, story, comments_each)
            ]
            for first in range(0, len(comments), BATCH):
                await repeated(partial(import_comments, store, comments[first : first + BATCH], names))
        await repeated(mirror.catch_up)
        await repeated(partial(leave_as_posts, store))


def conversation(chance: random.Random, story: Story, size: int) -> Iterator[StoryComment]:
    """The comments on a story, one a minute; each answers the story or a comment before it."""
    ids = [story.id]
    for number in range(1, size + 1):
        parent, text = chance.choice(ids), f"{chance.random()} ".ljust(CHARACTERS, "x")
        ids.append(f"{story.id}-{number}")
        yield StoryComment(ids[-1], parent, chance.choice(NAMES), story.time + number * MINUTE, text)


async def repeated(work: Callable[[], Awaitable[T]]) -> T:
    """Do what can be repeated, again if Valkey or the database does not answer in time on a busy machine."""
    while True:
        with suppress(StoreUnavailable, DatabaseUnavailable):
            return await work()


async def archive(store: Store, database: Database, hot: int) -> float:
    """Archive all but `hot` articles. Returns the milliseconds of CPU of the process for each that is archived."""
    limits = HotLimits(articles=hot, articles_per_user=NO_LIMIT, days=QUIET_DAYS)
    archiver = Mover(store.site, database, limits, notice=0)
    async with running(follow(Mirror(store.site, database))):
        started, before = time.process_time(), await articles(store)
        await repeated(archiver.move)
        cpu = time.process_time() - started
    await repeated(archiver.close)
    await log.trim(store.site, kept_ms=0, max_entries=NO_LIMIT)
    return cpu * 1000 / max(before - await articles(store), 1)


async def articles(store: Store) -> int:
    """How many are in Valkey."""
    return await steps.count(store.site, partition=0)


def stories(chance: random.Random, size: int) -> Iterator[Story]:
    newest = some_time_ago() - 8 * DAY * 1000  # voting was closed when they were imported
    for number in range(size):
        title, link = f"A title of usual length, number {number}", f"https://example.com/articles/{number}"
        votes = 1 + int(chance.paretovariate(1))
        poster, group = chance.choice(NAMES), chance.choice(GROUPS)
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
    parser.add_argument("--comments", type=int, default=0, help="on each article")
    parser.add_argument("--folder", help="where the data of the measured store are kept meanwhile")
    chosen = parser.parse_args()
    asyncio.run(main(chosen.articles, chosen.hot, chosen.comments, chosen.folder))
