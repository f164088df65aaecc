"""
A process in which COUNT users vote for an article, one after the other. It prints the upvotes after each vote that the
store has acknowledged.

    python -m tests.store.voting REDIS_URL NUMBER_OF_THE_ARTICLE COUNT
"""

import asyncio
import sys

from store.errors import StoreUnavailable
from store.records import Vote
from store.store import Store
from tests.conftest import Clock


async def vote(url: str, number: int, count: int) -> None:
    store = await Store.open(url, clock=Clock())
    for each in range(count):
        while True:
            try:
                voted = await store.articles.vote(number, f"voter-{each}", Vote.UP)
                break
            except StoreUnavailable:
                continue
        print(voted.article.upvotes, flush=True)
    await store.close()


if __name__ == "__main__":
    url, number, count = sys.argv[1:]
    asyncio.run(vote(url, int(number), int(count)))
