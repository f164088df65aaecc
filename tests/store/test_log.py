"""
Consumers of the log, the stream of a partition that has an entry for each change: their positions, which are ids of the
last entries that they have taken, gaps, and the trimming of entries that nobody needs.

A store is split into partitions by user: the partition of a user has all that the user owns.
"""

import asyncio

import pytest

from store import effects, keys, log
from store.records import Vote
from store.store import Store
from tests.conftest import registered
from tests.store.reading import post

pytestmark = pytest.mark.many_partitions


async def test_newest_entries_are_those_of_all_partitions(store):
    subjects = [f"user:{await registered(store, f'user-{number}')}" for number in range(12)]

    found = await log.newest_entries(store.site, 1_000)
    some = await log.newest_entries(store.site, store.site.partitions)

    places = [log.sort_key(entry.id) for entry in found]
    assert sorted(entry.subject for entry in found) == sorted(subjects)
    assert places == sorted(places, reverse=True)
    assert some == [
        entry for n, entry in enumerate(found) if entry.partition not in {newer.partition for newer in found[:n]}
    ]


@pytest.fixture
async def ids(store, alice, bob):
    """
    The ids of five entries of Alice's partition, of which the first and the last have texts. A consumer `other` has
    taken all of them.
    """
    number = (await post(store, alice)).number
    for voter in ("bob", "carol", "dave"):
        await store.articles.vote(number, voter, Vote.UP)
    await store.articles.edit(number, alice, {"title": "another"})
    partition = store.site.partition_of_user(alice)
    found = await log.read(store.site, partition, log.START, count=100)
    await log.advance(store.site, "other", partition, found[-1].id)
    await asyncio.sleep(0.002)  # trimming keeps what was appended in the same millisecond
    return [entry.id for entry in found if entry.subject == f"article:{number}"]


async def left(store) -> list[str]:
    """The ids of the entries that the log of Alice's partition still has."""
    partition = store.site.partition_of_user("alice")
    return [entry.id for entry in await log.read(store.site, partition, log.START, count=100)]


async def test_entries_are_trimmed_behind_the_slowest_consumer(store, ids, redis):
    partition = store.site.partition_of_user("alice")
    await log.advance(store.site, "reader", partition, ids[2])
    await log.trim(store.site, kept_ms=0, max_entries=1_000)

    assert await left(store) == ids[3:]
    assert redis.hvals(keys.logged(partition)) == [ids[4]]  # ids of entries with texts

    assert await log.forget(store.site, "reader")
    await log.trim(store.site, kept_ms=0, max_entries=1_000)
    assert await left(store) == []
    assert redis.hvals(keys.logged(partition)) == []
    assert (await log.newest(store.site))[partition] == ids[4]


async def test_deletions_are_forgotten_with_their_entries(store, ids, redis):
    deleted = keys.deleted(store.site.partition_of_user("alice"))
    numbers = [(await post(store, "alice")).number for _ in range(3)]
    for number in numbers:
        await store.articles.delete(number, "alice")
        await asyncio.sleep(0.002)
    await log.trim(store.site, kept_ms=60_000, max_entries=1)
    assert redis.zrange(deleted, 0, -1) == [*map(str, numbers[1:])]  # others may be of the same millisecond

    await post(store, "alice")
    await asyncio.sleep(0.002)
    await log.forget(store.site, "other")
    await log.trim(store.site, kept_ms=0, max_entries=1_000)

    assert await left(store) == []
    assert not redis.exists(deleted)


async def test_recent_entries_are_kept(store, ids):
    before = await left(store)
    assert await log.trim(store.site, kept_ms=60_000, max_entries=1_000) == 0
    assert await left(store) == before


async def test_consumer_of_another_partition_keeps_nothing(store, ids):
    for partition in range(store.site.partitions):
        if partition != store.site.partition_of_user("alice"):
            await log.advance(store.site, "elsewhere", partition, log.START)
    await log.trim(store.site, kept_ms=0, max_entries=1_000)

    assert await left(store) == []


async def test_entries_beyond_the_most_are_removed_though_a_consumer_needs_them(store, ids):
    partition = store.site.partition_of_user("alice")
    await log.advance(store.site, "reader", partition, ids[0])
    assert await log.has_all_after(store.site, partition, ids[0])
    await log.trim(store.site, kept_ms=60_000, max_entries=2)

    assert await left(store) == ids[3:]
    assert [await log.has_all_after(store.site, partition, id) for id in (log.START, *ids)] == [
        False,
        False,
        False,
        True,
        True,
        True,
    ]


async def test_new_log_has_all_entries_after_its_start(store):
    assert [
        await log.has_all_after(store.site, partition, log.START) for partition in range(store.site.partitions)
    ] == [True] * store.site.partitions


async def test_log_lacks_nothing_after_a_position_whose_entry_was_deleted(store, ids, redis):
    """The deletion of an article removes the entries with its texts."""
    partition = store.site.partition_of_user("alice")
    (number,) = redis.hkeys(keys.logged(partition))
    await store.articles.delete(int(number), "Alice")

    assert ids[0] not in await left(store)
    assert [await log.has_all_after(store.site, partition, id) for id in (ids[0], ids[4])] == [True, True]


async def test_log_lacks_entries_after_a_position_that_it_does_not_have(store, ids):
    """After a crash a store may have lost its last entries, which a consumer has taken."""
    partition = store.site.partition_of_user("alice")
    time, number = log.sort_key(ids[2])

    assert not await log.has_all_after(store.site, partition, f"{time}-{number + 1_000_000}")
    assert not await log.has_all_after(store.site, partition, f"{time + 3_600_000}-0")


async def test_lag_is_counted_in_steps_up_to_its_most(store, ids, monkeypatch):
    """
    The lag of a consumer is how many entries it has not taken, and since when. In one step Redis would answer nobody
    for tens of milliseconds if a consumer is far behind.
    """
    whole = await log.lags(store.site, {})
    monkeypatch.setattr(log, "COUNTED_AT_ONCE", 3)
    in_steps = await log.lags(store.site, {})
    lengths = await log.lengths(store.site)
    monkeypatch.setattr(log, "MAX_LAG", 4)

    assert [lag.entries for lag in whole] == [lag.entries for lag in in_steps] == lengths and max(lengths) > 4
    assert all(abs(one.seconds - other.seconds) < 5 for one, other in zip(whole, in_steps, strict=True))
    assert [lag.entries for lag in await log.lags(store.site, {})] == [min(each, 4) for each in lengths]
    newest = dict(enumerate(await log.newest(store.site)))
    assert await log.lags(store.site, newest) == [log.Lag(0, 0.0)] * store.site.partitions


async def test_trimming_goes_on_over_many_steps(store, ids, monkeypatch):
    monkeypatch.setattr(log, "TRIMMED_AT_ONCE", 2)
    assert await log.trim(store.site, kept_ms=0, max_entries=1_000) >= 5

    assert await left(store) == []


async def test_log_is_trimmed_while_the_server_runs(store, ids, monkeypatch):
    monkeypatch.setattr(log, "TRIM_INTERVAL", 0.01)
    async with log.kept_trimmed(store.site, kept_ms=0, max_entries=1_000, removable=effects.removable):
        for _ in range(500):
            await asyncio.sleep(0.01)
            if not await left(store):
                break

    assert await left(store) == []


@pytest.mark.parametrize("text", ["", "now", "12", "-1-2", "1-2-3"])
async def test_malformed_position_counts_as_the_start(store, ids, redis, text):
    partition = store.site.partition_of_user("alice")
    redis.hset(log.CONSUMERS(partition), "reader", text)

    await log.trim(store.site, kept_ms=0, max_entries=1_000)

    assert set(ids) <= set(await left(store))
    assert (await log.positions(store.site))["reader"] == {partition: log.START}


@pytest.mark.parametrize("name", ["trimmed", "", "Database", "a b", "-"])
async def test_name_of_a_consumer_is_checked(store, name):
    with pytest.raises(ValueError, match="no name of a consumer"):
        await log.advance(store.site, name, 0, log.START)


async def test_positions_of_consumers_are_listed(store, ids):
    partition = store.site.partition_of_user("alice")
    await log.advance(store.site, "reader", partition, ids[1])
    await log.trim(store.site, kept_ms=0, max_entries=1_000)

    assert await log.positions(store.site) == {"reader": {partition: ids[1]}, "other": {partition: ids[4]}}
    assert not await log.forget(store.site, "nobody")
    assert not await log.forget(store.site, "trimmed")


async def test_opened_store_keeps_its_log(store, redis_url, clock):
    known = await log.identity(store.site)
    again = await Store.open(redis_url, store.site.policy, clock=clock)
    assert await log.identity(again.site) == known
    await again.close()
    assert len(known) == 16


async def test_store_of_an_earlier_version_begins_a_log(store, redis_url, redis, clock):
    redis.hdel(keys.store(), log.IDENTITY_FIELD)
    again = await Store.open(redis_url, store.site.policy, clock=clock)

    assert len(await log.identity(again.site)) == 16
    await again.close()
