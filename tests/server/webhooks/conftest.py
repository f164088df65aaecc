"""Fixtures of `tests/database/conftest.py`, a receiver of webhooks, and a site that sends some."""

from collections.abc import AsyncIterator, Iterator

import pytest

from database.database import Database
from store.store import Store
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
from tests.server.webhooks.receiving import Receiver, Site, receiving, sending


@pytest.fixture
def receiver() -> Iterator[Receiver]:
    with receiving() as running:
        yield running


@pytest.fixture
async def site(store: Store, each_database: Database) -> AsyncIterator[Site]:  # noqa: F811
    async with sending(store, each_database) as running:
        yield running
