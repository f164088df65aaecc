"""The databases of the servers that are compared, and their faults: SQLite, or one of a PostgreSQL that all share."""

import os
import signal
import sqlite3
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from itertools import count
from pathlib import Path
from typing import Any, Protocol

import psycopg

from tests.servers import Postgres, running_postgres
from tests.soak.processes import processes_below

LOCK_TIMEOUT = 30.0  # seconds
NUMBERS = count()  # of the databases of this process


class Database(Protocol):
    """
    The SQL database of one server. `url` is None for the default of the server. `faults` are its faults in a round: one
    that is listed twice happens twice. A fault lasts until `heal`: where it is `locked`, the server cannot write what
    is new, while reads go on; where it is `killed` or `paused`, the database answers nothing.
    """

    url: str | None
    faults: tuple[str, ...]

    def begin(self, fault: str) -> None: ...

    def heal(self) -> None: ...

    def remove(self) -> None: ...


class Sqlite:
    """The file in the data folder."""

    url = None
    faults: tuple[str, ...] = ("locked", "locked")

    def __init__(self, file: Path) -> None:
        self._file = file
        self._lock: sqlite3.Connection | None = None

    def begin(self, fault: str) -> None:
        self._lock = sqlite3.connect(self._file, isolation_level=None, timeout=LOCK_TIMEOUT, check_same_thread=False)
        self._lock.execute("BEGIN IMMEDIATE")

    def heal(self) -> None:
        if self._lock:
            self._lock.close()
        self._lock = None

    remove = heal


class Postgresql:
    """A new database of a PostgreSQL."""

    faults: tuple[str, ...] = ("locked", "locked", "killed", "paused")

    def __init__(self, postgres: Postgres) -> None:
        self._postgres, self._name = postgres, f"soak_{os.getpid()}_{next(NUMBERS)}"
        self._lock: psycopg.Connection[Any] | None = None
        postgres.execute(f"CREATE DATABASE {self._name}")
        self.url: str | None = postgres.url(self._name)

    def begin(self, fault: str) -> None:
        if fault == "locked":
            self._lock = psycopg.connect(self.url or "")
            # the mirror moves its position in the same transaction in which it writes what is new (database/mirror.py)
            self._lock.execute("LOCK TABLE positions IN EXCLUSIVE MODE")
        elif fault == "killed":
            self._postgres.kill()
        else:
            self._signal(signal.SIGSTOP)

    def heal(self) -> None:
        if self._lock:
            self._lock.close()
        self._lock = None
        self._signal(signal.SIGCONT)
        self._postgres.start()

    def remove(self) -> None:
        self.heal()
        self._postgres.execute(f"DROP DATABASE {self._name} WITH (FORCE)")

    def _signal(self, number: signal.Signals) -> None:
        if self._postgres.process:
            for process in processes_below(self._postgres.process.pid):
                process.send(number)


class Databases:
    """Makes databases, and starts a PostgreSQL when the first one is to be in it. `running` ends it."""

    def __init__(self, running: ExitStack) -> None:
        self._running = running
        self._postgres: Postgres | None = None

    def create(self, kind: str, data_folder: Path) -> Database:
        if kind == "sqlite":
            return Sqlite(data_folder / "upvote.db")
        if self._postgres is None:
            self._postgres = self._running.enter_context(running_postgres())
        return Postgresql(self._postgres)


@contextmanager
def databases() -> Iterator[Databases]:
    with ExitStack() as running:
        yield Databases(running)
