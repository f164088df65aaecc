"""
Users that vote while servers fail, and the votes that were acknowledged.

A store is split into partitions by user: the partition of a user has all that the user owns.
"""

import asyncio
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

from store import queries
from store.errors import StoreUnavailable
from store.maintenance import verify
from store.records import Vote
from store.store import Store
from tests.conftest import registered
from tests.store.reading import post, read

POSTERS = 48  # so many that each of three servers of a cluster with 16 partitions has articles of some


@dataclass
class Crowd:
    """
    What voters have met: `acknowledged` has those whose votes the store has answered, by the number of the article;
    `refused` counts calls that found the store unavailable. `longest` is the longest time that a call took, `gap` the
    longest time between two acknowledged votes on one article, both in seconds.
    """

    store: Store
    articles: list[int]
    acknowledged: dict[int, set[str]] = field(default_factory=dict)
    refused: int = 0
    longest: float = 0.0
    gap: float = 0.0
    _last: dict[int, float] = field(default_factory=dict)  # when the last vote on each article was acknowledged

    async def vote(self, number: int) -> None:
        """Vote as one voter after the other, each until the vote is acknowledged."""
        turn = 0
        while True:
            voter, answered = f"voter-{turn}", False
            while not answered:
                answered = await self._vote_once(number, voter)
            turn += 1
            await asyncio.sleep(0.01)

    async def missing(self) -> dict[int, set[str]]:
        """The acknowledged voters that the store does not have, by article."""
        expected = {number: self.acknowledged.get(number, set()) for number in self.articles}
        found = await read(self.store, *(queries.voters(self.store.site, number) for number in expected))
        lacking = {number: expected[number] - set(names) for number, names in zip(expected, found, strict=True)}
        return {number: names for number, names in lacking.items() if names}

    async def findings(self) -> list[verify.Finding]:
        found: list[verify.Finding] = []
        await verify.verify(self.store.site, found.append)
        return found

    async def _vote_once(self, number: int, voter: str) -> bool:
        started_at = time.monotonic()
        try:
            await self.store.articles.vote(number, voter, Vote.UP)
        except StoreUnavailable:
            self.refused += 1
            return False
        finally:
            now = time.monotonic()
            self.longest = max(self.longest, now - started_at)
        self.gap = max(self.gap, now - self._last.get(number, now))
        self._last[number] = now
        self.acknowledged.setdefault(number, set()).add(voter)
        return True


@asynccontextmanager
async def voting(store: Store, posters: int = POSTERS) -> AsyncIterator[Crowd]:
    """While the context is open, vote on one article of each of `posters` new users, who are in any partitions."""
    numbers = []
    for poster in range(posters):
        name = await registered(store, f"poster-{poster}")
        numbers.append((await post(store, name)).number)
    crowd = Crowd(store, numbers)
    tasks = [asyncio.create_task(crowd.vote(number)) for number in numbers]
    try:
        yield crowd
    finally:
        for task in tasks:
            task.cancel()
        for fault in await asyncio.gather(*tasks, return_exceptions=True):
            if not isinstance(fault, asyncio.CancelledError):
                raise fault
