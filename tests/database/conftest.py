"""
Fixtures of databases: `database` is an SQLite file, `each_database` is that and then a PostgreSQL database, both
migrated and empty; `mirrored` brings one up to date with a store.
"""

import itertools
import os
from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import pytest

from database.database import Database
from tests.servers import Postgres, postgres_folder, running_postgres

NUMBERS = itertools.count(1)


@pytest.fixture(scope="session")
def postgres() -> Iterator[Postgres]:
    """A running PostgreSQL. Without its programs the test is skipped, and fails in CI."""
    try:
        postgres_folder()
    except FileNotFoundError as missing:
        if os.environ.get("CI"):
            raise
        pytest.skip(str(missing))
    with running_postgres() as postgres:
        yield postgres


@pytest.fixture
def postgres_url(postgres: Postgres) -> Iterator[str]:
    """The URL of an empty PostgreSQL database."""
    name = f"test_{next(NUMBERS)}"
    postgres.execute(f"CREATE DATABASE {name}")
    yield postgres.url(name)
    postgres.execute(f"DROP DATABASE {name} WITH (FORCE)")


@pytest.fixture
def sqlite_url(tmp_path: Path) -> str:
    return f"sqlite:///{tmp_path}/upvote.db"


@pytest.fixture(params=["sqlite", "postgresql"])
def database_url(request: pytest.FixtureRequest) -> str:
    """The URL of an empty database of each kind."""
    url: str = request.getfixturevalue("sqlite_url" if request.param == "sqlite" else "postgres_url")
    return url


@pytest.fixture
async def database(sqlite_url: str) -> AsyncIterator[Database]:
    async for database in opened(sqlite_url):
        yield database


@pytest.fixture
async def each_database(database_url: str) -> AsyncIterator[Database]:
    async for database in opened(database_url):
        yield database


async def opened(url: str) -> AsyncIterator[Database]:
    database = Database(url)
    await database.open()
    yield database
    await database.close()
