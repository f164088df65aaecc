"""
Fixtures of `tests/database/conftest.py`, and `pair`: two stores, of which one archives, so that it has old articles in
its database only.
"""

import random
from collections.abc import AsyncIterator
from typing import Any

import pytest

from archive import maintenance
from database.database import Database
from server.settings import Settings
from store.maintenance import verify
from store.maintenance.verify import Finding
from store.records import article_number
from store.store import Store
from tests.archive.worlds import PEOPLE, POLICY, WINDOW, Pair, World
from tests.conftest import Clock
from tests.database.conftest import (  # noqa: F401  # fixtures
    database,
    database_url,
    each_database,
    migrated_database,
    migrated_file,
    postgres,
    postgres_url,
    sqlite_url,
)


@pytest.fixture
async def pair(
    redis_url: str,
    partitions: int,
    clock: Clock,
    each_database: Database,  # noqa: F811
) -> AsyncIterator[Pair]:
    """A store that archives and one that never does, in databases 0 and 1 of Redis, with the same users, logged in."""
    stores = [
        await Store.open(f"{redis_url}?db={db}", POLICY, partitions, clock=clock, session_lifetime=10**8)
        for db in (0, 1)
    ]
    pair = Pair(World(stores[0], each_database), World(stores[1], database=None), clock, random.Random(1))
    for name in PEOPLE:
        for world in pair.worlds:
            await world.register(name)
    yield pair
    for world in pair.worlds:
        await world.close()


@pytest.fixture
def calm(pair: Pair) -> Pair:
    """As `pair`; passes of the process that archives do not end in simulated crashes."""
    pair.crashes = False
    return pair


async def posted(pair: Pair, poster: str = "alice", **input: Any) -> int:
    """The number of a new article, in both stores."""
    payload = await pair.mutate("post", poster, title="Redis in Action", content="A book.", groups=["show"], **input)
    pair.clock.advance(30)
    number = article_number(payload["article"]["id"])
    assert number
    return number


async def findings(world: World, *, repair: bool = False) -> list[str]:
    """Where `verify` finds faults in a store and its archive, but for late expiries: Redis has another clock."""
    assert world.database
    found: list[Finding] = []
    tally = await maintenance.verify(world.store.site, world.database, found.append, repair=repair)
    await verify.verify(world.store.site, found.append, repair=repair, archived=tally)
    return [each.where for each in found if not each.where.endswith(" TTL")]


def settings_of(redis_url: str, db: int, database_at: str = "none") -> Settings:
    """Settings of a command on a store: in a database of Redis, with the SQL database of a URL."""
    return Settings(
        redis_url=f"{redis_url}?db={db}",
        database_url=database_at,
        good_votes=POLICY.good_votes,
        voting_window=WINDOW,
    )
