"""
Follows of users: the lists of followers and of followees, also where these are in two partitions.

A store is split into partitions by user: the partition of a user has all that the user owns.

Codes such as F2 after the names of tests are rows of `docs/behaviours.md`, which these tests prove.
"""

import asyncio

import pytest

from store import blocked, followed, listings
from store.articles import Draft
from store.errors import Invalid, NotFound, SelfFollow
from tests.conftest import registered
from tests.store.reading import everything, page

pytestmark = pytest.mark.many_partitions


async def listed(store, listing):
    """The names in a list of users, each with the time of the follow, newest first."""
    return [(position.member, position.value) for position in (await page(store, listing)).positions]


async def test_followers_and_following_change_together_newest_first(store, alice, bob, clock):  # F2, F11
    carol = await registered(store, "carol")
    await store.follows.follow(alice, "BOB")
    clock.advance(1)
    follow = await store.follows.follow(alice, carol)

    now = clock.now
    assert (follow.followee, follow.changed) == ("carol", True)
    assert await listed(store, listings.following(store.site, "ALICE")) == [("carol", now), ("bob", now - 1000)]
    assert await listed(store, listings.followers(store.site, "bob")) == [("Alice", now - 1000)]
    assert (await page(store, listings.following(store.site, alice))).total == 2


async def test_following_and_unfollowing_twice_change_nothing_more(store, alice, bob, clock, redis):  # F2
    await store.follows.follow(alice, bob)
    before = everything(redis)
    clock.advance(1)
    assert not (await store.follows.follow(alice, bob)).changed
    assert everything(redis) == before

    assert (await store.follows.unfollow(alice, bob)).changed
    before = everything(redis)
    assert not (await store.follows.unfollow(alice, bob)).changed
    assert everything(redis) == before
    assert await listed(store, listings.followers(store.site, bob)) == []


async def test_following_oneself_is_refused(store, alice, redis):  # F2
    before = everything(redis)

    for change in (store.follows.follow, store.follows.unfollow):
        with pytest.raises(SelfFollow):
            await change(alice, "aLICE")

    assert everything(redis) == before


async def test_following_a_blocked_user_is_refused_until_they_are_unblocked(store, alice, bob, redis):  # F2, H3
    await store.follows.follow(alice, bob)
    await blocked.block(store.site, alice, bob)
    assert await listed(store, listings.following(store.site, alice)) == []
    before = everything(redis)

    with pytest.raises(Invalid, match="you block bob: unblock them to follow them"):
        await store.follows.follow(alice, "BOB")
    assert not (await store.follows.unfollow(alice, bob)).changed
    assert everything(redis) == before

    assert (await store.follows.follow(bob, alice)).changed  # the blocked notice nothing
    await blocked.unblock(store.site, alice, bob)
    assert (await store.follows.follow(alice, bob)).changed


async def test_group_with_the_name_of_a_blocked_user_is_followed(store, alice, bob):
    await store.articles.post(bob, Draft("A title", "https://example.com/", groups=["bob"]))
    await blocked.block(store.site, alice, bob)

    assert (await store.follows.follow_group(alice, "bob")).changed


async def test_no_follow_outlives_a_block_that_begins_at_the_same_time(store, alice, bob):  # H3
    for _ in range(10):
        attempts = [store.follows.follow(alice, bob) for _ in range(3)]
        await asyncio.gather(*attempts, blocked.block(store.site, alice, bob), return_exceptions=True)

        assert await listed(store, listings.following(store.site, alice)) == []
        assert await listed(store, listings.followers(store.site, bob)) == []
        await blocked.unblock(store.site, alice, bob)


async def test_following_an_unknown_user_is_refused(store, alice, redis):  # F2
    before = everything(redis)

    with pytest.raises(NotFound):
        await store.follows.follow(alice, "nobody")

    assert everything(redis) == before


async def test_follow_with_one_side_is_completed_by_repeating_it(store, alice, bob, redis):  # F2
    """Only the list of the followee has it."""
    redis.zadd(followed.followers(store.site.partition_of_user(bob), bob), {"Alice": 1})

    assert (await store.follows.follow(alice, bob)).changed
    assert [name for name, _ in await listed(store, listings.following(store.site, alice))] == ["bob"]


async def test_concurrent_follows_are_all_stored(store, alice):  # F2
    fans = [await registered(store, f"fan-{each}") for each in range(50)]
    await asyncio.gather(*(store.follows.follow(fan, alice) for fan in fans * 2))

    assert (await page(store, listings.followers(store.site, alice))).total == 50
