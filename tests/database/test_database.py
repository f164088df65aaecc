import asyncio
import re
from pathlib import Path

import pytest
from alembic.autogenerate import compare_metadata
from alembic.migration import MigrationContext
from alembic.script import ScriptDirectory
from sqlalchemy import text

from database import engines
from database.database import Database, DatabaseUnavailable, check_url
from database.tables import METADATA, POSITIONS


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


async def test_database_of_a_newer_version_is_refused(each_database, database_url):
    change = text("UPDATE alembic_version SET version_num = 'v9999'")
    await each_database.write(lambda connection: connection.execute(change))
    other = Database(database_url)

    with pytest.raises(DatabaseUnavailable, match="newer version of Upvote: it is at v9999"):
        await other.open()
    await other.close()


async def test_write_that_raises_changes_nothing(each_database):
    def write(connection):
        connection.execute(text("INSERT INTO users VALUES ('a', 'A', 1, NULL)"))
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        await each_database.write(write)

    assert await each_database.run(lambda connection: connection.execute(text("SELECT * FROM users")).all()) == []


async def test_read_cannot_write(each_database):
    with pytest.raises(Exception, match=r"read-only|does not answer"):
        await each_database.run(lambda connection: connection.execute(text("DELETE FROM users")))


async def test_absent_database_is_unavailable(tmp_path):
    database = Database(f"sqlite:///{tmp_path}/missing/upvote.db")

    with pytest.raises(DatabaseUnavailable, match="does not answer"):
        await database.open()
    with pytest.raises(DatabaseUnavailable, match="unable to open database file"):
        await database.run(positions)
    assert database.fault == "unable to open database file"
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
