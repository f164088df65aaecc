"""Opening databases, reads and writes in threads, and databases that do not answer."""

import asyncio
import re
import sqlite3
from pathlib import Path

import pytest
from alembic.autogenerate import compare_metadata
from alembic.migration import MigrationContext
from alembic.script import ScriptDirectory
from sqlalchemy import text

from database import engines
from database.database import Database, DatabaseUnavailable, check_url
from database.engines import Engines
from database.tables import METADATA, POSITIONS
from tests.servers import until


async def test_migrations_make_the_tables(each_database):
    def differences(connection):
        context = MigrationContext.configure(connection, opts={"include_object": is_declared})
        return compare_metadata(context, METADATA)

    assert await each_database.run(differences) == []


def is_declared(thing, name, kind, is_reflected, other):
    """Search keeps tables of its own, which each database names differently."""
    return kind != "table" or name in METADATA.tables


async def test_database_is_opened_again_as_it_is(database_url):
    row = {"partition": 0, "log": "a", "entry": "1-0", "at_ms": 1}
    found = []
    for _ in range(2):
        database = Database(database_url)
        await database.open()
        found.append(await database.run(positions))
        if not found[-1]:
            await database.write(lambda connection: connection.execute(POSITIONS.insert(), row))
        await database.close()

    assert found == [0, 1]


@pytest.fixture
def connections(monkeypatch):
    """All connections to SQLite that are made."""
    made = []

    def connect(*arguments, **named):
        made.append(sqlite3.Connection(*arguments, **named))
        return made[-1]

    monkeypatch.setattr(engines.sqlite3, "connect", connect)
    return made


def is_closed(connection):
    try:
        connection.execute("SELECT 1")
    except sqlite3.ProgrammingError as error:
        return "closed database" in str(error)
    return False


async def test_connections_are_closed(tmp_path, connections):
    database = Database(f"sqlite:///{tmp_path}/upvote.db")
    await database.open()
    await asyncio.gather(*(database.run(positions) for _ in range(20)))
    await database.close()

    assert len(connections) > 1
    assert all(map(is_closed, connections))


async def test_open_that_is_cancelled_leaves_no_connection(tmp_path, connections):
    database = Database(f"sqlite:///{tmp_path}/upvote.db")
    opening = asyncio.create_task(database.open())
    await asyncio.to_thread(until, lambda: connections)
    opening.cancel()
    await asyncio.wait([opening])
    await database.close()

    assert opening.cancelled()
    assert all(map(is_closed, connections))


async def test_connection_that_cannot_be_set_up_is_closed(tmp_path, connections):
    (tmp_path / "upvote.db").write_bytes(b"another program's file " * 1_000)
    database = Database(f"sqlite:///{tmp_path}/upvote.db")
    with pytest.raises(DatabaseUnavailable) as refusal:
        await database.open()
    await database.close()

    assert str(refusal.value.__cause__) == "file is not a database"
    assert connections
    assert all(map(is_closed, connections))


async def test_two_processes_open_a_new_database_at_once(database_url):
    both = [Database(database_url), Database(database_url)]

    await asyncio.gather(*(each.open() for each in both))

    assert [await each.run(positions) for each in both] == [0, 0]
    for each in both:
        await each.close()


def test_migrations_are_one_chain_in_the_order_of_their_names():
    scripts = ScriptDirectory(str(Path(engines.__file__).parent / "migrations"))
    revisions = [script.revision for script in scripts.walk_revisions()]

    assert revisions == sorted(revisions, reverse=True)
    assert all(Path(script.path).stem == script.revision for script in scripts.walk_revisions())
    assert scripts.get_heads() == [engines.newest_revision()]


async def test_database_in_another_encoding_is_refused(postgres):
    postgres.execute("CREATE DATABASE bytes TEMPLATE template0 ENCODING 'SQL_ASCII' LC_COLLATE 'C' LC_CTYPE 'C'")
    database = Database(postgres.url("bytes"))

    with pytest.raises(DatabaseUnavailable, match="the encoding of the database is SQL_ASCII: create it with ENCODING"):
        await database.open()
    await database.close()


async def test_database_of_a_newer_version_is_refused(each_database, database_url):
    change = text("UPDATE alembic_version SET version_num = 'v9999'")
    await each_database.write(lambda connection: connection.execute(change))
    other = Database(database_url)

    with pytest.raises(DatabaseUnavailable, match="newer version of Upvote: it is at v9999"):
        await other.open()
    await other.close()


async def test_write_that_raises_changes_nothing(each_database):
    def write(connection):
        connection.execute(text("INSERT INTO users (username, name, joined_ms) VALUES ('a', 'A', 1)"))
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        await each_database.write(write)

    assert await each_database.run(lambda connection: connection.execute(text("SELECT * FROM users")).all()) == []


async def test_read_cannot_write(each_database):
    with pytest.raises(Exception, match=r"read-only|does not answer"):
        await each_database.run(lambda connection: connection.execute(text("DELETE FROM users")))


def test_page_caches_of_all_connections_have_a_bounded_size(sqlite_url):
    opened = Engines.open(sqlite_url)
    sizes = []
    for engine in (opened.writer, opened.reader, opened.searcher):
        with engine.connect() as connection:
            kilobytes = -connection.execute(text("PRAGMA cache_size")).scalar()
            sizes.append(kilobytes * engine.pool.size())
    opened.close()

    assert sizes == [16_000, 32_000, 16_000]


async def test_absent_database_is_unavailable(tmp_path):
    database = Database(f"sqlite:///{tmp_path}/missing/upvote.db")

    with pytest.raises(DatabaseUnavailable, match="does not answer"):
        await database.open()
    with pytest.raises(DatabaseUnavailable, match="unable to open database file"):
        await database.run(positions)
    assert database.fault == "unable to open database file"
    await database.close()


async def test_reads_wait_until_the_database_was_opened(database_url):
    database = Database(database_url)
    reading = [asyncio.create_task(read(positions)) for read in (database.run, database.search)]
    await asyncio.sleep(0)
    await database.open()

    assert await asyncio.gather(*reading) == [0, 0]
    await database.close()


async def test_reads_wait_for_the_first_attempt_to_open_a_database(tmp_path):
    database = Database(f"sqlite:///{tmp_path}/missing/upvote.db")
    reading = asyncio.create_task(database.run(positions))
    await asyncio.sleep(0)
    with pytest.raises(DatabaseUnavailable):
        await database.open()

    for read in (reading, database.run(positions)):
        with pytest.raises(DatabaseUnavailable, match="unable to open database file"):
            await read
    await database.close()


async def test_close_ends_what_runs(each_database):
    endless = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT count(*) FROM n"
    running = asyncio.ensure_future(each_database.write(lambda connection: connection.execute(text(endless)).all()))
    await asyncio.sleep(0.2)

    await asyncio.wait_for(each_database.close(), 10)

    with pytest.raises(DatabaseUnavailable):
        await running


async def test_name_has_no_password():
    assert Database("postgresql://me:secret@db.example:5432/upvote").name == "postgresql://db.example:5432/upvote"


@pytest.mark.parametrize("url", ["", "sqlite://", "sqlite:///", "mysql://a/b", "postgresql://host", "postgresql:/a"])
def test_url_of_no_database_is_refused(url):
    with pytest.raises(ValueError, match=re.escape("must be sqlite:///PATH, postgresql://")):
        check_url(url)


def positions(connection):
    return connection.execute(text("SELECT count(*) FROM positions")).scalar()
