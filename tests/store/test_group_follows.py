"""
Follows of groups. They have two sides, the groups that a user follows and the followers of a group, which may be in two
partitions.

A store is split into partitions by user: the partition of a user has all that the user owns.

Codes such as H6 after the names of tests are rows of `docs/behaviours.md`, which these tests prove.
"""

import asyncio
import random

import pytest

from store import effects, home, keys
from store.errors import Banned, Invalid, NotFound, Unauthenticated
from store.followed import MAX_GROUPS
from store.sessions import parse_token
from tests.conftest import registered
from tests.store.reading import everything, post

pytestmark = pytest.mark.many_partitions

GROUPS = ("ask", "lua", "show")


@pytest.fixture
async def groups(store, alice):
    for group in GROUPS:
        await post(store, alice, groups=[group])


async def read(store, wanted):
    """The result of a read of the store."""
    return wanted.result(await store.site.redis.run(wanted.command))


async def followed_by(store, username):
    return await read(store, home.groups(store.site, username))


async def count(store, group):
    """How many users follow a group."""
    return await read(store, home.follower_count(store.site, group))


async def test_follow_shows_on_both_sides_at_once(store, groups, alice, bob):  # H6
    follow = await store.follows.follow_group(bob, "LUA")

    assert (follow.follower, follow.followee, follow.changed) == ("bob", "lua", True)
    assert await followed_by(store, "BOB") == ["lua"]
    assert [await count(store, group) for group in GROUPS] == [0, 1, 0]
    assert await read(store, home.follows_group(store.site, bob, "lua"))
    assert not await read(store, home.follows_group(store.site, alice, "lua"))


async def test_second_follow_or_unfollow_changes_nothing_more(store, groups, bob, clock, redis):  # H6
    await store.follows.follow_group(bob, "lua")
    before = everything(redis)
    clock.advance(1)
    assert not (await store.follows.follow_group(bob, "lua")).changed
    assert everything(redis) == before

    assert (await store.follows.unfollow_group(bob, "lua")).changed
    before = everything(redis)
    assert not (await store.follows.unfollow_group(bob, "lua")).changed
    assert everything(redis) == before
    assert (await followed_by(store, bob), await count(store, "lua")) == ([], 0)


async def test_unknown_and_impossible_groups_are_refused(store, groups, bob, redis):  # H6
    before = everything(redis)

    with pytest.raises(NotFound, match="there is no group:nowhere"):
        await store.follows.follow_group(bob, "Nowhere")
    for change in (store.follows.follow_group, store.follows.unfollow_group):
        with pytest.raises(Invalid, match="a group's name is"):
            await change(bob, "a b")
    assert everything(redis) == before


async def test_listed_group_without_articles_is_followed(store, bob):  # H6
    await store.groups.add("empty")

    assert (await store.follows.follow_group(bob, "empty")).changed


async def test_group_that_no_longer_exists_can_be_unfollowed(store, bob):  # H6
    await store.groups.add("empty")
    await store.follows.follow_group(bob, "empty")
    await store.groups.remove("empty")

    assert (await store.follows.unfollow_group(bob, "empty")).changed
    assert await followed_by(store, bob) == []


async def test_at_most_500_groups_are_followed(store, bob, redis):  # H6
    names = [f"group-{each}" for each in range(MAX_GROUPS + 8)]
    for name in names:
        redis.zadd(keys.groups(0), {name: 0})  # as if partition 0 had an article of the group
    given = await asyncio.gather(*(store.follows.follow_group(bob, name) for name in names), return_exceptions=True)
    refused = [each for each in given if isinstance(each, Invalid)]
    before = everything(redis)

    assert len(refused) == 8 and "you follow 500 groups" in refused[0].message
    assert len(await followed_by(store, bob)) == MAX_GROUPS
    known = await followed_by(store, bob)
    with pytest.raises(Invalid):
        await store.follows.follow_group(bob, next(name for name in names if name not in known))
    assert not (await store.follows.follow_group(bob, known[0])).changed
    assert everything(redis) == before


async def test_sides_agree_after_concurrent_changes(store, groups, clock):  # H6
    people = [await registered(store, f"fan-{each}") for each in range(12)]

    async def change(seed):
        chance = random.Random(seed)
        for _ in range(30):
            command = store.follows.follow_group if chance.random() < 0.6 else store.follows.unfollow_group
            await command(chance.choice(people), chance.choice(GROUPS))

    await asyncio.gather(*map(change, range(8)))

    own = {name: await followed_by(store, name) for name in people}
    assert [await count(store, group) for group in GROUPS] == [
        sum(group in names for names in own.values()) for group in GROUPS
    ]
    assert any(own.values()) and await effects.pending(store.site) == []


async def test_followers_that_a_dead_process_left_in_the_log_are_counted(store, groups, bob, monkeypatch):  # H6
    async def do_nothing(*arguments):
        """The process ends before it writes the side of the group."""

    with monkeypatch.context() as patched:
        patched.setattr(effects, "apply", do_nothing)
        patched.setattr(effects, "apply_missing", do_nothing)
        for group in GROUPS:
            await store.follows.follow_group(bob, group)
        await store.follows.unfollow_group(bob, "lua")
    await effects.complete(store.site)

    assert [await count(store, group) for group in GROUPS] == [1, 0, 1]


async def test_banned_and_logged_out_users_follow_no_group(store, groups, bob, redis):
    session = parse_token((await store.sessions.open(bob)).token)
    assert session is not None
    account = keys.user(store.site.partition_of_user(bob), bob)
    redis.hset(account, "bans", "site=0")  # from the whole site, for good
    before = everything(redis)
    with pytest.raises(Banned):
        await store.follows.follow_group(session, "lua")
    assert everything(redis) == before

    await store.sessions.close(session)
    redis.hdel(account, "bans")
    before = everything(redis)
    with pytest.raises(Unauthenticated):
        await store.follows.follow_group(session, "lua")
    assert everything(redis) == before
