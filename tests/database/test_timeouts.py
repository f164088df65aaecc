"""
Reads of the database that take longer than they may are interrupted, and others do not wait for them.

There are two ways to read: `run` for short queries, `search` for searches, each with threads and a limit of its own.
"""

import asyncio
from threading import Event

import pytest
from sqlalchemy import insert, text

from database import database as database_module
from database import search
from database.database import SEARCHERS, DatabaseTimeout
from database.search import Search
from database.tables import ARTICLES

# SQL that no database ends by itself
ENDLESS = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT count(*) FROM n"
ARTICLE = {"title": "a", "poster": "Alice", "posted_ms": 0, "up": 1, "down": 0, "imported_votes": 0, "archived": False}


@pytest.fixture
def short_limits(monkeypatch):
    monkeypatch.setattr(database_module, "READ_TIMEOUT", 0.3)
    monkeypatch.setattr(database_module, "SEARCH_TIMEOUT", 0.3)


class Outcome:
    """Runs a function of a connection, which the database calls in a thread, and notes how it ended there."""

    def __init__(self, function):
        self.function, self.error, self.has_ended = function, None, Event()

    def __call__(self, connection):
        try:
            return self.function(connection)
        except Exception as error:
            self.error = error
            raise
        finally:
            self.has_ended.set()

    async def was_interrupted(self):
        assert await asyncio.to_thread(self.has_ended.wait, 60)
        return self.error is not None


def endless(connection):
    """One statement that has no end."""
    return connection.execute(text(ENDLESS)).all()


def many_statements(connection):
    """Many short statements: an interrupt between two of them has no effect."""
    for _ in range(100_000):
        connection.execute(text("SELECT 1")).all()


def answers(connection):
    """Returns 1 at once."""
    return connection.execute(text("SELECT 1")).scalar()


@pytest.mark.parametrize("function", [endless, many_statements])
@pytest.mark.parametrize("way", ["run", "search"])
async def test_read_is_interrupted_at_its_deadline(each_database, short_limits, way, function):
    outcome = Outcome(function)

    with pytest.raises(DatabaseTimeout, match=r"does not answer (in time|within 0\.3 seconds)"):
        await getattr(each_database, way)(outcome)

    assert await outcome.was_interrupted()
    reads = 2 * database_module.READERS  # so that each thread has one
    assert [await getattr(each_database, way)(answers) for _ in range(reads)] == [1] * reads
    assert each_database.fault is None


async def test_long_step_within_the_index_of_sqlite_is_interrupted(database, short_limits):
    """A phrase of 500 equal words in texts of equal words: SQLite does little else than one step of FTS5 for each."""
    await database.write(write_equal_words, 12)
    phrase = '"' + "a " * 500 + '"'
    outcome = Outcome(lambda connection: connection.exec_driver_sql(RANKED, (phrase,)).fetchall())

    with pytest.raises(DatabaseTimeout):
        await database.search(outcome)

    assert await outcome.was_interrupted()
    found = await database.search(search.find, Search((("a",),)))
    assert len(found.places) == 12


RANKED = "SELECT bm25(search_index), rowid FROM search_index WHERE search_index MATCH ?"


def write_equal_words(connection, count):
    numbers = range(1, count + 1)
    connection.execute(insert(ARTICLES), [{**ARTICLE, "number": each, "content": "a " * 20_000} for each in numbers])
    search.index(connection, numbers)


@pytest.mark.parametrize("way", ["run", "search"])
async def test_read_that_nobody_waits_for_is_interrupted(each_database, way):
    """The request is cancelled long before the time limit of the read."""
    outcome = Outcome(endless)
    waiting = asyncio.ensure_future(getattr(each_database, way)(outcome))
    await asyncio.sleep(0.2)

    waiting.cancel()
    with pytest.raises(asyncio.CancelledError):
        await waiting

    assert await outcome.was_interrupted()
    assert await getattr(each_database, way)(answers) == 1


async def test_reads_are_answered_while_searches_take_all_their_threads(each_database):
    are_running, may_end = [Event() for _ in range(SEARCHERS)], Event()

    def busy(connection, is_running):
        is_running.set()
        return may_end.wait(60)

    searches = [asyncio.ensure_future(each_database.search(busy, each)) for each in are_running]
    waiting = asyncio.ensure_future(each_database.search(answers))
    try:
        for each in are_running:
            assert await asyncio.to_thread(each.wait, 10)

        assert await asyncio.gather(*(each_database.run(answers) for _ in range(20))) == [1] * 20
        assert not waiting.done()
    finally:
        may_end.set()
    assert await asyncio.gather(*searches, waiting) == [True] * SEARCHERS + [1]
