"""
Opens the store for a command of the command line: in the server that UPVOTE_REDIS_URL names, or in the managed Valkey,
which this program runs itself on the data directory.
"""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager
from typing import TypeVar

from database.database import Database
from server.managed_valkey import server
from server.setting_checks import NO_DATABASE
from server.settings import Settings, WrongSetting
from store.store import Store

T = TypeVar("T")


def run(
    settings: Settings, action: Callable[[Store], Awaitable[T]], *, strict: bool = True, must_exist: bool = True
) -> T:
    """
    Open the store, run an action on it, and close it.

    Without `strict`, the store is opened even if its indexes were built with other settings, and without `must_exist`
    even if the managed Valkey has never run on the data directory.

    Raises:
        NoData: the managed Valkey has never run on the data directory, so that its name may be wrong.
    """
    if must_exist and not settings.redis_url:
        server.require_data(settings.data_dir)
    with running_store(settings, join=True) as settings_with_url:
        return asyncio.run(_run(settings_with_url, action, strict))


async def _run(settings: Settings, action: Callable[[Store], Awaitable[T]], strict: bool) -> T:
    from server.configured import open_store  # slow: imported while the managed Valkey already runs

    store = await open_store(settings, strict=strict)
    try:
        return await action(store)
    finally:
        await store.close()


@asynccontextmanager
async def archive_of(settings: Settings, store: Store) -> AsyncIterator[Database | None]:
    """
    The open database of a store that has archived articles, which only the database has; None if nothing is archived.

    Raises:
        DatabaseUnavailable: the database does not answer.
        WrongSetting: there is no database.
    """
    if store.site.rankings.archive is None:
        yield None
        return
    if settings.database is None:
        raise WrongSetting("UPVOTE_DATABASE_URL=none: this store has archived articles, which are in its database only")
    database = Database(settings.database)
    try:
        await database.open()
        yield database
    finally:
        await database.close()


@contextmanager
def running_store(
    settings: Settings,
    on_failure: Callable[[], object] = lambda: None,
    while_loading: Callable[[], object] = lambda: None,
    *,
    join: bool = False,
) -> Iterator[Settings]:
    """
    Yield the settings with the URL of a running Redis or Valkey: the one that they have, or else the managed Valkey's.

    With `join`, a managed Valkey that a server has already started on the same data is used. `on_failure` is called if
    the managed Valkey ends and cannot be restarted, `while_loading` while it loads its data.
    """
    if settings.redis_url:
        yield settings
        return
    if settings.confirming_replicas:
        raise WrongSetting(
            f"UPVOTE_CONFIRMING_REPLICAS={settings.confirming_replicas}: the managed Valkey has no replicas"
        )
    options = server.ValkeyOptions(
        durability=settings.durability,
        reserve=settings.disk_reserve,
        while_loading=while_loading,
        on_failure=on_failure,
    )
    start = server.joined if join else server.running
    with start(settings.data_dir, options) as url:
        database_url = settings.database or NO_DATABASE  # its default depends on `redis_url`, which was not given
        yield settings.model_copy(update={"redis_url": url, "database_url": database_url})
