"""
What `verify` finds in damaged stores, and repairs. A `scene` is a store that has keys of every kind, with articles and
comments of Alice and others.
"""

import asyncio
import random
from functools import partial

import pytest
from redis import Redis

from store import followed, keys, log, roles
from store.errors import StoreMismatch
from store.maintenance import dangling_follows, verify
from store.maintenance.verify import Finding
from store.moderation_records import Role
from store.ranking.formulas import Policy
from store.records import Vote
from store.roles import OPERATOR
from store.store import Store
from tests.conftest import Clock
from tests.servers import PATIENCE
from tests.store import scene as scenes
from tests.store.maintenance.not_repairable import NOT_REPAIRABLE
from tests.store.maintenance.repairable import REPAIRABLE, Expected
from tests.store.reading import contents, verified
from tests.store.scene import WEEK, Scene, meanwhile, pass_time, use

pytestmark = pytest.mark.many_partitions


@pytest.fixture
def policy() -> Policy:
    return Policy(good_votes=2)


@pytest.fixture
async def scene(store: Store, redis: "Redis", clock: Clock) -> Scene:
    return await scenes.opened(store, redis, clock)


def of(found: list[Finding]) -> list[Expected]:
    """Where each finding is, what is there, and what should be there."""
    return sorted((finding.where, finding.found, finding.expected) for finding in found)


@pytest.mark.parametrize("damage", REPAIRABLE)
async def test_damage_that_can_be_derived_is_reported_and_repaired(scene, damage):
    before = contents(scene.redis)
    expected = damage(scene)
    broken = contents(scene.redis)

    found = await verified(scene.store)
    assert of(found) == sorted(expected)
    assert not any(finding.repaired for finding in found)
    assert contents(scene.redis) == broken

    repaired = await verified(scene.store, repair=True)
    assert repaired and all(finding.repaired for finding in repaired)
    assert contents(scene.redis) == before
    assert await verified(scene.store) == []


@pytest.mark.parametrize("damage", NOT_REPAIRABLE)
async def test_damage_that_cannot_be_derived_is_reported_and_stays(scene, damage):
    expected = damage(scene)

    assert of(await verified(scene.store)) == sorted(expected)
    found = await verified(scene.store, repair=True)
    assert of(found) == sorted(expected)
    # a part of the damage may be repaired
    assert of(await verified(scene.store)) == of([finding for finding in found if not finding.repaired]) != []


async def test_lost_places_of_actions_and_moderators_are_restored(scene, redis):
    """These have a test of their own, as they need more than the scene has."""
    for username, role, group in (("bob", Role.ADMIN, None), ("Alice", Role.MODERATOR, "show")):
        await roles.grant(scene.store.site, OPERATOR, username, role, group=group, reason="a reason")
    before = contents(redis)
    indexes = [*redis.scan_iter("actions:*"), *redis.scan_iter("moderators:*")]
    pairs = [(index, pair) for index in indexes for pair in redis.zrange(index, 0, -1, withscores=True)]
    for index in indexes:
        redis.delete(index)
    found = of(await verified(scene.store, repair=True))

    assert found == sorted((f"{index} {member}", "nothing", f"{at:.0f}") for index, (member, at) in pairs)
    assert len(found) == 7
    assert contents(redis) == before


@pytest.mark.parametrize("kind", [keys.log, keys.logged, log.CONSUMERS])
async def test_log_of_a_wrong_type_is_replaced_with_a_new_one(scene, redis, kind):
    """Its consumers learn from the identity that they have to begin again."""
    key, before = kind(scene.partition), await log.identity(scene.store.site)
    await log.advance(scene.store.site, "reader", scene.partition, log.START)
    redis.delete(key)
    redis.rpush(key, "odd")
    type = "stream" if kind is keys.log else "hash"

    assert of(await verified(scene.store)) == [(key, "a list", f"a {type} before more can be verified")]
    assert await log.identity(scene.store.site) == before
    assert of(await verified(scene.store, repair=True)) == [(key, "a list", f"a {type}")]
    assert await log.identity(scene.store.site) != before
    assert await verified(scene.store) == []
    voted = await scene.store.articles.vote(scene.open.number, "erin", Vote.UP)
    assert voted.changed
    assert [entry.kind for entry in await log.read(scene.store.site, scene.partition, log.START, count=9)] == ["voted"]
    assert await log.positions(scene.store.site) == {}


async def test_late_expiry_is_reported_and_repaired(scene, redis):
    late = [scene.voted, scene.downvoted, scene.session, next(redis.scan_iter("posted:*"))]
    for key in late:
        redis.pexpire(key, redis.pttl(key) + 60_000)

    assert sorted(finding.where for finding in await verified(scene.store, repair=True)) == sorted(
        f"{key} TTL" for key in late
    )
    assert await verified(scene.store) == []


async def test_article_outside_the_slot_of_its_poster_is_reported(scene):
    number = scene.open.number + scene.store.site.partitions
    scene.redis.rename(scene.hash, keys.article(scene.partition, number))
    await verified(scene.store, repair=True)

    slot, slot_of_poster = number % keys.SLOTS, keys.slot("alice")
    where = keys.article(scene.partition, number)
    assert (where, f"of slot {slot}", f"of slot {slot_of_poster}, as its poster is") in of(await verified(scene.store))


@pytest.mark.parametrize("other", [Policy(good_votes=2, vote_score=100.3), Policy(good_votes=3)])
async def test_repair_rebuilds_indexes_for_a_new_policy(scene, redis_url, clock, other):
    with pytest.raises(StoreMismatch):
        await Store.open(redis_url, other, clock=clock)
    store = await Store.open(redis_url, other, clock=clock, strict=False)

    found = await verified(store)
    assert {finding.where.split(":")[0].split()[0] for finding in found} <= {"store", "score", "group", "good"}
    assert not any(finding.repaired for finding in found)
    assert of(await verified(store, repair=True)) == of(found)
    assert await verified(store) == []
    await store.close()

    again = await Store.open(redis_url, other, clock=clock)
    assert again.site.partitions == scene.store.site.partitions
    await again.close()


async def test_store_with_another_number_of_partitions_cannot_be_verified(store, redis_url):
    with pytest.raises(StoreMismatch, match="PARTITIONS"):
        await Store.open(redis_url, Policy(good_votes=2), partitions=32, strict=False)


async def test_nothing_is_reported_of_an_empty_store(store):
    assert await verified(store) == []


async def test_nothing_is_reported_of_a_store_after_random_use(scene, redis):
    for seed in range(5):
        await use(scene, random.Random(seed), times=40)
        pass_time(redis, scene.clock, 2 * 86_400)

    assert await verified(scene.store) == []
    assert await verified(scene.store, repair=True) == []


async def test_nothing_is_reported_when_voters_are_about_to_expire(scene, redis):
    for seconds in (WEEK - 1, 1, 1, 45):  # Redis' own clock goes on, so that a slow machine needs some of what is left
        pass_time(redis, scene.clock, seconds)
        assert await verified(scene.store) == []
    assert redis.exists(scene.voted)

    pass_time(redis, scene.clock, 14)
    assert not redis.exists(scene.voted)
    assert await verified(scene.store) == []


async def test_writes_in_progress_are_not_reported(scene, monkeypatch):
    monkeypatch.setattr(dangling_follows, "PAUSE", 0.05)
    found: list[Finding] = []

    await meanwhile(scene, partial(verify.verify, scene.store.site, found.append), times=2)
    assert found == []


async def test_repair_of_a_store_in_use_changes_only_what_is_damaged(scene, redis):
    await use(scene, random.Random(1), times=50)
    for key in [*redis.scan_iter("score:*"), *redis.scan_iter("group:*"), *redis.scan_iter("timeline:*")]:
        redis.delete(key)
    for key in redis.scan_iter("article:*"):
        redis.hset(key, "up", 50)
    for key in redis.scan_iter("user:*"):
        redis.hset(key, "karma", 50)
    found: list[Finding] = []
    await meanwhile(scene, partial(verify.verify, scene.store.site, found.append, repair=True))

    assert found and all(finding.repaired for finding in found)
    assert await verified(scene.store) == []


async def test_follow_in_progress_is_not_reported(scene, monkeypatch):
    """A follow is written in two partitions. Here the second step comes between the two reads of `dangling_follows`."""
    site, read = scene.store.site, dangling_follows._dangling
    is_seen, has_followed = asyncio.Event(), asyncio.Event()

    async def read_before_and_after(*arguments):
        if is_seen.is_set():
            await has_followed.wait()
        if found := await read(*arguments):
            is_seen.set()
        return found

    monkeypatch.setattr(dangling_follows, "PAUSE", 0)
    monkeypatch.setattr(dangling_follows, "_dangling", read_before_and_after)
    key = followed.followers(site.partition_of_user("dave"), "dave")
    await site.redis.run(("ZADD", key, 1, "carol"))
    verifying = asyncio.create_task(verified(scene.store))
    await asyncio.wait_for(is_seen.wait(), PATIENCE)
    await scene.store.follows.follow("carol", "dave")
    has_followed.set()

    assert await verifying == []


async def test_progress_adds_up_to_the_size(scene):
    progress: list[int] = []
    await verify.verify(scene.store.site, print, progress=progress.append)

    assert sum(progress) == await verify.size(scene.store.site)
