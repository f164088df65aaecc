"""The database of a server when the server or PostgreSQL is killed."""

import re
import signal
import sqlite3
from contextlib import closing

import pytest

from tests.database.conftest import postgres, postgres_url  # noqa: F401  # fixtures
from tests.server.commands import run
from tests.server.conftest import serving
from tests.servers import until
from tests.support.databases import posted, ready, rows, status

pytestmark = pytest.mark.one_server


def test_server_waits_for_a_database_that_was_killed(redis_url, tmp_path, postgres, postgres_url):  # noqa: F811
    def database():
        return ready(live)["database"]

    with serving(tmp_path, redis_url=redis_url, database_url=postgres_url) as live:
        until(lambda: database() == "up to date")
        postgres.kill()
        until(lambda: database().startswith("does not answer"))
        assert status(live) == 200
        posted(live, "a title")
        postgres.start()
        until(lambda: database() == "up to date")

        assert postgres.execute("SELECT title FROM articles", re.search(r"test_\d+", postgres_url)[0]) == [("a title",)]
        assert live.stop() == 0


def test_server_goes_on_where_it_was_killed_and_commands_work_beside_it(tmp_path):
    with serving(tmp_path, durability="always") as live:
        posted(live, "a title")
        live.stop(by=signal.SIGKILL)
    with serving(tmp_path) as live:
        until(lambda: ready(live)["database"] == "up to date")
        assert rows(tmp_path, "SELECT title FROM articles") == [("a title",)]
        with closing(sqlite3.connect(tmp_path / "upvote.db", timeout=10)) as connection, connection:
            connection.execute("UPDATE articles SET title = 'damaged'")
        done = run("database", "rebuild", data_dir=tmp_path)

        assert (done.returncode, done.stdout) == (0, f"rebuilt sqlite:///{tmp_path}/upvote.db\n"), done.stderr
        assert rows(tmp_path, "SELECT title FROM articles") == [("a title",)]
        first, second = run("database", "status", data_dir=tmp_path).stdout.splitlines()
        assert first == f"database  sqlite:///{tmp_path}/upvote.db"
        assert second.startswith("partition 0: ") and second.endswith(", up to date")
