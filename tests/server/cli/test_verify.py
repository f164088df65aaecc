"""The command `upvote verify`, which finds what is inconsistent in a store, and repairs it."""

import asyncio
from concurrent.futures import ThreadPoolExecutor
from threading import Event

import pytest

from server.cli.verify import verify
from server.settings import Settings
from store import keys, leases, listings
from store.errors import LeaseTaken
from store.maintenance import verify as verification
from tests.server.commands import run
from tests.server.conftest import POST, REGISTER, serving

pytestmark = pytest.mark.many_partitions  # run also with several partitions of the store

# 150 articles that were never posted, as indexes have them
UNPOSTED = [keys.member(number) for number in range(keys.SLOTS, keys.SLOTS + 150)]


@pytest.fixture
def settings(redis_url: str, partitions: int) -> Settings:
    return Settings(redis_url=redis_url, partitions=partitions)


def test_nothing_is_broken_in_a_consistent_store(settings, capsys):
    assert verify(settings, repair=False) == 0
    assert capsys.readouterr().out == "nothing is broken\n"


def test_each_finding_is_printed_until_it_is_repaired(settings, redis, capsys):
    redis.zadd(keys.groups(0), {"show": 0, "ask": 0})
    lines = [f"{keys.groups(0)} {name}: 0, should be nothing" for name in ("ask", "show")]

    assert verify(settings, repair=False) == 1
    assert sorted(capsys.readouterr().out.splitlines()) == ["broken 2, repaired 0", *lines]
    assert verify(settings, repair=True) == 0
    assert sorted(capsys.readouterr().out.splitlines()) == [
        "broken 2, repaired 2",
        *(f"{line} (repaired)" for line in lines),
    ]
    assert verify(settings, repair=False) == 0


def test_unfinished_reindex_is_reported_but_is_not_broken(redis_url, redis, capsys, filled):
    """Indexes of the orders that it builds are not checked, those of other orders are."""
    line = "a reindex is unfinished: run `reindex` again; the orders that it builds are not checked"
    for partition in range(8):
        redis.hset(keys.ranking(partition), mapping={"ORDERS": "score time votes hot", "REINDEX": "a token"})
        redis.delete(keys.index(partition, "hot"), keys.index(partition, "best"), keys.group(partition, "ask", "hot"))
    redis.hset(keys.store(), "orders", "score votes")
    capsys.readouterr()

    assert verify(filled, repair=False) == 0
    assert capsys.readouterr().out.splitlines() == [line, "nothing is broken"]

    redis.delete(keys.index(3, "votes"))
    assert verify(filled, repair=True) == 0
    shown, *findings, summary = capsys.readouterr().out.splitlines()
    assert shown == line and findings and {finding.split()[0] for finding in findings} == {keys.index(3, "votes")}
    assert summary == f"broken {len(findings)}, repaired {len(findings)}"


def test_first_hundred_findings_are_printed_and_all_counted(settings, redis, capsys):
    redis.zadd(listings.GOOD_ARTICLES(0), dict.fromkeys(UNPOSTED, 1))

    assert verify(settings, repair=False) == 1
    *lines, more, summary = capsys.readouterr().out.splitlines()
    assert len(lines) == 100
    assert (more, summary) == ("and 50 more", "broken 150, repaired 0")


def test_unknown_key_is_printed_and_not_repaired(settings, redis, capsys):
    redis.set(b"\xff\nodd", "odd")

    assert verify(settings, repair=True) == 1
    assert capsys.readouterr().out == "\\udcff\\nodd: there, should be no key of this store\nbroken 1, repaired 0\n"
    assert redis.get(b"\xff\nodd") == "odd"


def test_repair_rebuilds_indexes_for_a_new_policy(settings, redis, capsys):
    assert verify(settings, repair=False) == 0
    changed = settings.model_copy(update={"vote_score": 100.0})
    capsys.readouterr()

    assert verify(changed, repair=False) == 1
    assert capsys.readouterr().out.splitlines()[0] == "store vote_score: 432.0, should be 100.0"
    assert verify(changed, repair=True) == 0
    assert redis.hget(keys.store(), "vote_score") == "100.0"
    assert verify(changed, repair=False) == 0


def test_managed_valkey_is_verified_with_and_without_its_server(tmp_path):
    with serving(tmp_path) as live:
        token = live.ask(REGISTER)["data"]["register"]["token"]
        live.ask(POST, token)
        while_serving = run("verify", data_dir=tmp_path)
    after_stop = run("verify", data_dir=tmp_path)

    for verified in (while_serving, after_stop):
        assert (verified.returncode, verified.stdout, verified.stderr) == (0, "nothing is broken\n", "")


def test_repair_works_while_a_server_runs(tmp_path, redis_url, redis):
    with serving(tmp_path, redis_url=redis_url, partitions=8) as live:
        token = live.ask(REGISTER)["data"]["register"]["token"]
        live.ask(POST, token)
        redis.delete(*redis.scan_iter("score:*"))
        repaired = run("verify", "--repair", redis_url=redis_url)
        listed = live.ask("{ articles { nodes { title } } }")["data"]["articles"]["nodes"]

    assert repaired.returncode == 0
    assert repaired.stdout.splitlines()[-1] == "broken 1, repaired 1"
    assert listed == [{"title": "Redis in Action"}]


def test_one_repair_at_a_time_runs(settings, redis, monkeypatch):
    redis.zadd(keys.groups(0), {"show": 0})
    begun, ended, verified = Event(), Event(), verification.verify

    async def slowly(*arguments, **named):
        begun.set()
        await asyncio.to_thread(ended.wait)
        await verified(*arguments, **named)

    monkeypatch.setattr(verification, "verify", slowly)
    with ThreadPoolExecutor() as pool:
        first = pool.submit(verify, settings, repair=True)
        begun.wait()
        monkeypatch.undo()
        try:
            with pytest.raises(LeaseTaken):
                verify(settings, repair=True)
            assert verify(settings, repair=False) == 1
        finally:
            ended.set()

    assert first.result() == 0
    assert redis.exists(leases.lease(0, "repair")) == 0
    assert verify(settings, repair=True) == 0


def test_second_repair_exits_with_2_and_changes_nothing(redis_url, redis, filled):
    redis.set(leases.lease(0, "repair"), "another", px=30_000)  # the lease, a lock that expires, of another process
    redis.zadd(keys.groups(0), {"nobody": 0})
    refused = run("verify", "--repair", redis_url=redis_url)

    assert (refused.returncode, refused.stdout) == (2, "")
    assert refused.stderr == (
        "upvote: another repair of this store is running, or was killed in the last 30 seconds: nothing was changed\n"
    )
    assert redis.zscore(keys.groups(0), "nobody") == 0
    assert run("verify", redis_url=redis_url).returncode == 1


def test_unreachable_store_exits_with_2(tmp_path):
    refused = run("verify", redis_url=f"unix://{tmp_path}/nothing")

    assert refused.returncode == 2
    assert refused.stderr.startswith("upvote: the store does not answer (Error 2 connecting to ")
