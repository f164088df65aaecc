"""
Profiles, which are what users write about themselves: what is accepted, where it is kept, and how it is deleted.

D6 is a row of `docs/behaviours.md`, which these tests prove.
"""

import asyncio

import pytest

from store import bans, keys, leaving, log
from store.errors import Banned, Invalid, StoreUnavailable, Unauthenticated
from store.roles import OPERATOR
from store.sessions import new_token, parse_token
from tests.store.reading import everything, profile
from tests.support.memory import full

pytestmark = pytest.mark.many_partitions

PROFILE = {"display_name": "Alice A.", "about": "Writes *Lua*.\nReads.", "avatar_url": "https://pictures.example/a.png"}


async def texts(store, username):
    """The texts of a profile, by field."""
    found = await profile(store, username)
    return {field: getattr(found, field) for field in PROFILE}


async def logged_edits(store, username):
    """Actor, subject and values of each edit of a profile in the log of a user's partition."""
    entries = await log.read(store.site, store.site.partition_of_user(username), log.START, count=100)
    return [(entry.actor, entry.subject, entry.values) for entry in entries if entry.kind == "profile_edited"]


async def test_profile_is_kept_as_written(store, alice):
    assert await store.users.edit_profile("Alice", PROFILE) == "Alice"

    assert await texts(store, alice) == PROFILE
    assert await logged_edits(store, alice) == [("Alice", "user:alice", PROFILE)]


async def test_only_given_fields_change_and_an_empty_text_removes_one(store, alice, redis):
    await store.users.edit_profile(alice, PROFILE)
    await store.users.edit_profile(alice, {"about": ""})

    assert await texts(store, alice) == PROFILE | {"about": None}
    assert not redis.hexists(keys.user(store.site.partition_of_user(alice), alice), "about")
    assert (await logged_edits(store, alice))[-1][2] == PROFILE | {"about": ""}


async def test_equal_edit_changes_nothing(store, alice, redis):
    await store.users.edit_profile(alice, PROFILE)
    before = everything(redis)

    assert await store.users.edit_profile(alice, PROFILE) == alice
    assert await store.users.edit_profile(alice, {}) == alice
    assert everything(redis) == before


@pytest.mark.parametrize(
    ("changes", "fields"),
    [
        ({"display_name": "x" * 51}, ["displayName"]),
        ({"display_name": " \u200b "}, ["displayName"]),
        ({"display_name": "two\nlines"}, ["displayName"]),
        ({"display_name": "\u202ereversed"}, ["displayName"]),
        ({"display_name": "Ad-Min"}, ["displayName"]),
        ({"about": "x" * 1_001}, ["about"]),
        ({"about": "\u2800"}, ["about"]),
        ({"about": "a\x00b"}, ["about"]),
        ({"avatar_url": "javascript:alert(1)"}, ["avatarUrl"]),
        ({"avatar_url": "/a.png"}, ["avatarUrl"]),
        ({"avatar_url": "https://u:p@pictures.example/a.png"}, ["avatarUrl"]),
        ({"avatar_url": "https://pictures.example/" + "x" * 2_000}, ["avatarUrl"]),
        ({"display_name": "x" * 51, "about": "x" * 1_001, "avatar_url": "x"}, ["displayName", "about", "avatarUrl"]),
    ],
)
async def test_refused_edit_says_what_and_changes_nothing(store, alice, redis, changes, fields):
    before = everything(redis)

    with pytest.raises(Invalid) as refusal:
        await store.users.edit_profile(alice, changes)

    assert [each.field for each in (refusal.value, *refusal.value.others)] == [(field,) for field in fields]
    assert everything(redis) == before


@pytest.mark.parametrize("about", ["x" * 1_000, "日" * 1_000, "👍🏽"])
async def test_longest_texts_and_other_scripts_are_accepted(store, alice, about):
    await store.users.edit_profile(alice, {"about": about, "display_name": "x" * 50})

    assert (await texts(store, alice))["about"] == about


async def test_ended_session_and_banned_user_edit_nothing(store, alice, redis):
    session = parse_token((await store.sessions.open(alice)).token)
    await bans.ban(store.site, OPERATOR, alice, group=None, until=None, reason="noise")
    other = parse_token((await store.sessions.open(alice)).token)
    before = everything(redis)

    for actor, refusal in (
        (session, Unauthenticated),
        (parse_token(new_token(alice)), Unauthenticated),
        (other, Banned),
    ):
        with pytest.raises(refusal):
            await store.users.edit_profile(actor, PROFILE)
    assert everything(redis) == before


async def test_edits_at_once_leave_one_of_them_whole(store, alice):
    edits = [{"display_name": f"name {n}", "about": f"about {n}"} for n in range(20)]
    await asyncio.gather(*(store.users.edit_profile(alice, edit) for edit in edits))

    found = await texts(store, alice)
    assert {field: found[field] for field in edits[0]} in edits
    assert len(await logged_edits(store, alice)) == 20


async def test_deleted_user_loses_the_profile_also_in_the_log(store, alice, redis):
    await store.users.edit_profile(alice, PROFILE)
    await store.users.edit_profile(alice, {"about": "another text"})
    await leaving.begin(store.site, alice, password_hash="", removes_texts=False)

    assert await profile(store, alice) is None
    assert await logged_edits(store, alice) == []
    account = keys.user(store.site.partition_of_user(alice), alice)
    assert redis.hmget(account, *PROFILE) == [None] * 3
    assert not redis.exists(keys.logged(store.site.partition_of_user(alice)))  # ids of entries with texts


async def test_user_whose_name_is_a_number_is_not_taken_for_an_article(store, redis):
    """
    The hash `logged` has the ids of entries with texts, which a deletion removes from the log: of articles by number,
    of users by `user:NAME`. When the entries of the user 1024 end, what it has of article 1024 stays.
    """
    await store.users.register("1024", "correct horse")
    partition = store.site.partition_of_user("1024")
    redis.hset(keys.logged(partition), "1024", "1-0")
    await store.users.edit_profile("1024", PROFILE)
    await log.trim(store.site, kept_ms=0, max_entries=0)

    assert redis.hgetall(keys.logged(partition)) == {"1024": "1-0"}


@pytest.mark.one_server
@pytest.mark.parametrize("earlier", [{}, PROFILE])
async def test_full_store_refuses_edits_of_a_profile(store, alice, redis, earlier):  # D6
    await store.users.edit_profile(alice, earlier)
    before = everything(redis)

    with full(redis), pytest.raises(StoreUnavailable, match="out of memory"):
        await store.users.edit_profile(alice, {"display_name": "", "about": "Sings."})
    assert everything(redis) == before
