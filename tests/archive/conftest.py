"""Fixtures of `tests/database/conftest.py`, and `pair`: two stores, of which one archives."""

import random
from collections.abc import AsyncIterator

import pytest

from database.database import Database
from store.store import Store
from tests.archive.worlds import PEOPLE, POLICY, Pair, World
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
    """A store that archives and one that never does, in databases 0 and 1 of Redis, with the same users."""
    stores = [
        await Store.open(f"{redis_url}?db={db}", POLICY, partitions, clock=clock, session_lifetime=10**8)
        for db in (0, 1)
    ]
    pair = Pair(World(stores[0], each_database), World(stores[1], None), clock, random.Random(1))
    for name in PEOPLE:
        for world in pair.worlds:
            await world.register(name)
    yield pair
    for world in pair.worlds:
        await world.close()
