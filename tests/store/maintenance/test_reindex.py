"""
The orders by which a store lists articles, such as VOTES or HOT, and the weights of its groups in their formulas, are
changed while users vote and post. `reindex` writes the indexes of orders anew.

`findings` gives what `upvote verify` finds wrong in the store.

Codes such as H1 after the names of tests are rows of `docs/behaviours.md`, which these tests prove.
"""

import asyncio
import random
from dataclasses import replace
from functools import partial
from typing import Any

import pytest

from store import article_moderation, event_connection, home_indexes, index_filling, keys, links, listings, roles
from store.client.client import RedisClient
from store.errors import RebuildOvertaken
from store.maintenance import reindex
from store.ranking import config
from store.ranking.config import Rankings
from store.ranking.formulas import Order, Policy
from store.records import Vote
from store.site import Site
from store.store import Store
from tests.conftest import registered
from tests.store import scene as scenes
from tests.store.histories import HOUR, history, listing_of, sorted_by_hand
from tests.store.reading import findings, page, post
from tests.store.scene import meanwhile
from tests.support.pages import assert_pages

pytestmark = pytest.mark.many_partitions

# the orders of stores that do not maintain all
FEW = (Order.VOTES, Order.BEST)
SOME = (Order.SCORE, Order.GRAVITY)
WEIGHTS = {"vote_score": 100.0, "hot_seconds": 9_000.0, "best_z": 2.0}


@pytest.fixture
async def scene(store, redis, clock):
    return await scenes.opened(store, redis, clock)


async def opened(redis_url, partitions, clock, orders=tuple(Order)):
    """Open a store, which is new unless it exists already: only a new one gets these orders."""
    return await Store.open(redis_url, Policy(), partitions, orders, clock=clock)


def indexes(redis) -> set[str]:
    """The orders that have an index, of the site or of a group."""
    found = {key.split(":")[0] for order in Order for key in redis.scan_iter(f"{order.value}:*")}
    return found | {key.rpartition(":")[2] for key in redis.scan_iter("group:*")}


async def test_orders_that_are_not_maintained_have_no_indexes(redis_url, redis, partitions, clock):
    store = await opened(redis_url, partitions, clock, SOME)
    await history(store, seed=1, size=30)

    needed = {"time", "votes"}  # articles are found by `time`, and GRAVITY needs `votes`
    assert indexes(redis) == {"score", "gravity"} | needed
    assert store.site.rankings.orders == SOME
    assert await findings(store) == []
    await store.close()


async def test_links_of_an_earlier_store_are_indexed_while_users_write(scene, redis):
    """A store of 0.1.0 has neither the index nor the digests; scripts of this version write both from the start."""
    for _ in range(20):
        await post(scene.store, "Alice")
    await make_earlier(scene.store, redis)
    assert await findings(scene.store) == []

    walked: list[int] = []
    await meanwhile(scene, lambda: reindex.reindex(scene.store.site, tuple(Order), walked.append), times=2)
    assert scene.store.site.rankings.has_links
    assert walked and redis.hget(keys.store(), "links") == str(links.VERSION)
    assert await findings(scene.store) == []


async def make_earlier(store, redis) -> None:
    """Leave a store as 0.1.0 did: without digests of links and their index."""
    for key in list(redis.scan_iter("links:*")):
        redis.delete(key)
    for key in list(redis.scan_iter("article:*")):
        redis.hdel(key, links.FIELD)
    redis.hdel(keys.store(), "links")
    await store.site.rankings.read(store.site.redis)
    assert not store.site.rankings.has_links


async def test_links_of_hidden_articles_are_indexed(store, redis):
    """No listing has them, but they are in the index once they are shown again."""
    await registered(store, "carol")
    removed = await post(store, "carol")
    await article_moderation.remove(store.site, roles.OPERATOR, removed.number, group=None, reason="an advertisement")
    await make_earlier(store, redis)

    walked: list[int] = []
    await reindex.reindex(store.site, tuple(Order), walked.append)
    assert sum(walked) == 1 and await findings(store) == []
    await article_moderation.approve(store.site, roles.OPERATOR, removed.number)
    found = await page(store, listings.by_link(store.site, removed.link))
    assert [position.number for position in found.positions] == [removed.number]


async def test_orders_of_a_store_do_not_follow_the_settings(redis_url, redis, partitions, clock):
    await (await opened(redis_url, partitions, clock, FEW)).close()
    store = await opened(redis_url, partitions, clock, SOME)

    assert store.site.rankings.orders == FEW
    await store.close()


@pytest.mark.timeout(300)
async def test_orders_are_added_and_dropped_while_users_vote(scene, redis):
    store, progress = scene.store, []

    async def change() -> None:
        for orders in (FEW, tuple(Order), SOME):
            await reindex.reindex(store.site, orders, progress.append)
            assert store.site.rankings.orders == orders
            assert indexes(redis) <= set(config.orders_to_write(orders).split())
            assert await findings(store) == []

    await meanwhile(scene, change)
    assert sum(progress) > 0


async def test_next_reindex_completes_an_interrupted_one(redis_url, redis, partitions, clock):
    store = await opened(redis_url, partitions, clock, FEW)
    articles = await history(store, seed=3, size=40)

    def stop(count: int) -> None:
        raise InterruptedError

    with pytest.raises(InterruptedError):
        await reindex.reindex(store.site, [Order.HOT, Order.VOTES], stop)
    assert store.site.rankings.orders == (Order.VOTES,)
    await store.articles.delete(articles[-1].number, articles[-1].poster)
    await reindex.reindex(store.site, [Order.HOT, Order.VOTES], progress=lambda count: None)

    for order in (Order.HOT, Order.VOTES):
        expected = sorted_by_hand(store, order, articles[:-1], clock.now)
        assert list((await page(store, listing_of(store, order, group=None))).positions) == expected[:25]
    assert await findings(store) == []
    await store.close()


async def test_indexes_of_homes_of_an_earlier_store_are_filled_once_while_users_write(scene, redis, monkeypatch):  # H1
    """Two servers at once do it once, and `verify` misses nothing before. Homes are the front pages of users."""
    store, written = scene.store, []
    before = await made_before_homes(store, redis)
    assert await findings(store) == []

    fill_group = home_indexes._fill_group

    async def fill(site: Site, partition: int, group: str) -> None:
        written.append((partition, group))
        await fill_group(site, partition, group)

    monkeypatch.setattr(home_indexes, "_fill_group", fill)
    monkeypatch.setattr(index_filling, "INTERVAL", 0.01)

    async with home_indexes.filling(store.site), home_indexes.filling(replace(store.site, rankings=Rankings())):
        await meanwhile(scene, partial(asyncio.sleep, 0.1), times=3)
    await store.site.rankings.read(store.site.redis)
    assert store.site.rankings.has_homes
    assert before and len(written) == len(set(written)) == 2 * store.site.partitions
    assert await findings(store) == []


async def test_filling_indexes_of_homes_goes_on_after_it_is_killed(store, redis, clock):  # H1
    await history(store, seed=3, size=60)
    before, round_trips = await made_before_homes(store, redis), 0
    while True:
        site = replace(store.site, redis=KilledClient(store.site.redis, round_trips))
        try:
            await home_indexes.fill(site)
            break
        except Killed:
            await store.site.rankings.read(store.site.redis)
            assert await findings(store) == []
        round_trips += 1

    assert before and site_ranked(redis) == before
    assert round_trips > 2 * store.site.partitions
    assert store.site.rankings.has_homes
    assert await findings(store) == []


async def made_before_homes(store, redis) -> dict[str, Any]:
    """
    Leave a store with weighted groups as a version before homes did: without indexes of these groups by the weights of
    the site, by which homes list their articles. Returns the indexes that it then lacks.
    """
    for group, weights in {"show": WEIGHTS, "ask": {"best_z": 2.0}}.items():
        await reindex.set_weights(store.site, group, weights, progress=lambda count: None)
    found = site_ranked(redis)
    redis.delete(*found)
    redis.hdel(keys.store(), config.HOMES_FIELD)
    await store.site.rankings.read(store.site.redis)
    assert not store.site.rankings.has_homes
    return found


def site_ranked(redis) -> dict[str, Any]:
    """The indexes of groups by the weights of the site, by key: each as pairs of a member and its value."""
    found = redis.scan_iter(f"{home_indexes.SITE_RANKED.name}:*")
    return {key: redis.zrange(key, 0, -1, withscores=True) for key in found}


class Killed(Exception):
    """The process ends."""


class KilledClient(RedisClient):
    """A client that raises Killed after `left` round trips, with half of the next one sent."""

    def __init__(self, connection: RedisClient, left: int) -> None:
        self._connection, self._left = connection, left

    async def run(self, command):
        return (await self.pipeline([command]))[0]

    async def pipeline(self, commands, server=None):
        self._left -= 1
        if self._left < 0:
            await self._connection.pipeline(commands[: len(commands) // 2])
            raise Killed
        return await self._connection.pipeline(commands, server)


async def killed(store: Store, orders, round_trips: int) -> bool:
    """Kill a reindex after so many round trips. Returns False if it ended before."""
    site = store.site
    try:
        await reindex.reindex(
            replace(site, redis=KilledClient(site.redis, round_trips)), orders, progress=lambda count: None
        )
    except Killed:
        await site.rankings.read(site.redis)
        return True
    return False


@pytest.mark.slow
async def test_reindex_that_is_killed_after_any_round_trip_damages_nothing(redis_url, redis, partitions, clock):
    store = await opened(redis_url, partitions, clock, FEW)
    articles = await history(store, seed=3, size=40)
    target, round_trips, unfinished = (Order.HOT, Order.GRAVITY), 0, 0
    while await killed(store, target, round_trips):
        unfinished += await reindex.is_unfinished(store.site)
        assert await findings(store) == []
        assert set(store.site.rankings.orders) <= {*FEW, *target}
        for order in store.site.rankings.orders:
            expected = sorted_by_hand(store, order, articles, clock.now)
            assert list((await page(store, listing_of(store, order, group=None))).positions) == expected[:25]
        await reindex.reindex(store.site, FEW, progress=lambda count: None)
        assert not await reindex.is_unfinished(store.site)
        assert indexes(redis) == set(config.orders_to_write(FEW).split())
        round_trips += 1

    assert 3 < unfinished < round_trips
    assert not await reindex.is_unfinished(store.site)
    assert indexes(redis) == set(config.orders_to_write(target).split())
    assert await findings(store) == []
    await store.close()


@pytest.mark.parametrize("seed", range(2))
async def test_group_is_ranked_by_its_own_weights(store, seed, clock):
    weights = WEIGHTS | {"gravity_votes": 1.1, "gravity_age": 0.5, "gravity_delay": 30.0}
    await reindex.set_weights(store.site, "ask", weights, progress=lambda count: None)
    articles = await history(store, seed, size=60)
    await reindex.set_weights(store.site, "show", weights, progress=lambda count: None)

    clock.now += 5 * HOUR
    for order in Order:
        for group in (None, "show", "ask"):
            listed = [each for each in articles if group is None or group in each.groups]
            expected = sorted_by_hand(store, order, listed, clock.now, group)
            await assert_pages(store, listing_of(store, order, group), expected, random.Random(seed))
    assert store.site.policy_of("ask") == Policy(**weights)
    assert await findings(store) == []


async def test_weights_change_while_users_vote(scene):
    store, chance = scene.store, random.Random(4)
    groups = ("show", "ask")

    async def change() -> None:
        changes = {name: chance.choice([None, value]) for name, value in WEIGHTS.items()}
        await reindex.set_weights(store.site, chance.choice(groups), changes, progress=lambda count: None)
        assert await findings(store) == []

    await meanwhile(scene, change)
    for group in groups:
        await reindex.set_weights(store.site, group, dict.fromkeys(WEIGHTS), progress=lambda count: None)
    assert store.site.rankings.weights == {}
    assert not any(scene.redis.hkeys(keys.ranking(partition)) for partition in range(store.site.partitions))
    assert not list(scene.redis.scan_iter(f"{keys.next_group.name}:*"))
    assert await findings(store) == []


async def test_readers_get_the_old_index_or_the_new_one_while_weights_change(store, alice, bob):
    numbers = [(await post(store, alice, groups=["show"])).number for _ in range(150)]
    for number in numbers[::7]:
        await store.articles.vote(number, bob, Vote.UP)
    listing = listing_of(store, Order.SCORE, "show")
    before = list((await page(store, listing)).positions)
    task = asyncio.create_task(
        reindex.set_weights(store.site, "show", {"vote_score": 1.0}, progress=lambda count: None)
    )
    seen = [before]
    while not task.done():
        seen.append(list((await page(store, listing)).positions))
    await task

    after = list((await page(store, listing)).positions)
    assert before != after and len(seen) > 2
    assert all(places in (before, after) for places in seen)


async def test_concurrent_rebuilds_are_completed_or_overtaken(scene):
    store = scene.store
    changes = [{"vote_score": float(value)} for value in (1, 2, 3)]
    ends = await asyncio.gather(
        *(reindex.set_weights(store.site, "show", change, progress=lambda count: None) for change in changes),
        *(
            reindex.reindex(store.site, orders, progress=lambda count: None)
            for orders in ([Order.SCORE], list(Order), FEW)
        ),
        return_exceptions=True,
    )

    assert {type(end) for end in ends} <= {Policy, type(None), RebuildOvertaken}
    assert any(isinstance(end, Policy) for end in ends[:3]) and None in ends[3:]
    await reindex.reindex(store.site, list(Order), progress=lambda count: None)
    assert await findings(store) == []


async def test_other_processes_get_new_orders_and_weights(store, redis_url, clock):
    other = await Store.open(redis_url, clock=clock)
    listening = event_connection.connect(redis_url, other.site)
    async with listening as listener, config.keep_current(other.site.rankings, other.site.redis, listener):
        await reindex.set_weights(store.site, "show", {"gravity_age": 1.0}, progress=lambda count: None)
        await reindex.reindex(store.site, FEW, progress=lambda count: None)
        async with asyncio.timeout(10):
            while other.site.rankings.orders != FEW or other.site.policy_of("show").gravity_age != 1:  # noqa: ASYNC110  # it has no event
                await asyncio.sleep(0.01)
    assert other.site.policy_of(None).gravity_age == 1.8
    await other.close()
