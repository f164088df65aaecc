"""
Fixtures of databases: `database` is an SQLite file, `each_database` is that and then a PostgreSQL database, both
migrated and empty; `mirrored` brings one up to date with a store.
"""

import itertools
import os
import shutil
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from database.database import SQLITE, Database
from database.engines import Engines
from database.mirror import Mirror
from store.store import Store
from tests.servers import Postgres, postgres_folder, running_postgres

NUMBERS = itertools.count(1)  # of the databases that were created

# Tests run once with each kind of database and once with each number of partitions, not with each pair of both.
on_both = pytest.mark.parametrize(
    ("database_url", "partitions"), [("sqlite", 1), ("postgresql", 8)], indirect=True, ids=["sqlite", "postgresql"]
)


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
def postgres_url(request: pytest.FixtureRequest, postgres: Postgres) -> Iterator[str]:
    """The URL of a PostgreSQL database, which is empty unless the test uses `each_database`."""
    name = f"test_{next(NUMBERS)}"
    has_tables = "each_database" in request.fixturenames
    template = f" TEMPLATE {request.getfixturevalue('migrated_database')}" if has_tables else ""
    postgres.execute(f"CREATE DATABASE {name}{template}")
    yield postgres.url(name)
    postgres.execute(f"DROP DATABASE {name} WITH (FORCE)")


@pytest.fixture
def sqlite_url(tmp_path: Path) -> str:
    return f"sqlite:///{tmp_path}/upvote.db"


@pytest.fixture(scope="session")
def migrated_file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An SQLite file with empty tables, to be copied: this takes less time than migrations."""
    path = tmp_path_factory.mktemp("database") / "migrated.db"
    migrate(f"sqlite:///{path}")
    return path


@pytest.fixture(scope="session")
def migrated_database(postgres: Postgres) -> str:
    """The name of a PostgreSQL database with empty tables, to be copied."""
    postgres.execute("CREATE DATABASE migrated")
    migrate(postgres.url("migrated"))
    return "migrated"


def migrate(url: str) -> None:
    Engines.open(url).close()


@pytest.fixture(params=["sqlite", "postgresql"])
def database_url(request: pytest.FixtureRequest) -> str:
    """The URL of an empty database of each kind."""
    url: str = request.getfixturevalue("sqlite_url" if request.param == "sqlite" else "postgres_url")
    return url


@pytest.fixture
async def database(sqlite_url: str, migrated_file: Path) -> AsyncIterator[Database]:
    shutil.copy(migrated_file, sqlite_url.removeprefix(SQLITE))
    async with opened(sqlite_url) as database:
        yield database


@pytest.fixture
async def each_database(request: pytest.FixtureRequest, database_url: str) -> AsyncIterator[Database]:
    if database_url.startswith(SQLITE):
        shutil.copy(request.getfixturevalue("migrated_file"), database_url.removeprefix(SQLITE))
    async with opened(database_url) as database:
        yield database


@asynccontextmanager
async def opened(url: str) -> AsyncIterator[Database]:
    """An open database."""
    database = Database(url)
    await database.open()
    try:
        yield database
    finally:
        await database.close()


async def mirrored(store: Store, database: Database) -> None:
    """Apply all entries of a store's log to a database, as a server does."""
    mirror = Mirror(store.site, database)
    await mirror.catch_up()
    await mirror.close()


async def rebuilt(store: Store, database: Database) -> None:
    """Make all rows of a database again, from a store and its log."""
    mirror = Mirror(store.site, database)
    await mirror.rebuild()
    await mirror.close()
