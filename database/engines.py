"""Connections to SQLite and PostgreSQL, and the migrations that bring their tables up to date."""

import sqlite3
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from functools import partial
from importlib import resources
from pathlib import Path
from time import monotonic, sleep
from typing import Any, Self, TypeVar

from sqlalchemy import URL, Connection, Engine, create_engine, event, inspect, make_url, text
from sqlalchemy.exc import DBAPIError, InterfaceError, OperationalError
from sqlalchemy.exc import TimeoutError as PoolTimeout

from database.database import POSTGRESQL, READ_TIMEOUT, READERS, SQLITE, DatabaseUnavailable

T = TypeVar("T")

BUSY_TIMEOUT = 10.0  # seconds to wait for another process that writes to SQLite
CANCEL_TIMEOUT = 1.0  # seconds
SQLITE_SETTINGS = (
    "synchronous=NORMAL",  # safe with a write-ahead log, but for the last changes when the machine loses its power
    "wal_autocheckpoint=4000",  # pages of the log until they are copied: with 1 000, changes take half as long again
    "temp_store=MEMORY",
    "cache_size=-16000",  # kB of each connection
)
STEPS_BETWEEN_CHECKS = 20_000  # of SQLite's virtual machine: well under a millisecond
MIGRATION_LOCK = 7_811_605  # of PostgreSQL: any number that no other program takes
# A connection whose server has vanished fails after about ten seconds.
POSTGRESQL_OPTIONS: dict[str, Any] = {
    "connect_timeout": 5,
    "keepalives_idle": 5,
    "keepalives_interval": 2,
    "keepalives_count": 3,
    "tcp_user_timeout": 10_000,
    "application_name": "upvote",
}


@dataclass(slots=True)
class Engines:
    """One engine for reads, one for writes. `running` has the connections that are in use."""

    reader: Engine
    writer: Engine
    running: set[Any] = field(default_factory=set)

    @classmethod
    def open(cls, url: str) -> Self:
        """
        Connect, and bring the tables up to date.

        Raises:
            DatabaseUnavailable: the database does not answer, cannot be written, or was made by a newer version.
        """
        reader, writer = _sqlite(Path(url.removeprefix(SQLITE))) if url.startswith(SQLITE) else _postgresql(url)
        engines = cls(reader, writer)
        try:
            engines.write(migrate)
        except BaseException:
            engines.close()
            raise
        return engines

    def read(self, deadline: float, function: Callable[..., T], *arguments: object, **named: object) -> T:
        """Run a function in a read-only transaction, until an instant of the monotonic clock."""
        with _faults(), self.reader.connect() as connection, self._noted(connection, deadline):
            return function(connection, *arguments, **named)

    def write(self, function: Callable[..., T], *arguments: object, **named: object) -> T:
        """Run a function in a transaction."""
        with _faults(), self.writer.begin() as connection, self._noted(connection):
            return function(connection, *arguments, **named)

    def write_durably(self, function: Callable[..., T], *arguments: object, **named: object) -> T:
        """As `write`, but return only when this change and all earlier ones are on the disk."""
        with _faults(), self.writer.connect() as connection, self._noted(connection):
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

    def interrupt(self) -> None:
        """End all statements that run."""
        for connection in list(self.running):
            with suppress(Exception):  # it may have ended meanwhile
                if isinstance(connection, sqlite3.Connection):
                    connection.interrupt()
                else:
                    connection.cancel_safe(timeout=CANCEL_TIMEOUT)

    def close(self) -> None:
        self.reader.dispose()
        self.writer.dispose()

    @contextmanager
    def _noted(self, connection: Connection, deadline: float | None = None) -> Iterator[None]:
        """Note a connection as used. With a deadline, SQLite ends its statements there; PostgreSQL has its own."""
        driver: Any = connection.connection.driver_connection
        is_sqlite = isinstance(driver, sqlite3.Connection)
        if is_sqlite and deadline is not None:
            driver.set_progress_handler(partial(_is_over, deadline), STEPS_BETWEEN_CHECKS)
        self.running.add(driver)
        try:
            yield
        finally:
            self.running.discard(driver)
            if is_sqlite and deadline is not None:
                driver.set_progress_handler(None, 0)


def _is_over(deadline: float) -> bool:
    return monotonic() > deadline


@contextmanager
def _faults() -> Iterator[None]:
    """Convert faults of the database or its server, but not those of a statement, to DatabaseUnavailable."""
    try:
        yield
    except (OperationalError, InterfaceError, PoolTimeout) as error:
        cause = error.orig if isinstance(error, DBAPIError) else error
        raise DatabaseUnavailable("the database does not answer") from cause
    except DBAPIError as error:
        if error.connection_invalidated:
            raise DatabaseUnavailable("the database does not answer") from error.orig
        raise


def _sqlite(path: Path) -> tuple[Engine, Engine]:
    url = URL.create("sqlite", database=str(path))
    arguments = {"timeout": BUSY_TIMEOUT, "check_same_thread": False, "isolation_level": None}
    reader = create_engine(url, connect_args=arguments, pool_size=READERS, max_overflow=0)
    writer = create_engine(url, connect_args=arguments, pool_size=1, max_overflow=0)
    event.listen(writer, "connect", _set_write_ahead_log)
    for engine, begin, settings in ((reader, "BEGIN", ("query_only=1",)), (writer, "BEGIN IMMEDIATE", ())):
        event.listen(engine, "connect", _preparing(*settings))
        event.listen(engine, "begin", _beginning(begin))
    return reader, writer


def _set_write_ahead_log(connection: sqlite3.Connection, record: object) -> None:
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


def _preparing(*settings: str) -> Callable[[sqlite3.Connection, object], None]:
    def prepare(connection: sqlite3.Connection, record: object) -> None:
        for setting in (*SQLITE_SETTINGS, *settings):
            connection.execute(f"PRAGMA {setting}")

    return prepare


def _beginning(statement: str) -> Callable[[Connection], None]:
    def begin(connection: Connection) -> None:
        connection.exec_driver_sql(statement)

    return begin


def _postgresql(url: str) -> tuple[Engine, Engine]:
    address = make_url(url).set(drivername="postgresql+psycopg")
    arguments = {name: value for name, value in POSTGRESQL_OPTIONS.items() if name not in address.query}
    limited = arguments | {"options": f"-c statement_timeout={round(READ_TIMEOUT * 1000)}"}
    reader = create_engine(
        address,
        connect_args=limited,
        pool_size=READERS,
        max_overflow=0,
        pool_pre_ping=True,
        isolation_level="REPEATABLE READ",
    ).execution_options(postgresql_readonly=True)
    writer = create_engine(address, connect_args=arguments, pool_size=1, max_overflow=0, pool_pre_ping=True)
    return reader, writer


def newest_revision() -> str:
    """The last migration. They are named so that their order is that of their names."""
    folder = resources.files("database") / "migrations" / "versions"
    return max(file.name.removesuffix(".py") for file in folder.iterdir() if file.name.startswith("v"))


def migrate(connection: Connection) -> None:
    """
    Bring the tables up to date, within the transaction of the connection. One process at a time does this.

    Raises:
        DatabaseUnavailable: a newer version of Upvote has made them.
    """
    if connection.dialect.name == POSTGRESQL.partition(":")[0]:
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
