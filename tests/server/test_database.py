"""
The database of a running server: where it is, what it has, and what happens while it does not answer.

Codes such as D1 name rows of docs/behaviours.md.
"""

import os
import sqlite3
from contextlib import closing
from pathlib import Path

import httpx
import pytest

from server.cli.main import main
from server.settings import Settings, WrongSetting, read_settings
from tests.server.commands import run
from tests.server.conftest import serving
from tests.servers import until
from tests.support.databases import posted, ready, rows, status

pytestmark = pytest.mark.one_server  # not run on a cluster of Valkey servers


@pytest.mark.slow
def test_server_has_a_database_in_its_data_directory(tmp_path):  # D1
    with serving(tmp_path, workers=2) as live:
        posted(live, "a title")
        until(lambda: ready(live).get("database") == "up to date")

        assert rows(tmp_path, "SELECT title, poster, votes FROM articles_view") == [("a title", "alice", 1)]
        shown = live.metrics()
        assert shown["upvote_database_up"] == 1.0
        assert shown["upvote_database_lag_entries"] == shown["upvote_database_lag_seconds"] == 0.0
        assert live.stop() == 0
        assert live.logged(level="warning") == []


def test_server_with_a_store_of_others_has_no_database(redis_url, tmp_path):
    with serving(tmp_path, redis_url=redis_url) as live:
        assert "database" not in ready(live)
        assert [name for name in live.metrics() if "database" in name] == []

    assert list(tmp_path.iterdir()) == []
    done = run("database", "status", redis_url=redis_url)
    assert (done.returncode, done.stderr) == (2, "upvote: UPVOTE_DATABASE_URL=none: there is no database\n")


def test_server_serves_without_a_database_that_answers(redis_url, tmp_path):
    url = f"sqlite:///{tmp_path}/missing/upvote.db"
    with serving(tmp_path, redis_url=redis_url, database_url=url) as live:
        posted(live, "a title")

        until(lambda: live.logged(level="warning"))
        assert status(live) == 503
        assert ready(live)["database"] == "does not answer: unable to open database file"
        assert live.metrics()["upvote_database_up"] == 0.0
        (line,) = live.logged(level="warning")
        assert line["event"] == (
            "the database is not kept up to date: the database does not answer: unable to open database file"
        )
        (tmp_path / "missing").mkdir()
        until(lambda: ready(live)["database"] == "up to date")
        assert status(live) == 200
        assert rows(tmp_path / "missing", "SELECT title FROM articles") == [("a title",)]
        assert live.stop() == 0


@pytest.mark.slow
def test_a_server_is_ready_when_its_database_is_open(redis_url, tmp_path):
    """Until then it answers what needs no database."""
    file = tmp_path / "upvote.db"
    with closing(sqlite3.connect(file, isolation_level=None)) as other:
        other.execute("BEGIN EXCLUSIVE")  # while this lasts, nobody can open the file
        with serving(tmp_path, redis_url=redis_url, database_url=f"sqlite:///{file}") as live:
            unready = httpx.get(f"{live.url}/readyz")
            listed = live.ask("{ articles { totalCount } }")
            other.execute("ROLLBACK")
            until(lambda: status(live) == 200)

    assert listed == {"data": {"articles": {"totalCount": 0}}}
    assert unready.status_code == 503
    assert unready.json().keys() == {"status", "store", "database", "memory"}
    assert {name: state for name, state in unready.json().items() if name != "memory"} == {
        "status": "unavailable", "store": "answers", "database": "does not answer: it is being opened",
    }  # fmt: skip


@pytest.mark.parametrize(
    ("given", "database"),
    [
        ({}, f"sqlite:///{Path('data/upvote.db').absolute()}"),
        ({"data_dir": "/srv/upvote"}, "sqlite:////srv/upvote/upvote.db"),
        ({"redis_url": "redis://127.0.0.1"}, None),
        ({"database_url": "none"}, None),
        ({"redis_url": "redis://127.0.0.1", "database_url": "postgresql://db/upvote"}, "postgresql://db/upvote"),
    ],
)
def test_default_of_the_setting(given, database):
    assert Settings(**given).database == database


def test_url_of_no_database_stops_the_start_without_its_password(monkeypatch, capsys):
    monkeypatch.setitem(os.environ, "UPVOTE_DATABASE_URL", "mysql://me:secret@db/upvote")

    with pytest.raises(WrongSetting, match=r"UPVOTE_DATABASE_URL: must be sqlite:///PATH, postgresql://.*, or none$"):
        read_settings()
    assert main(["database", "status"]) == 2
    assert "secret" not in capsys.readouterr().err
