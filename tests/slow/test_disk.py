"""
A full disk: writes are refused, reads work, and no acknowledged write is lost.

Codes such as A6 after the names of tests are rows of `docs/behaviours.md`, which these tests prove.
"""

import asyncio
import os
import random
import resource
import signal
import sqlite3
import subprocess
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from pathlib import Path

import httpx
import pytest
from redis import Redis
from redis.exceptions import ResponseError

from server.managed_valkey import disk, server
from server.managed_valkey.disk import LogNotWritten
from server.managed_valkey.server import ValkeyOptions
from tests.server.conftest import POST, REGISTER, Live, serving
from tests.servers import PATIENCE, until
from tests.support.faults import Crowd, during, until_refused, valkey_of

SIZE = 24_000_000  # bytes of the file system
RESERVE = 4_000_000  # bytes that the server keeps for the last writes: with less room it refuses others
OTHER = "other"  # a file of another program
PAGE = "{ viewer { username } articles { totalCount nodes { title } } }"


@pytest.fixture
def small(tmp_path: Path) -> Iterator[Path]:
    """A file system of 24 MB, which only root can mount, as in CI."""
    folder = tmp_path / "small"
    folder.mkdir()
    mounted = subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={SIZE}", "tmpfs", folder], capture_output=True)
    if mounted.returncode and not os.environ.get("CI"):
        pytest.skip("only root can mount a small file system")
    assert mounted.returncode == 0, mounted.stderr
    yield folder
    subprocess.run(["umount", "--lazy", folder], check=True)


def fill(folder: Path, free: int = 0) -> Path:
    """Write a file that leaves so many bytes free, even while a server writes to the same disk."""
    file = folder / OTHER
    with file.open("wb") as opened:
        while not opened.seek(0, os.SEEK_END):
            with suppress(OSError):  # the server has written meanwhile
                os.posix_fallocate(opened.fileno(), 0, disk.free_bytes(folder) - free)
    return file


def health(live: Live) -> tuple[int, dict[str, str]]:
    """Status and content of `/readyz`, which says whether writes are refused."""
    answer = httpx.get(f"{live.url}/readyz")
    return answer.status_code, answer.json()


def code(answer: dict) -> str | None:
    return answer["errors"][0]["extensions"]["code"] if "errors" in answer else None


@pytest.mark.parametrize("durability", ["everysec", "always"])
def test_writes_are_refused_before_the_disk_is_full_and_accepted_again(small, durability):
    with serving(small, durability=durability, disk_reserve=RESERVE, log_format="json") as live:
        token = live.ask(REGISTER)["data"]["register"]["token"]
        assert live.ask(POST, token)["data"]["post"]["article"]
        process = valkey_of(small)
        until(lambda: health(live)[0] == 200)  # the database is opened while there is room
        other = fill(small, free=RESERVE // 2)
        until(lambda: "writes" in health(live)[1])

        status, body = health(live)
        assert (status, body["status"], body["writes"]) == (200, "ok", "refused")
        assert "too little room" in body["reason"]
        assert live.metrics()["upvote_writes_refused"] == 1
        refused = [
            live.ask(POST, token, title="refused"),
            live.ask("mutation { logOut { userErrors { code } } }", token),
        ]
        assert [code(answer) for answer in refused] == ["UNAVAILABLE"] * 2
        assert "too little room" in refused[0]["errors"][0]["message"]
        assert live.ask(PAGE, token)["data"] == {
            "viewer": {"username": "alice"},
            "articles": {"totalCount": 1, "nodes": [{"title": "Redis in Action"}]},
        }

        other.unlink()
        until(lambda: "writes" not in health(live)[1])
        assert live.metrics()["upvote_writes_refused"] == 0
        assert live.ask(POST, token, title="accepted again")["data"]["post"]["article"]
        assert valkey_of(small) == process
        said = [line["event"].partition(":")[0] for line in live.logged() if "writes are" in line["event"]]
        assert said == ["writes are refused", "writes are accepted again"]
        assert live.stop() == 0


def posted(live: Live, token: str, folder: Path) -> list[str]:
    """Post while another program fills the disk, until ten posts are refused; the ids of the others."""
    answered, refused = [], 0
    while refused < 10:
        if len(answered) == 30 and not (folder / OTHER).exists():
            fill(folder)
        answer = live.ask(POST, token, title=f"{len(answered):0300}")
        if "errors" in answer:
            assert code(answer) == "UNAVAILABLE"
            refused += 1
        else:
            answered.append(answer["data"]["post"]["article"]["id"])
    return answered


def are_stored(live: Live, ids: list[str]) -> bool:
    nodes = live.ask("{ articles(order: TIME, first: 100) { nodes { id } } }")["data"]["articles"]["nodes"]
    return {node["id"] for node in nodes} >= set(ids)


@pytest.mark.parametrize("durability", ["everysec", "always"])
def test_acknowledged_writes_survive_a_disk_that_fills_between_two_checks(small, durability):
    """The disk is still full when the server is stopped and started."""
    settings = {"durability": durability, "disk_reserve": RESERVE}
    with serving(small, **settings) as live:
        token = live.ask(REGISTER)["data"]["register"]["token"]
        answered = posted(live, token, small)
        assert live.stop() == 0
    with serving(small, **settings) as live:
        assert are_stored(live, answered)
        assert health(live)[1]["writes"] == "refused"
        (small / OTHER).unlink()
        until(lambda: "writes" not in health(live)[1])
        assert live.ask(POST, token, title="accepted again")["data"]["post"]["article"]


def test_acknowledged_writes_survive_a_kill_on_a_full_disk(small):
    with serving(small, durability="always", disk_reserve=RESERVE) as live:
        token = live.ask(REGISTER)["data"]["register"]["token"]
        answered = posted(live, token, small)
        killed = valkey_of(small)
        os.kill(killed, signal.SIGKILL)
        until(lambda: valkey_of(small) != killed)
        assert are_stored(live, answered)
        until(lambda: health(live)[1].get("writes") == "refused")
        live.stop(signal.SIGKILL)
    with serving(small, durability="always", disk_reserve=RESERVE) as live:
        assert are_stored(live, answered)


async def test_crowd_on_a_disk_that_is_full_for_a_while_loses_nothing(small):  # A6, A7, V3, V9
    async def full(crowd: Crowd) -> None:
        other = await asyncio.to_thread(fill, small)
        await until_refused(crowd)
        assert live.ask(PAGE)["data"]["articles"]["totalCount"]
        other.unlink()

    with serving(small, disk_reserve=RESERVE) as live:
        await during(live, small, full, full)


@contextmanager
def unmonitored(folder: Path, monkeypatch: pytest.MonkeyPatch) -> "Iterator[Redis]":
    """A Valkey whose disk is checked at its start and end only."""
    monkeypatch.setattr(disk, "CHECK_SECONDS", 1_000)
    monkeypatch.setattr(disk, "FINAL_WRITE_SECONDS", 5)
    with server.running(folder, ValkeyOptions(reserve=RESERVE)) as url, Redis.from_url(url) as redis:
        monkeypatch.setattr(disk, "CHECK_SECONDS", 0.1)
        yield redis


def set_until_refused(redis: "Redis") -> int:
    """Set keys until Valkey itself refuses with MISCONF; returns how many were set."""
    for number in range(100_000):
        try:
            redis.set(f"key:{number}", "x" * 1_000)
        except ResponseError as error:
            assert "MISCONF" in str(error)
            return number
    raise AssertionError("no write was refused")


def test_rewrite_that_fails_on_a_full_disk_loses_nothing(small, caplog):
    """The rewrite takes space of the reserve while it runs; writes continue."""
    with server.running(small, ValkeyOptions(reserve=RESERVE)) as url, Redis.from_url(url) as redis:
        for number in range(7_000):
            redis.set(f"key:{number}", random.randbytes(1_000))  # cannot be compressed
        fill(small, free=RESERVE + 500_000)
        redis.bgrewriteaof()
        until(lambda: redis.info("persistence")["aof_last_bgrewrite_status"] == "err")
        until(lambda: redis.set("another", 1))
        until(lambda: "could not be rewritten" in caplog.text)
        assert not list(small.glob("**/temp-*"))
    (small / OTHER).unlink()
    with server.running(small) as url, Redis.from_url(url) as redis:
        assert redis.dbsize() == 7_001


def test_pending_writes_are_written_before_valkey_stops(small, monkeypatch):
    """They take the space of the reserve file."""
    with unmonitored(small, monkeypatch) as redis:
        fill(small, free=100_000)
        count = set_until_refused(redis)
        assert redis.info("persistence")["aof_buffer_length"] > 0
    (small / OTHER).unlink()

    assert not (small / "reserve").exists()
    with server.running(small) as url, Redis.from_url(url) as redis:
        assert redis.dbsize() == count > 50


def test_writes_that_cannot_be_written_at_the_end_raise_an_error(tmp_path, monkeypatch):
    """The size of the file is limited, so that deleting the reserve file does not help."""
    with (
        pytest.raises(LogNotWritten, match="the last acknowledged writes may be lost"),
        unmonitored(tmp_path, monkeypatch) as redis,
    ):
        limit(redis, 100_000)
        assert set_until_refused(redis) > 50


def test_server_whose_last_writes_are_lost_ends_with_an_error(tmp_path):
    def register(name: str) -> dict:
        return live.ask(REGISTER.replace("alice", name))

    with serving(tmp_path, database_url="none") as live:  # the mirror would write before bob and dave do
        token = register("alice")["data"]["register"]["token"]
        with Redis(unix_socket_path=(tmp_path / "address").read_text()) as redis:
            limit(redis, 1)
            assert register("bob")["data"]["register"]["token"]
            until(lambda: health(live)[1].get("writes") == "refused")
            assert live.ask(PAGE, token)["data"]["viewer"] == {"username": "alice"}
            assert code(register("carol")) == "UNAVAILABLE"

            limit(redis, resource.RLIM_INFINITY)
            until(lambda: "writes" not in health(live)[1])
            assert register("carol")["data"]["register"]["token"]

            limit(redis, 1)
            assert register("dave")["data"]["register"]["token"]
        assert live.stop() == 2
        assert "the last acknowledged writes may be lost" in live.errors.read_text()


def limit(redis: "Redis", size: int) -> None:
    """Limit the size of each file of a Valkey, in bytes, so that its writes fail without a full disk."""
    resource.prlimit(redis.info("server")["process_id"], resource.RLIMIT_FSIZE, (size, resource.RLIM_INFINITY))


def test_database_on_a_full_disk_is_kept_up_to_date_again(small, redis_url):  # D1
    with serving(small, redis_url=redis_url, database_url=f"sqlite:///{small}/upvote.db") as live:
        until(lambda: ready(live) == "up to date")
        token = live.ask(REGISTER)["data"]["register"]["token"]
        filling = fill(small)
        posted = [live.ask(POST, token, title=f"title {turn} " + "long " * 50) for turn in range(30)]
        until(lambda: ready(live) != "up to date")
        assert all(answer["data"]["post"]["article"] for answer in posted)
        until(lambda: live.logged(level="warning"))
        filling.unlink()
        until(lambda: ready(live) == "up to date")

        with closing(sqlite3.connect(small / "upvote.db")) as connection:
            assert connection.execute("SELECT count(*), count(DISTINCT title) FROM articles").fetchone() == (30, 30)
        (line,) = live.logged(level="warning")
        assert line["event"].startswith("the database is not kept up to date: the database does not answer: ")
        assert live.stop() == 0


def ready(live: Live) -> str:
    """What `/readyz` says about the database: "up to date", or why it is not."""
    return httpx.get(f"{live.url}/readyz", timeout=PATIENCE).json()["database"]
