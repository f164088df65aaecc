"""Connections to SQLite and PostgreSQL, and the migrations that bring their tables up to date."""

import sqlite3
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, field
from functools import partial
from importlib import resources
from pathlib import Path
from time import monotonic, sleep
from typing import Any, Self, TypeVar

from sqlalchemy import URL, Connection, Engine, create_engine, event, inspect, make_url, text
from sqlalchemy.exc import DatabaseError, DBAPIError, InterfaceError, OperationalError
from sqlalchemy.exc import TimeoutError as PoolTimeout

from database.database import (
    READ_TIMEOUT,
    READERS,
    SEARCH_TIMEOUT,
    SEARCHERS,
    SQLITE,
    DatabaseTimeout,
    DatabaseUnavailable,
)
from database.interrupter import Call, Interrupter

T = TypeVar("T")

BUSY_TIMEOUT = 10.0  # seconds to wait for another process that writes to SQLite
CANCEL_TIMEOUT = 1.0  # seconds to wait until PostgreSQL has taken a request to cancel a statement
CALL = "call"  # key of a connection's `info`: the call that uses the connection now
QUERY_CANCELED = "57014"  # PostgreSQL's code for a statement ended by `statement_timeout` or by the interrupter
SQLITE_SETTINGS = (
    "synchronous=NORMAL",  # safe with a write-ahead log, but for the last changes when the machine loses its power
    "wal_autocheckpoint=4000",  # pages of that log until they are copied: with 1,000, changes take 1.5 times as long
    "temp_store=MEMORY",
    "cache_size=-16000",  # kB
)
SQLITE_READER_SETTINGS = ("query_only=1", "cache_size=-8000")  # kB of each connection
MIGRATION_LOCK = 7_811_605  # the number of an advisory lock of PostgreSQL: any that no other program takes
# Seconds, but `tcp_user_timeout` milliseconds: a connection whose server has vanished fails after about ten seconds.
POSTGRESQL_OPTIONS: dict[str, Any] = {
    "connect_timeout": 5,
    "keepalives_idle": 5,
    "keepalives_interval": 2,
    "keepalives_count": 3,
    "tcp_user_timeout": 10_000,
    "application_name": "upvote",
    "client_encoding": "UTF8",
}


@dataclass(slots=True)
class Engines:
    """
    One engine (SQLAlchemy's pool of connections) for writes, one for reads, and one for searches, so that no other read
    waits for a search.

    A call is one use of a connection, with a deadline, at which the interrupter, a thread, ends the statement that
    runs, and the call can begin no other. PostgreSQL also ends statements by itself (`statement_timeout`).
    """

    writer: Engine
    reader: Engine
    searcher: Engine
    interrupter: Interrupter = field(default_factory=Interrupter)

    @classmethod
    def open(cls, url: str) -> Self:
        """
        Connect, and bring the tables up to date.

        Raises:
            DatabaseUnavailable: the database does not answer, cannot be written, is of a newer version or not in UTF-8.
        """
        is_sqlite = url.startswith(SQLITE)
        writer, reader, searcher = _sqlite(Path(url.removeprefix(SQLITE))) if is_sqlite else _postgresql(url)
        engines = cls(writer, reader, searcher)
        for engine in (engines.writer, engines.reader, engines.searcher):
            event.listen(engine, "before_cursor_execute", _check_deadline)
        try:
            engines.write(migrate)
        except BaseException:
            engines.close()
            raise
        return engines

    def read(self, call: Call, function: Callable[..., T], *arguments: object, **named: object) -> T:
        """
        Run a function in a read-only transaction.

        Raises:
            DatabaseTimeout: the call has run into its deadline, or was ended.
        """
        with _converted_faults(), self.reader.connect() as connection, self._watching(connection, call):
            return function(connection, *arguments, **named)

    def search(self, call: Call, function: Callable[..., T], *arguments: object, **named: object) -> T:
        """As `read`, with the connections for searches."""
        with _converted_faults(), self.searcher.connect() as connection, self._watching(connection, call):
            return function(connection, *arguments, **named)

    def write(self, function: Callable[..., T], *arguments: object, **named: object) -> T:
        """Run a function in a transaction."""
        with _converted_faults(), self.writer.begin() as connection, self._watching(connection):
            return function(connection, *arguments, **named)

    def write_durably(self, function: Callable[..., T], *arguments: object, **named: object) -> T:
        """As `write`, but return only when this change and all earlier ones are on the disk."""
        with _converted_faults(), self.writer.connect() as connection, self._watching(connection):
            driver: Any = connection.connection.driver_connection
            is_sqlite = isinstance(driver, sqlite3.Connection)
            if is_sqlite:
                driver.execute("PRAGMA synchronous=FULL")
            try:
                with connection.begin():
                    return function(connection, *arguments, **named)
            finally:
                if is_sqlite:
                    driver.execute("PRAGMA synchronous=NORMAL")

    def close(self) -> None:
        self.interrupter.close()
        for engine in (self.writer, self.reader, self.searcher):
            engine.dispose()

    def _watching(self, connection: Connection, call: Call | None = None) -> AbstractContextManager[None]:
        """Within the context, the connection is used by a call, which is interrupted at its deadline."""
        connection.info[CALL] = call = call or Call()
        driver: Any = connection.connection.driver_connection
        is_sqlite = isinstance(driver, sqlite3.Connection)
        interrupt = driver.interrupt if is_sqlite else partial(driver.cancel_safe, timeout=CANCEL_TIMEOUT)
        return self.interrupter.watching(call, interrupt)


def _check_deadline(connection: Connection, *statement: object) -> None:
    """
    Raises:
        DatabaseTimeout: the call that uses the connection is over.
    """
    call: Call | None = connection.info.get(CALL)
    if call and call.is_over:
        raise DatabaseTimeout("the database does not answer in time")


@contextmanager
def _converted_faults() -> Iterator[None]:
    """Convert faults of the database or its server, but not those of a statement, to DatabaseUnavailable."""
    try:
        yield
    except (OperationalError, InterfaceError, PoolTimeout) as error:
        cause = error.orig if isinstance(error, DBAPIError) else error
        if _is_interrupt(cause):
            raise DatabaseTimeout("the database does not answer in time") from cause
        raise DatabaseUnavailable("the database does not answer") from cause
    except DBAPIError as error:
        is_damaged = type(error) is DatabaseError  # SQLite's for a file that is damaged, or is no database
        if error.connection_invalidated or is_damaged:
            raise DatabaseUnavailable("the database does not answer") from error.orig
        raise


def _is_interrupt(error: BaseException | None) -> bool:
    code = getattr(error, "sqlite_errorcode", None) or getattr(error, "sqlstate", None)
    return code in (sqlite3.SQLITE_INTERRUPT, QUERY_CANCELED)


def _sqlite(path: Path) -> tuple[Engine, Engine, Engine]:
    """The engines for writes, for reads and for searches."""
    url = URL.create("sqlite", database=str(path))
    writer = create_engine(url, creator=partial(_open_sqlite, path, writes=True), pool_size=1, max_overflow=0)
    reader, searcher = (
        create_engine(url, creator=partial(_open_sqlite, path, writes=False), pool_size=size, max_overflow=0)
        for size in (READERS, SEARCHERS)
    )
    event.listen(writer, "begin", _begin_with("BEGIN IMMEDIATE"))
    for engine in (reader, searcher):
        event.listen(engine, "begin", _begin_with("BEGIN"))
    return writer, reader, searcher


def _open_sqlite(path: Path, *, writes: bool) -> sqlite3.Connection:
    """A new connection, which is closed if it cannot be set up."""
    connection = sqlite3.connect(path, timeout=BUSY_TIMEOUT, isolation_level=None, check_same_thread=False)
    try:
        if writes:
            _set_write_ahead_log(connection)
        for setting in (*SQLITE_SETTINGS, *(() if writes else SQLITE_READER_SETTINGS)):
            connection.execute(f"PRAGMA {setting}")
    except BaseException:
        connection.close()
        raise
    return connection


def _set_write_ahead_log(connection: sqlite3.Connection) -> None:
    """Set this once for the file. SQLite does not wait if another process does it at the same time."""
    deadline = monotonic() + BUSY_TIMEOUT
    while True:
        try:
            connection.execute("PRAGMA journal_mode=WAL")
            return
        except sqlite3.OperationalError as error:
            if error.sqlite_errorcode != sqlite3.SQLITE_BUSY or monotonic() > deadline:
                raise
        sleep(0.02)


def _begin_with(statement: str) -> Callable[[Connection], None]:
    def begin(connection: Connection) -> None:
        connection.exec_driver_sql(statement)

    return begin


def _postgresql(url: str) -> tuple[Engine, Engine, Engine]:
    """The engines for writes, for reads and for searches."""
    address = make_url(url).set(drivername="postgresql+psycopg")
    arguments = {name: value for name, value in POSTGRESQL_OPTIONS.items() if name not in address.query}
    writer = create_engine(address, connect_args=arguments, pool_size=1, max_overflow=0, pool_pre_ping=True)
    reader = _postgresql_reader(address, arguments, READERS, READ_TIMEOUT)
    return writer, reader, _postgresql_reader(address, arguments, SEARCHERS, SEARCH_TIMEOUT)


def _postgresql_reader(address: URL, arguments: Mapping[str, Any], size: int, timeout: float) -> Engine:
    limited = {**arguments, "options": f"-c statement_timeout={round(timeout * 1000)}"}
    return create_engine(
        address,
        connect_args=limited,
        pool_size=size,
        max_overflow=0,
        pool_pre_ping=True,
        isolation_level="REPEATABLE READ",
    ).execution_options(postgresql_readonly=True)


def newest_revision() -> str:
    """The name of the last migration. A later one has a name that sorts after the names of those before it."""
    folder = resources.files("database") / "migrations" / "versions"
    return max(file.name.removesuffix(".py") for file in folder.iterdir() if file.name.startswith("v"))


def migrate(connection: Connection) -> None:
    """
    Bring the tables up to date, within the transaction of the connection. One process at a time does this.

    Raises:
        DatabaseUnavailable: a newer version of Upvote has made them, or the encoding of the database is not UTF-8.
    """
    if connection.dialect.name == "postgresql":
        encoding = connection.execute(text("SHOW server_encoding")).scalar()
        if encoding != "UTF8":
            raise DatabaseUnavailable(f"the encoding of the database is {encoding}: create it with ENCODING 'UTF8'")
        connection.execute(text("SELECT pg_advisory_xact_lock(:lock)"), {"lock": MIGRATION_LOCK})
    newest, current = newest_revision(), _revision(connection)
    if current is not None and current > newest:
        raise DatabaseUnavailable(f"the database was made by a newer version of Upvote: it is at {current}")
    if current == newest:
        return
    from alembic import command  # slow, and needed once
    from alembic.config import Config

    config = Config(attributes={"connection": connection})
    config.set_main_option("script_location", "database:migrations")
    config.set_main_option("path_separator", "os")
    command.upgrade(config, "head")


def _revision(connection: Connection) -> str | None:
    """The last migration of a database; None if it is empty."""
    if not inspect(connection).has_table("alembic_version"):
        return None
    return connection.execute(text("SELECT version_num FROM alembic_version")).scalar()
