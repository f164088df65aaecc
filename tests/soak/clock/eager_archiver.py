"""
Moves articles out of Redis into the database whenever a line on standard input says so: a process of its own with the
settings of a server, for the soak test. A line has five words: how many articles may stay, in all and of each user; how
many leave at once; after how many days in which nothing was written there conversations leave, or None; and how many
comments stay in the list of each user.

Each line is answered by the numbers of all articles that have left (are archived), or by why none could leave.
"""

import asyncio
import json
import sys

from archive import mover, steps
from archive.mover import HotLimits, Mover
from database import article_places
from database.database import Database, DatabaseUnavailable
from server.cli import opened_store
from server.settings import read_settings
from store.errors import StoreUnavailable
from store.store import Store

NOTICE = 1.0  # seconds in which all processes learn that the store has an archive
MOST = 10_000  # archived articles
BEFORE_ALL = 0  # a number below those of all articles


async def move(store: Store) -> None:
    database = Database(read_settings().database or "")
    await database.open()
    none_stay = HotLimits(articles=0, articles_per_user=0)
    eager = Mover(store.site, database, none_stay, notice=NOTICE, lists_interval=0)
    while line := await asyncio.to_thread(sys.stdin.readline):
        *counts, days, listed_comments = line.split()
        articles, articles_per_user, mover.BATCH = map(int, counts)  # the last is a constant of a server
        eager.limits = HotLimits(
            articles=articles,
            articles_per_user=articles_per_user,
            days=None if days == "None" else int(days),
            listed_comments=int(listed_comments),
        )
        try:
            print(json.dumps(await _moved(store, database, eager)), flush=True)
        except (StoreUnavailable, DatabaseUnavailable) as error:
            print(json.dumps(str(error)), flush=True)
    await database.close()


async def _moved(store: Store, database: Database, eager: Mover) -> list[int]:
    for partition in range(store.site.partitions):  # a killed process may still be the only one that may archive
        await steps.lease(store.site, partition, eager.token).take_over()
    await eager.move()
    return await database.run(article_places.numbers, BEFORE_ALL, MOST)


if __name__ == "__main__":
    opened_store.run(read_settings(), move, strict=False)
