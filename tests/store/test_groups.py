"""
Groups: what is written about them, whether the site lists them, and which groups take articles. A group exists while it
has articles or is listed. With UPVOTE_GROUPS=listed only listed groups take articles.

A store is split into partitions by user: the partition of a user has all that the user owns. `verified`
gives what `upvote verify` finds wrong in the store.

Codes such as M1 after the names of tests are rows of `docs/behaviours.md`, which these tests prove.
"""

import asyncio

import pytest

from resolvers.dataloader import Reads
from resolvers.groups import all_names
from store import keys, log, roles
from store.articles import Draft
from store.client.client import RedisUsage, current_usage
from store.errors import Banned, Invalid, NotAModerator, StoreUnavailable, Unauthenticated
from store.maintenance.write_lock import WriteLock
from store.moderation_records import Role
from store.records import GroupDescription
from store.roles import OPERATOR
from store.sessions import parse_token
from store.site import Session
from store.store import Store
from tests.conftest import registered
from tests.store.reading import article, everything, post, verified

pytestmark = pytest.mark.many_partitions

NAMES = ["ask", "show", "graphics", "lua", "music"]  # in several of 8 partitions


@pytest.fixture
async def listed(redis_url, store, clock):
    """The same store as `store`, in a process with UPVOTE_GROUPS=listed."""
    other = await Store.open(redis_url, store.site.policy, store.site.partitions, clock=clock, only_listed_groups=True)
    yield other
    await other.close()


async def granted(store, username, role, group=None):
    await roles.grant(store.site, OPERATOR, username, role, group=group, reason="a reason")


async def session_of(store, username):
    return parse_token((await store.sessions.open(username)).token)


async def description(store, name):
    """What is written about a group; None if nothing is, and it is not listed."""
    return (await Reads(store, login=None).group_descriptions([name]))[0]


async def test_texts_of_a_group_are_added_changed_and_removed(store, clock):
    listed_at = clock.now
    assert await store.groups.add("Lua", {"title": " Lua and its kin ", "about": "Small *languages*.\nAll of them."})
    assert await description(store, "lua") == GroupDescription(
        title="Lua and its kin", about="Small *languages*.\nAll of them.", created_at=listed_at, listed_at=listed_at
    )

    clock.advance(5)
    assert await store.groups.add("lua", {"title": ""})
    assert await description(store, "lua") == GroupDescription(
        title=None, about="Small *languages*.\nAll of them.", created_at=listed_at, listed_at=listed_at
    )
    assert await description(store, "show") is None


async def test_equal_edit_changes_nothing(store, redis):
    await store.groups.add("lua", {"title": "Lua"})
    before = everything(redis)

    assert not await store.groups.add("LUA", {"title": "Lua"})
    assert not await store.groups.add("lua")
    assert not await store.groups.remove("show")
    assert everything(redis) == before


@pytest.mark.parametrize(
    ("group", "changes", "fields"),
    [
        ("-lua", {}, ["group"]),
        ("lua", {"title": "x" * 101}, ["title"]),
        ("lua", {"title": "\u200b"}, ["title"]),
        ("lua", {"title": "a\u202eb"}, ["title"]),
        ("lua", {"title": "a\x07b"}, ["title"]),
        ("lua", {"about": "x" * 5_001}, ["about"]),
        ("lua", {"about": " \n"}, ["about"]),
        ("lua", {"about": "\x00"}, ["about"]),
        ("", {"title": "x" * 101, "about": "\x00"}, ["group", "title", "about"]),
    ],
)
async def test_malformed_texts_are_refused(store, redis, group, changes, fields):
    before = everything(redis)

    with pytest.raises(Invalid) as refusal:
        await store.groups.add(group, changes)

    assert [each.field[0] for each in (refusal.value, *refusal.value.others)] == fields
    assert everything(redis) == before


async def test_longest_texts_are_kept(store):
    await store.groups.add("lua", {"title": "x" * 100, "about": "x" * 5_000})

    found = await description(store, "lua")
    assert (found.title, found.about) == ("x" * 100, "x" * 5_000)


async def test_each_edit_is_an_entry_with_all_values(store, clock):
    first = str(clock.now)
    await store.groups.add("lua", {"title": "Lua", "about": "What?"})
    clock.advance(1)
    await store.groups.remove("lua")

    site = store.site
    entries = await log.read(site, site.partition_of_group("lua"), log.START, count=10)
    found = [(entry.kind, entry.actor, entry.subject, entry.values) for entry in entries]
    texts = {"created": first, "title": "Lua", "about": "What?"}
    assert found == [
        ("group_edited", "operator", "group:lua", {**texts, "listed": first}),
        ("group_edited", "operator", "group:lua", {**texts, "listed": ""}),
    ]


async def test_listed_groups_are_found_without_articles(store, alice):
    for name in ("music", "lua"):
        await store.groups.add(name)
    await post(store, alice, groups=["show", "lua"])

    assert list(await store.groups.listed()) == ["lua", "music"]
    assert await all_names(Reads(store, login=None)) == ["lua", "music", "show"]


async def test_group_stays_as_long_as_it_has_articles_or_is_listed(store, alice):
    """Whatever ends first, and where the articles and the description of a group are."""
    for name in NAMES:
        await store.groups.add(name)
    number = (await post(store, alice, groups=NAMES)).number

    await store.groups.remove("ask")
    await store.articles.regroup(number, alice, add=[], remove=["show", "ask"])
    await store.groups.remove("lua")
    assert await all_names(Reads(store, login=None)) == ["graphics", "lua", "music", "show"]

    await store.groups.remove("music")
    await store.articles.delete(number, alice)
    assert await all_names(Reads(store, login=None)) == ["graphics", "show"]
    assert await verified(store) == []


async def test_descriptions_of_many_groups_are_one_round_trip_and_then_cached(store):
    for name in NAMES:
        await store.groups.add(name, {"title": name.upper()})
    usage = RedisUsage()
    current_usage.set(usage)
    reads = Reads(store, login=None)

    both = await asyncio.gather(reads.group_descriptions(NAMES), reads.group_descriptions(NAMES[:2]))
    assert [each.title for each in both[0]] == [name.upper() for name in NAMES]
    assert both[1] == both[0][:2]
    assert (usage.round_trips, usage.commands) == (1, len(NAMES))

    await store.groups.add("lua", {"title": "changed"})
    assert (await Reads(store, login=None).group_descriptions(["lua"]))[0].title == "changed"


async def test_moderators_edit_their_group_and_do_not_list_it(store, alice, bob, clock):
    await granted(store, alice, Role.MODERATOR, "lua")
    await granted(store, bob, Role.MODERATOR)

    assert await store.groups.edit(alice, "LUA", {"title": "Lua"}) == "lua"
    assert await store.groups.edit(await session_of(store, bob), "lua", {"about": "Languages."}) == "lua"
    assert await description(store, "lua") == GroupDescription(
        title="Lua", about="Languages.", created_at=clock.now, listed_at=None
    )
    assert await all_names(Reads(store, login=None)) == []
    entries = await log.read(store.site, store.site.partition_of_group("lua"), log.START, count=100)
    assert [entry.actor for entry in entries if entry.kind == "group_edited"] == ["Alice", "bob"]


async def test_edit_by_an_admin_lists_the_group(store, alice, bob, clock):
    await granted(store, bob, Role.MODERATOR, "lua")
    await store.groups.edit(bob, "lua", {"title": "Lua"})
    clock.advance(7)
    await granted(store, alice, Role.ADMIN)
    await store.groups.edit(await session_of(store, alice), "lua", {})
    await store.groups.edit(alice, "admin", {"title": "The desk"})

    assert await description(store, "lua") == GroupDescription(
        title="Lua", about=None, created_at=clock.now - 7_000, listed_at=clock.now
    )
    assert await all_names(Reads(store, login=None)) == ["admin", "lua"]
    assert await verified(store) == []


async def test_others_may_not_edit_a_group(store, alice, bob, redis):
    await store.groups.add("lua", {"title": "Lua"})
    await granted(store, alice, Role.MODERATOR, "show")
    ended = Session("0" * 64, slot=7)
    before = everything(redis)

    for editor in (alice, bob):
        with pytest.raises(NotAModerator, match="only moderators of the group lua and admins"):
            await store.groups.edit(editor, "lua", {"title": "mine"})
    with pytest.raises(Unauthenticated):
        await store.groups.edit(ended, "lua", {"title": "mine"})
    with pytest.raises(Invalid):
        await store.groups.edit(alice, "show", {"title": "x" * 101})
    assert everything(redis) == before


async def test_edit_after_a_revocation_is_refused_in_every_process(store, listed, alice, redis):  # M1
    """Also in a process whose cache has the roles from before, and with a session from before."""
    await granted(store, alice, Role.MODERATOR, "lua")
    session = await session_of(store, alice)
    await Reads(listed, login=None).profiles([alice])
    await listed.groups.edit(session, "lua", {"title": "Lua"})

    await roles.revoke(store.site, OPERATOR, alice, Role.MODERATOR, group="lua", reason="a reason")
    before = everything(redis)
    with pytest.raises(NotAModerator):
        await listed.groups.edit(session, "lua", {"title": "mine"})
    assert everything(redis) == before


async def test_revocation_while_an_edit_is_under_way_is_seen_by_the_script(store, alice, redis):  # M1
    """So it is where one partition has the editor and the group, as it always does in a store of one partition."""
    site = store.site
    name = next(
        each for each in (*NAMES, *"abcdefghijklm") if site.partition_of_group(each) == site.partition_of_user(alice)
    )
    await granted(store, alice, Role.MODERATOR, name)
    read_before = await roles.read_authority(site, alice)
    await roles.revoke(site, OPERATOR, alice, Role.MODERATOR, group=name, reason="a reason")
    before = everything(redis)

    with pytest.raises(NotAModerator):
        await store.groups.edit(read_before, name, {"title": "mine"})
    assert everything(redis) == before


async def test_banned_moderator_may_not_edit(store, alice, redis):  # M1
    await granted(store, alice, Role.MODERATOR, "lua")
    partition = store.site.partition_of_user(alice)
    redis.hset(keys.user(partition, alice), "bans", "site=0")  # from the whole site, for good
    before = everything(redis)

    with pytest.raises(Banned):
        await store.groups.edit(alice, "lua", {"title": "mine"})
    assert everything(redis) == before


async def test_closed_store_takes_no_edits(store):
    await WriteLock(store.site).acquire()

    with pytest.raises(StoreUnavailable):
        await store.groups.add("lua")


async def test_post_to_a_group_that_is_not_listed_is_refused(listed, alice, redis):
    await listed.groups.add("lua")
    before = everything(redis)

    with pytest.raises(Invalid) as refusal:
        await listed.articles.post(alice, Draft("a title", content="text", groups=("show", "lua", "ask")))

    refused = [refusal.value, *refusal.value.others]
    assert [(each.field, each.message.partition(":")[0]) for each in refused] == [
        (("groups",), "the group ask is not listed"),
        (("groups",), "the group show is not listed"),
    ]
    assert everything(redis) == before
    assert (await post(listed, alice, groups=["lua"])).groups == ("lua",)


async def test_regroup_to_a_group_that_is_not_listed_is_refused(store, listed, alice, redis):
    await listed.groups.add("lua")
    number = (await post(store, alice, groups=["show"])).number
    before = everything(redis)

    with pytest.raises(Invalid) as refusal:
        await listed.articles.regroup(number, alice, add=["lua", "ask"], remove=[])

    assert (refusal.value.field, refusal.value.others) == (("add",), [])
    assert everything(redis) == before
    assert (await listed.articles.regroup(number, alice, add=["lua", "show"], remove=[])).groups == ("lua", "show")
    assert (await listed.articles.regroup(number, alice, add=["ask"], remove=["ask", "show"])).groups == ("lua",)


async def test_every_process_knows_a_listed_group_at_once(store, listed, alice):
    """Also one whose cache has read the description before."""
    with pytest.raises(Invalid):
        await post(listed, alice, groups=["lua"])
    await Reads(listed, login=None).group_descriptions(["lua"])

    await store.groups.add("lua")
    assert (await post(listed, alice, groups=["lua"])).groups == ("lua",)
    await Reads(listed, login=None).group_descriptions(["lua"])
    await store.groups.remove("lua")
    with pytest.raises(Invalid):
        await post(listed, alice, groups=["lua"])


async def test_post_is_replayed_after_its_group_left_the_list(listed, alice):
    await listed.groups.add("lua")
    draft = Draft("a title", content="text", groups=("lua",))
    first = await listed.articles.post(alice, draft, "a key")
    await listed.groups.remove("lua")

    again = await listed.articles.post(alice, draft, "a key")
    assert (again.replayed, again.number) == (True, first.number)


@pytest.mark.parametrize("name", ["admin", "mod_erators", "security"])
async def test_new_group_with_a_reserved_name_is_refused(store, alice, redis, name):
    number = (await post(store, alice, groups=["show"])).number
    before = everything(redis)

    with pytest.raises(Invalid, match=f"the name {name} is reserved") as posting:
        await post(store, alice, groups=["show", name])
    with pytest.raises(Invalid, match=f"the name {name} is reserved") as regrouping:
        await store.articles.regroup(number, alice, add=[name], remove=[])

    assert (posting.value.field, regrouping.value.field) == (("groups",), ("add",))
    assert everything(redis) == before


async def test_group_with_a_reserved_name_that_is_there_takes_articles(store, alice, redis_url, clock):
    """An admin has made it, or it is older than the reservation, and its articles are in any partition."""
    await store.groups.add("security")
    assert (await post(store, alice, groups=["security"])).groups == ("security",)

    await post(store, await registered(store, "bob"), groups=["lobby"])
    site = store.site
    later = await Store.open(
        redis_url, site.policy, site.partitions, clock=clock, reserved_names=["The Lobby", "lobby"]
    )
    assert (await post(later, alice, groups=["lobby"])).groups == ("lobby",)
    with pytest.raises(Invalid):
        await post(later, alice, groups=["the-lobby"])
    await later.close()


async def test_groups_are_checked_without_a_further_round_trip_where_the_script_sees_them(store, listed, alice):
    """With several partitions one more reads them all; nothing is read for usual names of an open site."""
    for name in NAMES:
        await listed.groups.add(name)
    trips = []
    for each in (store, listed):
        usage = RedisUsage()
        current_usage.set(usage)
        await post(each, alice, groups=NAMES)
        trips.append(usage.round_trips)

    assert trips[1] - trips[0] == (store.site.partitions > 1)


async def test_article_in_a_group_that_left_the_list_stays(listed, alice):
    await listed.groups.add("lua")
    number = (await post(listed, alice, groups=["lua"])).number
    await listed.groups.remove("lua")

    assert (await article(listed, number)).groups == ("lua",)
    assert (await listed.articles.regroup(number, alice, add=["lua"], remove=[])).groups == ("lua",)
    assert await all_names(Reads(listed, login=None)) == ["lua"]
