"""
The database of a process: opens it, and runs functions on its connections in threads.

SQLAlchemy is imported when the database is opened, in a thread, so that a server without one never imports it.
"""

import asyncio
import logging
from collections.abc import AsyncIterator, Callable
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import asynccontextmanager, suppress
from importlib import import_module
from time import monotonic
from typing import TYPE_CHECKING, Any, Concatenate, NoReturn, ParamSpec, TypeVar
from urllib.parse import urlsplit

from store import log
from store.background import running
from store.errors import StoreError
from store.site import Site

if TYPE_CHECKING:
    from sqlalchemy import Connection

    from database.engines import Engines

T = TypeVar("T")
P = ParamSpec("P")

CONSUMER = "database"  # the mirror's name among the consumers of the log
SQLITE, POSTGRESQL = "sqlite:///", "postgresql://"
READERS = 4  # threads, each with a connection
READ_TIMEOUT = 5.0  # seconds that a read may take, with the time it waits for a thread
PING_TIMEOUT = 1.0  # seconds
RETRY_PAUSES = (0.2, 5.0)  # seconds: after the first fault of the mirror, and at most

logger = logging.getLogger("upvote")


class DatabaseUnavailable(StoreError):
    """There is no database, or it does not answer."""


class Database:
    """A database that `open` connects to. All methods may be used from one event loop only."""

    def __init__(self, url: str) -> None:
        """
        Raises:
            ValueError: the URL is not one of a database.
        """
        self._url = check_url(url)
        self._engines: Engines | None = None
        self._readers = ThreadPoolExecutor(READERS, "database-reader")
        self._writer = ThreadPoolExecutor(1, "database-writer")
        self.fault: str | None = "it is being opened"  # why it does not answer; None if it does

    @property
    def is_open(self) -> bool:
        return self._engines is not None

    @property
    def name(self) -> str:
        """The URL without user and password."""
        scheme, _, rest = self._url.partition("://")
        return f"{scheme}://{rest.rpartition('@')[2]}" if self._url.startswith(POSTGRESQL) else self._url

    async def open(self) -> None:
        """
        Connect, and bring the tables up to date under a lock. May be repeated.

        Raises:
            DatabaseUnavailable: it does not answer, cannot be written, or was made by a newer version.
        """
        if self._engines is None:
            self._engines = await self._in(self._writer, _open, self._url)

    async def run(
        self,
        function: "Callable[Concatenate[Connection, P], T]",
        *arguments: P.args,
        **named: P.kwargs,
    ) -> T:
        """
        Run `function(connection, ...)` in a thread, within one read-only transaction, for at most `READ_TIMEOUT`.

        Raises:
            DatabaseUnavailable: the database does not answer, or not in time.
        """
        engines, deadline = self._opened(), monotonic() + READ_TIMEOUT
        call = self._in(self._readers, engines.read, deadline, function, *arguments, **named)
        try:
            async with asyncio.timeout(READ_TIMEOUT):  # Python 3.11's `wait_for` may lose a cancellation
                result: T = await call
                return result
        except TimeoutError as error:
            raise DatabaseUnavailable("the database does not answer in time") from error

    async def write(
        self,
        function: "Callable[Concatenate[Connection, P], T]",
        *arguments: P.args,
        **named: P.kwargs,
    ) -> T:
        """
        Run `function(connection, ...)` in the one thread that writes, within one transaction. An exception ends it
        without a change.

        Raises:
            DatabaseUnavailable: the database does not answer, or takes no writes.
        """
        return await self._in(self._writer, self._opened().write, function, *arguments, **named)

    async def write_durably(
        self,
        function: "Callable[Concatenate[Connection, P], T]",
        *arguments: P.args,
        **named: P.kwargs,
    ) -> T:
        """
        As `write`, but return only when the change is on the disk. When the machine loses its power, the last changes
        of `write` may be lost; the mirror writes them again from the log.
        """
        return await self._in(self._writer, self._opened().write_durably, function, *arguments, **named)

    async def ping(self) -> str | None:
        """Why the database does not answer; None if it does."""
        try:
            async with asyncio.timeout(PING_TIMEOUT):
                await self.run(_ping)
        except TimeoutError:
            self.fault = "it does not answer in time"
        except DatabaseUnavailable:
            pass
        return self.fault

    async def lag(self, site: Site) -> log.Lag:
        """How far the database is behind a store, in all partitions together. Two round trips, none to the database."""
        taken = (await log.positions(site)).get(CONSUMER, {})
        lags = await log.lags(site, taken)
        return log.Lag(sum(lag.entries for lag in lags), max(lag.seconds for lag in lags))

    async def close(self) -> None:
        """End what runs, and close all connections."""
        engines, self._engines = self._engines, None
        self.fault = "it was closed"
        for executor in (self._readers, self._writer):
            executor.shutdown(wait=False, cancel_futures=True)
        if engines:
            await asyncio.to_thread(engines.interrupt)
        for executor in (self._readers, self._writer):
            await asyncio.to_thread(executor.shutdown)
        if engines:
            await asyncio.to_thread(engines.close)

    def _opened(self) -> "Engines":
        if self._engines is None:
            raise DatabaseUnavailable(f"the database does not answer: {self.fault}")
        return self._engines

    async def _in(self, executor: ThreadPoolExecutor, call: Callable[..., T], *arguments: object, **named: object) -> T:
        """The result of a call in a thread. Notes whether the database answers."""
        try:
            future: Future[T] = executor.submit(call, *arguments, **named)
        except RuntimeError as error:
            raise DatabaseUnavailable("the database does not answer: it was closed") from error
        try:
            result = await asyncio.wrap_future(future)
        except DatabaseUnavailable as error:
            self.fault = str(error.__cause__ or error)
            raise
        self.fault = None
        return result


@asynccontextmanager
async def mirroring(database: Database | None, site: Site) -> AsyncIterator[None]:
    """
    Open a database and keep it equal to a store, in the background, and close it in the end. A database that does not
    answer is tried again: it never ends the process.
    """
    if database is None:
        yield
        return
    try:
        async with running(_mirror(database, site)):
            yield
    finally:
        await database.close()


async def _mirror(database: Database, site: Site) -> NoReturn:
    mirror: Any = None
    fault, pause = "", RETRY_PAUSES[0]
    try:
        while True:
            try:
                await database.open()
                if mirror is None:
                    module = await asyncio.to_thread(import_module, "database.mirror")  # slow
                    mirror = module.Mirror(site, database)
                pause_after_turn = await mirror.turn()
                if fault:
                    logger.info("the database is kept up to date again")
                fault, pause = "", RETRY_PAUSES[0]
                await asyncio.sleep(pause_after_turn)
            except Exception as error:
                reported, fault = fault, _describe(error)
                if fault != reported:
                    is_expected = isinstance(error, StoreError)
                    logger.warning("the database is not kept up to date: %s", fault, exc_info=not is_expected)
                await asyncio.sleep(pause)
                pause = min(2 * pause, RETRY_PAUSES[1])
    finally:
        if mirror:
            with suppress(StoreError, TimeoutError):
                async with asyncio.timeout(PING_TIMEOUT):
                    await mirror.close()


def _describe(error: Exception) -> str:
    return f"{error}: {error.__cause__}" if error.__cause__ else str(error) or type(error).__name__


def check_url(url: str) -> str:
    """
    The URL, if it is one of a database.

    Raises:
        ValueError: it is not.
    """
    if url.startswith(SQLITE) and url != SQLITE:
        return url
    if url.startswith(POSTGRESQL):
        parts = urlsplit(url)
        parts.port  # noqa: B018  # raises if it is none
        if parts.path.strip("/"):
            return url
    raise ValueError("must be sqlite:///PATH, postgresql://USER:PASSWORD@HOST/NAME, or none")


def _ping(connection: "Connection") -> None:
    connection.exec_driver_sql("SELECT 1")


def _open(url: str) -> "Engines":
    from database.engines import Engines  # slow

    return Engines.open(url)
