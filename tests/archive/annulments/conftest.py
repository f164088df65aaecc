"""
Fixtures: `pair` is two stores with the same history, of which `pair.world` annuls votes of the user Mallory and
`pair.other` never does. `bare` is one without an SQL database.
"""

from collections.abc import AsyncIterator

import pytest

from database.database import Database
from tests.archive.annulling import Pair, opened
from tests.conftest import Clock


@pytest.fixture
async def pair(redis_url: str, partitions: int, clock: Clock, each_database: Database) -> AsyncIterator[Pair]:
    async for pair in opened(redis_url, partitions, clock, each_database):
        yield pair


@pytest.fixture
async def bare(redis_url: str, partitions: int, clock: Clock) -> AsyncIterator[Pair]:
    """As `pair`, without a database."""
    async for pair in opened(redis_url, partitions, clock, database=None):
        yield pair
