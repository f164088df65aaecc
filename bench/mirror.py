"""
Measures how many changes a second the mirror takes from the log of a store into a database, which it keeps equal to the
store. The log is a Redis stream with an entry for each change.

    python -m bench.mirror [URL] [--changes 100000] [--comments 0]

Without the URL of an empty database, an SQLite file is used. Of 20 changes one is a post, and the others are votes on
one of the newest 2 000 articles. `--comments` is the percentage of the others that are about comments: of five of these
one is a comment on one of these articles, and four are votes on one of the newest 2 000 comments.

The figures are changes for each second, and for each second of CPU of this process with all its threads. They include
reading from Valkey and the index of the search.
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

BATCH = 1_000  # entries written in a round trip
CHANGES_PER_POST = 20
CHANGES_PER_COMMENT = 5
VOTED_SUBJECTS, VOTERS = 2_000, 5_000  # the newest articles, and the newest comments, that are voted on; users
COMMENT = "A comment of usual length, which is some three hundred characters with the words of a reader. " * 3
START = 1_470_311_520_000  # unix milliseconds


async def main(url: str | None, count: int, comments: int) -> None:
    with tempfile.TemporaryDirectory() as folder, server.running(Path(folder)) as redis_url:
        store = await Store.open(redis_url)
        database = Database(url or f"sqlite:///{folder}/upvote.db")
        await database.open()
        mirror = Mirror(store.site, database)
        await mirror.catch_up()  # the store is empty: this is not measured
        await fill(store, count, comments)
        await measure(f"{count:,} changes", count, mirror.catch_up())
        await measure("replay of them", count, mirror.rebuild())
        await mirror.close()
        await database.close()
        await store.close()


async def fill(store: Store, count: int, comments: int) -> None:
    """Append entries, without the changes of the store that belong to them."""
    commands = list(entries(random.Random(count), count, comments / 100))
    for start in range(0, count, BATCH):
        await store.site.redis.pipeline(commands[start : start + BATCH])


def entries(chance: random.Random, count: int, share: float) -> Iterator[Command]:
    """The commands that append `count` entries. Of those that are no posts, `share` (0 to 1) is about comments."""
    articles: list[int] = []
    comments: list[tuple[int, int]] = []  # each with its article
    for at in range(START, START + count):  # one a millisecond
        voter, number = f"voter-{chance.randrange(VOTERS)}", 2 * at * keys.SLOTS  # as of a post of this time
        if (at - START) % CHANGES_PER_POST == 0:
            articles.append(number)
            texts = ("title", f"A title of usual length {at}", "link", f"https://example.com/{at}", "content", "")
            counts = ("groups", "show ask", "time", at, "up", 1, "down", 0)
            yield entry("posted", at, "alice", f"article:{number}", *texts, *counts)
        elif chance.random() >= share:
            id = f"article:{chance.choice(articles[-VOTED_SUBJECTS:])}"
            yield entry("voted", at, voter, id, "value", 1, "up", at - START, "down", 0)
        elif not comments or chance.random() < 1 / CHANGES_PER_COMMENT:
            article = chance.choice(articles[-VOTED_SUBJECTS:])
            comments.append((number, article))
            place = ("article", article, "parent", "", "depth", 0, "content", f"{COMMENT} {at}")
            yield entry("commented", at, voter, f"comment:{number}", *place, "time", at, "up", 1, "down", 0)
        else:
            comment, article = chance.choice(comments[-VOTED_SUBJECTS:])
            place = ("article", article, "poster", "alice", "karma", 1, "value", 1)
            yield entry("comment_voted", at, voter, f"comment:{comment}", *place, "up", at - START, "down", 0)


def entry(kind: str, at: int, actor: str, subject: str, *values: str | int) -> Command:
    return ("XADD", keys.log(0), "*", "kind", kind, "at", at, "actor", actor, "subject", subject, *values)


async def measure(name: str, count: int, work: Awaitable[object]) -> None:
    started, cpu = time.perf_counter(), time.process_time()
    await work
    rate, by_cpu = count / (time.perf_counter() - started), count / (time.process_time() - cpu)
    print(f"{name}: {rate:,.0f} a second, {by_cpu:,.0f} a second of CPU")


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("url", nargs="?")
    parser.add_argument("--changes", type=int, default=100_000)
    parser.add_argument("--comments", type=int, default=0)
    chosen = parser.parse_args()
    asyncio.run(main(chosen.url, chosen.changes, chosen.comments))
