"""
The command `database`: `status` prints how far the SQL database, which servers fill from the log of the store, is
behind the store; `rebuild` fills it anew from the store.
"""

import sys
from argparse import ArgumentParser, Namespace
from collections.abc import Awaitable, Callable
from pathlib import Path

from database.database import SQLITE, Database
from database.positions import stored_positions
from server.cli import opened_store
from server.cli.progress import progress_bar
from server.errors import CommandError
from server.settings import Settings, WrongSetting, read_settings
from store import log
from store.maintenance import dump
from store.store import Store


def add_arguments(parser: ArgumentParser) -> None:
    actions = parser.add_subparsers(required=True, metavar="status | rebuild")
    status = actions.add_parser("status", help="print the position in each log, and how far the database is behind")
    status.set_defaults(action=show, must_exist=True)
    refill = actions.add_parser("rebuild", help="fill all tables anew from the store; servers may be running")
    refill.set_defaults(action=rebuild, must_exist=False)


def run(arguments: Namespace) -> int:
    return run_action(read_settings(), arguments.action, must_exist=arguments.must_exist)


def run_action(
    settings: Settings, action: Callable[[Store, Database], Awaitable[None]], *, must_exist: bool = False
) -> int:
    """
    Open the store and the database, and run an action on both.

    Raises:
        CommandError: the file of the database `must_exist`, and does not.
        DatabaseUnavailable: the database does not answer.
        WrongSetting: there is none.
    """
    url = settings.database
    if url is None:
        raise WrongSetting("UPVOTE_DATABASE_URL=none: there is no database")
    database = Database(url)

    async def act(store: Store) -> None:
        try:
            if must_exist:
                _require_file(url)
            await database.open()
            await action(store, database)
        finally:
            await database.close()

    opened_store.run(settings, act, strict=False)  # also a store whose indexes other settings have built
    return 0


def _require_file(url: str) -> None:
    if url.startswith(SQLITE) and not Path(url.removeprefix(SQLITE)).exists():
        raise CommandError(f"UPVOTE_DATABASE_URL={url}: there is no such file")


async def show(store: Store, database: Database) -> None:
    """Print how far the database is. Each partition, a share of the data, has a log of its own."""
    identity, positions = await database.run(stored_positions)
    is_of_this_log = identity == await log.identity(store.site)
    print(f"database  {database.name}")
    if not is_of_this_log:
        print("it has no position in the log of this store: a server rebuilds it")
        return
    for partition, lag in enumerate(await log.lags(store.site, positions)):
        behind = f"{lag.entries} entries and {lag.seconds:.1f} s behind" if lag.entries else "up to date"
        print(f"partition {partition}: {positions.get(partition, log.START)}, {behind}")


async def rebuild(store: Store, database: Database) -> None:
    from database.mirror import Mirror  # slow to import

    mirror = Mirror(store.site, database)
    with progress_bar("rebuild", await dump.size(store.site)) as advance:
        try:
            await mirror.rebuild(advance, _report_skipped)
        finally:
            await mirror.close()
    print(f"rebuilt {database.name}")


def _report_skipped(key: str) -> None:
    print(f"left out {key}: it is damaged; `verify` says more", file=sys.stderr)
