"""
Effects of changes in other partitions than their own, here of follows: the partition of the follower has the followees,
that of a followee the followers. Each effect is applied once, in order, and by another process if the one that made the
change dies.

A store is split into partitions by user: the partition of a user has all that the user owns.

Codes such as F2 after the names of tests are rows of `docs/behaviours.md`, which these tests prove.
"""

import asyncio
import random
from collections.abc import AsyncIterator

import pytest

from store import effects, followed, keys, log
from store.client.client import RedisUsage, current_usage
from store.errors import StoreUnavailable
from store.follows import Follow
from store.maintenance import dangling_follows
from store.maintenance.verify import verify
from store.store import Store
from tests.conftest import registered

pytestmark = pytest.mark.parametrize("partitions", [1, 16], indirect=True)
PEOPLE = [f"user-{number}" for number in range(12)]


@pytest.fixture
async def others(redis_url, partitions, policy, clock) -> AsyncIterator[list[Store]]:
    """Two stores of other processes."""
    opened = [await Store.open(redis_url, policy, partitions, clock=clock) for _ in range(2)]
    yield opened
    for each in opened:
        await each.close()


@pytest.fixture
async def people(store) -> list[str]:
    return [await registered(store, name) for name in PEOPLE]


@pytest.fixture
def dying(monkeypatch):
    """As `leave_effects`, for the whole test."""
    leave_effects(monkeypatch)


def leave_effects(monkeypatch: pytest.MonkeyPatch) -> None:
    """Do not apply effects in the process that makes a change, as if it died after the first step."""

    async def do_nothing(*arguments: object) -> None:
        pass

    monkeypatch.setattr(effects, "apply", do_nothing)
    monkeypatch.setattr(effects, "apply_missing", do_nothing)


def sides(redis, store) -> tuple[set, set]:
    """All follows as (follower, followee, time): those that the followees have, and those that the followers have."""
    site, by_followees, by_followers = store.site, set(), set()
    for name in PEOPLE:
        partition = site.partition_of_user(name)
        pairs = redis.zrange(followed.following(partition, name), 0, -1, withscores=True)
        by_followers |= {(name, other, since) for other, since in pairs}
        pairs = redis.zrange(followed.followers(partition, name), 0, -1, withscores=True)
        by_followees |= {(other, name, since) for other, since in pairs}
    return by_followees, by_followers


async def change_at_random(stores, clock, times, seed) -> None:
    """Follow and unfollow at random, each time by one of these stores."""
    chance = random.Random(seed)
    for _ in range(times):
        clock.advance(1)
        follower, followee = chance.sample(PEOPLE, 2)
        store = chance.choice(stores)
        await (store.follows.follow if chance.random() < 0.6 else store.follows.unfollow)(follower, followee)


async def test_sides_agree_after_concurrent_changes_by_several_processes(store, others, people, redis, clock):  # F2
    stores = [store, *others]
    await asyncio.gather(*(change_at_random(stores, clock, 40, seed) for seed in range(8)))

    by_followees, by_followers = sides(redis, store)
    assert by_followees == by_followers != set()
    assert await effects.pending(store.site) == []


async def test_change_is_complete_when_its_command_returns(store, others, people, redis, clock):  # F2
    for name in PEOPLE[1:]:
        await store.follows.follow(name, PEOPLE[0])
        by_followees, by_followers = sides(redis, store)
        assert by_followees == by_followers
    await others[0].follows.unfollow(PEOPLE[1], PEOPLE[0])

    by_followees, by_followers = sides(redis, store)
    assert by_followees == by_followers and len(by_followees) == len(PEOPLE) - 2


async def test_next_change_applies_what_a_dead_process_left(store, others, people, redis, clock, monkeypatch):  # F2
    follower = PEOPLE[0]
    with monkeypatch.context() as patched:
        leave_effects(patched)
        for followee in PEOPLE[1:]:
            await store.follows.follow(follower, followee)
        await store.follows.unfollow(follower, PEOPLE[1])
    for followee in PEOPLE[1:]:
        clock.advance(1)
        await others[0].follows.follow(follower, followee)

    by_followees, by_followers = sides(redis, store)
    assert by_followees == by_followers and len(by_followees) == len(PEOPLE) - 1


async def test_repeating_a_change_applies_what_a_dead_process_left(store, people, redis, monkeypatch):  # F2
    with monkeypatch.context() as patched:
        leave_effects(patched)
        for followee in PEOPLE[1:]:
            await store.follows.follow(PEOPLE[0], followee)
    for followee in PEOPLE[1:]:
        assert not (await store.follows.follow(PEOPLE[0], followee)).changed

    by_followees, by_followers = sides(redis, store)
    assert by_followees == by_followers and len(by_followees) == len(PEOPLE) - 1


async def test_other_processes_complete_what_dead_ones_left(
    store, others, people, redis, clock, dying, monkeypatch
):  # F2
    await change_at_random([store], clock, 200, seed=1)
    by_followees, by_followers = sides(redis, store)
    assert (by_followees == by_followers) == (store.site.partitions == 1)
    monkeypatch.setattr(effects, "INTERVAL", 0.02)
    async with effects.completing(others[0].site), effects.completing(others[1].site):
        await change_at_random([store], clock, 100, seed=2)
        async with asyncio.timeout(10):
            while await effects.pending(store.site):  # noqa: ASYNC110 - tasks of other stores complete it
                await asyncio.sleep(0.02)

    by_followees, by_followers = sides(redis, store)
    assert by_followees == by_followers != set()


async def test_what_is_known_to_be_applied_is_not_read_again(store, people, clock):
    known: dict = {}  # what `pending` has found applied, for its next call
    await change_at_random([store], clock, 60, seed=8)
    for trips in (2, 1):
        usage = RedisUsage()
        current_usage.set(usage)
        assert await effects.pending(store.site, known=known) == []
        assert usage.round_trips == (trips if store.site.partitions > 1 else 0)
    with pytest.MonkeyPatch.context() as patched:
        leave_effects(patched)
        await change_at_random([store], clock, 60, seed=9)

    assert bool(await effects.pending(store.site, known=known)) == (store.site.partitions > 1)


@pytest.mark.parametrize("is_sent", [False, True])
async def test_cancelled_changes_are_completed(store, others, people, redis, clock, is_sent, monkeypatch):  # F2
    """A change is cancelled in one of its round trips, or in none: before its commands are sent, or a turn later."""
    loop, client, chance = asyncio.get_running_loop(), type(store.site.redis), random.Random(3)
    pipeline = client.pipeline
    await store.follows.follow(*PEOPLE[:2])  # the server has the scripts now: what is sent is done, cancelled or not

    async def cancelled_in_time(*arguments):
        nonlocal trips
        trips -= 1
        if trips == 0:
            loop.call_soon(change.cancel) if is_sent else change.cancel()
        return await pipeline(*arguments)

    ends = []
    with monkeypatch.context() as patched:
        patched.setattr(client, "pipeline", cancelled_in_time)
        for _ in range(60):
            clock.advance(1)
            trips = chance.randint(1, 4)
            change = asyncio.create_task(store.follows.follow(*chance.sample(PEOPLE, 2)))
            ends += await asyncio.gather(change, return_exceptions=True)
    await store.site.redis.ping()
    await effects.complete(others[0].site)

    by_followees, by_followers = sides(redis, store)
    assert by_followees == by_followers
    assert len(by_followees) > 20
    assert {type(end) for end in ends} == {Follow, asyncio.CancelledError}


async def test_effect_is_applied_once(store, people, redis):
    """A repeated command that arrives late changes nothing: the unfollow after it has been applied."""
    follower, followee = next(
        pair for pair in pairs() if count_partitions(store, pair) == min(2, store.site.partitions)
    )
    sent: list = []
    run = type(store.site.redis).pipeline

    async def recording(client, commands, *rest):
        sent.extend(commands)
        return await run(client, commands, *rest)

    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(type(store.site.redis), "pipeline", recording)
        await store.follows.follow(follower, followee)
    await store.follows.unfollow(follower, followee)
    late = [command for command in sent if "ZADD" in command]

    expected = [["already"]] if store.site.partitions > 1 else []  # with one partition, the follow has no other effect
    assert [await store.site.redis.run(command) for command in late] == expected
    assert sides(redis, store) == (set(), set())


async def test_closed_partition_gets_its_effects_when_it_opens(store, people, redis):
    """A partition is closed to writes while a store is moved. The follow counts, as its follower's is open."""
    follower, followee = next(
        pair for pair in pairs() if count_partitions(store, pair) == min(2, store.site.partitions)
    )
    partition = store.site.partition_of_user(followee)
    if store.site.partitions == 1:
        redis.set(keys.closed(partition), 1)
        with pytest.raises(StoreUnavailable):
            await store.follows.follow(follower, followee)
        return
    redis.set(keys.closed(partition), 1)
    assert (await store.follows.follow(follower, followee)).changed
    with pytest.raises(StoreUnavailable):
        await effects.complete(store.site)
    redis.delete(keys.closed(partition))
    await effects.complete(store.site)

    by_followees, by_followers = sides(redis, store)
    assert by_followees == by_followers and len(by_followees) == 1


async def test_verify_completes_pending_effects_first(store, people, redis, clock, dying):
    await change_at_random([store], clock, 60, seed=4)
    found: list = []
    await verify(store.site, found.append)

    assert found == []
    by_followees, by_followers = sides(redis, store)
    assert by_followees == by_followers != set()


async def test_log_keeps_entries_whose_effects_are_pending(store, others, people, redis, clock):
    with pytest.MonkeyPatch.context() as patched:
        leave_effects(patched)
        await change_at_random([store], clock, 60, seed=7)
    while await log.trim(store.site, kept_ms=0, max_entries=0, removable=await effects.removable(store.site)):
        pass
    kept = sum(redis.xlen(keys.log(partition)) for partition in range(store.site.partitions))
    await effects.complete(others[0].site)
    by_followees, by_followers = sides(redis, store)

    assert (kept > 0) == (store.site.partitions > 1)
    assert by_followees == by_followers != set()
    await log.trim(store.site, kept_ms=0, max_entries=0, removable=await effects.removable(store.site))
    assert sum(redis.xlen(keys.log(partition)) for partition in range(store.site.partitions)) == 0


async def test_later_effects_are_applied_after_the_log_was_deleted(
    store, people, redis, clock, dying, caplog, monkeypatch
):
    monkeypatch.setattr(dangling_follows, "PAUSE", 0)
    await change_at_random([store], clock, 60, seed=5)
    for partition in range(store.site.partitions):
        redis.delete(keys.log(partition))
    await effects.complete(store.site)
    assert ("are lost" in caplog.text) == (store.site.partitions > 1)
    await verify(store.site, lambda finding: None, repair=True)
    await change_at_random([store], clock, 60, seed=6)
    await effects.complete(store.site)

    by_followees, by_followers = sides(redis, store)
    assert by_followees == by_followers != set()


def pairs():
    return [(follower, followee) for follower in PEOPLE for followee in PEOPLE if follower != followee]


def count_partitions(store, pair) -> int:
    """In how many partitions two users are: one or two."""
    return len({store.site.partition_of_user(name) for name in pair})
