"""
The command `upvote log`, which shows how far the consumers of the log of changes are, or removes one. A consumer is a
program that takes the entries of the log one after another, such as the mirror to a database.
"""

import asyncio
import re

import pytest

from server.cli.main import main
from store import log
from store.store import Store
from tests.conftest import registered

pytestmark = pytest.mark.one_server  # not run on a cluster of Valkey servers


@pytest.fixture
def used(redis_url, monkeypatch) -> str:
    """
    The URL of a store whose log has had four entries. Of its consumers, `done` has taken all of them and `slow` two,
    which were removed then, and `late` has missed these.
    """

    async def use() -> None:
        store = await Store.open(redis_url)
        for name in ("alice", "bob", "carol", "dave"):
            await registered(store, name)
        await log.advance(
            store.site,
            "slow",
            partition=0,
            id=(await log.read(store.site, partition=0, after=log.START, count=2))[-1].id,
        )
        await log.advance(store.site, "done", partition=0, id=(await log.newest(store.site))[0])
        await asyncio.sleep(0.005)  # only entries that are older than the present millisecond are removed
        await log.trim(store.site, kept_ms=0, max_entries=3)
        await log.advance(store.site, "late", partition=0, id=log.START)
        await store.close()

    asyncio.run(use())
    monkeypatch.setenv("UPVOTE_REDIS_URL", redis_url)
    return redis_url


def test_status_has_all_consumers(used, capsys):
    assert main(["log"]) == 0

    shown = re.sub(r"\d+\.\d s", "N s", capsys.readouterr().out).splitlines()
    assert re.fullmatch(r"log       [0-9a-f]{16}", shown[0])
    assert shown[1:] == [
        "entries   2 in 1 partition, the oldest N s old",
        "done: up to date",
        "late: entries that it has not taken were removed",
        "slow: 2 entries and N s behind",
    ]


def test_forgotten_consumer_keeps_no_entries(used, redis, capsys):
    assert main(["log", "forget", "slow"]) == 0
    assert capsys.readouterr().out == "removed slow\n"
    assert main(["log", "forget", "slow"]) == 2
    assert main(["log", "forget", "trimmed"]) == 2
    assert capsys.readouterr().err == (
        "upvote: the log has no consumer slow\nupvote: the log has no consumer trimmed\n"
    )
    # `trimmed` is no consumer, but the last entry that was removed
    assert redis.hkeys("consumers:{0}") == ["done", "trimmed", "late"]


def test_empty_log_has_no_age(redis_url, monkeypatch, capsys):
    monkeypatch.setenv("UPVOTE_REDIS_URL", redis_url)
    assert main(["log"]) == 0
    assert "entries   0 in 1 partition\n" in capsys.readouterr().out
