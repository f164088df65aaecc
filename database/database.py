"""
The SQL database of a process: opens it, runs functions on its connections in threads, and keeps it equal to the store
in Redis by the mirror, a task that copies all changes (`database.mirror`).

SQLAlchemy is imported when the database is opened, in a thread, so that a server without one never imports it.
"""

import asyncio
import logging
from collections.abc import AsyncIterator, Callable
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import asynccontextmanager, suppress
from importlib import import_module
from operator import attrgetter
from time import monotonic
from typing import TYPE_CHECKING, Any, Concatenate, NoReturn, ParamSpec, TypeVar
from urllib.parse import urlsplit

from database.interrupter import Call
from store import log
from store.background import running
from store.errors import StoreError
from store.site import Site

if TYPE_CHECKING:
    from sqlalchemy import Connection

    from database.engines import Engines

T = TypeVar("T")
P = ParamSpec("P")

CONSUMER = "database"  # the mirror's name among the consumers of the log, the Redis stream of all changes
SQLITE, POSTGRESQL = "sqlite:///", "postgresql://"
READERS, SEARCHERS = 4, 2  # threads, each with a connection
READ_TIMEOUT, SEARCH_TIMEOUT = 5.0, 3.0  # seconds that a read may take, with the time it waits for a thread
PING_TIMEOUT = 1.0  # seconds
RETRY_PAUSES = (0.2, 5.0)  # seconds: after the first fault of the mirror, and at most

logger = logging.getLogger("upvote")


class DatabaseUnavailable(StoreError):
    """There is no database, or it does not answer."""


class DatabaseTimeout(DatabaseUnavailable):
    """A read takes longer than its limit. The database may still answer other reads."""


class Database:
    """A database that `open` connects to. All methods may be used from one event loop only."""

    def __init__(self, url: str) -> None:
        """
        Raises:
            ValueError: the URL is not one of a database.
        """
        self._url = check_url(url)
        self._engines: Engines | None = None  # the connections; None until the database has answered
        self._was_tried = asyncio.Event()  # set once the first attempt to open it has ended
        self._writer = ThreadPoolExecutor(1, "database-writer")
        self._readers = ThreadPoolExecutor(READERS, "database-reader")
        self._searchers = ThreadPoolExecutor(SEARCHERS, "database-searcher")
        self.fault: str | None = "it is being opened"  # why it does not answer; None if it does

    @property
    def is_open(self) -> bool:
        """Whether it has answered since this process started."""
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
        try:
            if self._engines is None:
                await self._in(self._writer, self._connect)
        finally:
            self._was_tried.set()

    async def tried(self) -> None:
        """Wait until the first attempt to open it has ended."""
        await self._was_tried.wait()

    async def run(
        self,
        function: "Callable[Concatenate[Connection, P], T]",
        *arguments: P.args,
        **named: P.kwargs,
    ) -> T:
        """
        Run `function(connection, ...)` in a thread, within one read-only transaction, for at most `READ_TIMEOUT`. While
        the database is opened for the first time, wait for it. The read is interrupted if nobody waits for its result
        any more.

        Raises:
            DatabaseUnavailable: the database does not answer.
            DatabaseTimeout: it does not answer in time.
        """
        read = attrgetter("read")
        return await self._until(READ_TIMEOUT, self._readers, read, function, *arguments, **named)

    async def search(
        self,
        function: "Callable[Concatenate[Connection, P], T]",
        *arguments: P.args,
        **named: P.kwargs,
    ) -> T:
        """As `run`, in one of the threads for searches, for at most `SEARCH_TIMEOUT`: no other read waits for it."""
        search = attrgetter("search")
        return await self._until(SEARCH_TIMEOUT, self._searchers, search, function, *arguments, **named)

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
        if not self.is_open:
            return self.fault
        try:
            async with asyncio.timeout(PING_TIMEOUT):
                await self.run(_ping)
        except TimeoutError:
            self.fault = "it does not answer in time"
        except DatabaseUnavailable:
            pass
        return self.fault

    async def lag(self, site: Site) -> log.Lag:
        """How far the database is behind a store as a whole. Two round trips, none to the database."""
        taken = (await log.positions(site)).get(CONSUMER, {})
        lags = await log.lags(site, taken)
        return log.Lag(sum(lag.entries for lag in lags), max(lag.seconds for lag in lags))

    async def close(self) -> None:
        """End what runs, and close all connections, also those of an `open` that was cancelled."""
        self._was_tried.set()
        executors = (self._writer, self._readers, self._searchers)
        for executor in executors:
            executor.shutdown(wait=False, cancel_futures=True)
        if self._engines:
            self._engines.interrupter.end_all()
        for executor in executors:
            await asyncio.to_thread(executor.shutdown)
        engines, self._engines = self._engines, None
        self.fault = "it was closed"
        if engines:
            await asyncio.to_thread(engines.close)

    def _connect(self) -> None:
        """Open the engines. Runs in the thread that writes."""
        from database.engines import Engines  # slow

        if self._engines is None:
            self._engines = Engines.open(self._url)

    def _opened(self) -> "Engines":
        if self._engines is None:
            raise DatabaseUnavailable(f"the database does not answer: {self.fault}")
        return self._engines

    async def _until(
        self,
        limit: float,
        executor: ThreadPoolExecutor,
        read: "Callable[[Engines], Callable[..., T]]",
        *arguments: object,
        **named: object,
    ) -> T:
        """
        The result of a read in a thread, if it is there within `limit` seconds. Else the read is ended. `read` gets the
        method from the engines, as these may be opened while this waits.
        """
        call = Call(monotonic() + limit)
        try:
            async with asyncio.timeout(limit):  # Python 3.11's `wait_for` may lose a cancellation
                await self.tried()
                return await self._in(executor, read(self._opened()), call, *arguments, **named)
        except TimeoutError as error:
            raise DatabaseTimeout(f"the database does not answer within {limit:g} seconds") from error
        finally:
            if self._engines:
                self._engines.interrupter.end(call)

    async def _in(self, executor: ThreadPoolExecutor, call: Callable[..., T], *arguments: object, **named: object) -> T:
        """The result of a call in a thread. Notes whether the database answers."""
        try:
            future: Future[T] = executor.submit(call, *arguments, **named)
        except RuntimeError as error:
            raise DatabaseUnavailable("the database does not answer: it was closed") from error
        try:
            result = await asyncio.wrap_future(future)
        except DatabaseTimeout:
            raise
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
    """Copy changes again and again. After a fault the pause before the next turn doubles, within `RETRY_PAUSES`."""
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
