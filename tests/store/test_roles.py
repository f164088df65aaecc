"""
Roles, of admins and of moderators of the site or a group: who grants and revokes them, and what is kept of it. OPERATOR
is who runs the commands of the server. An actor may also be a username or a session.

A store is split into partitions by user: the partition of a user has all that the user owns.

Codes such as M1 after the names of tests are rows of `docs/behaviours.md`, which these tests prove.
"""

import asyncio

import pytest

from store import keys, moderation, roles
from store.errors import Banned, Invalid, NotAModerator, NotFound, Unauthenticated
from store.moderation import Moderated
from store.moderation_records import ModerationAction, ModerationKind, Role, RoleGrant
from store.roles import OPERATOR
from store.sessions import parse_token
from tests.conftest import registered
from tests.store.reading import everything, numbers, page, profile

pytestmark = pytest.mark.many_partitions


async def granted(store, username, role=Role.ADMIN, group=None):
    """The action by which the operator gives a user a role."""
    return (await roles.grant(store.site, OPERATOR, username, role, group=group, reason="a reason")).action


async def session_of(store, username):
    return parse_token((await store.sessions.open(username)).token)


def ban(store, redis, username, words):
    """
    Write bans as the command does: to the user and to all sessions. They are words `site=UNTIL` or `group:NAME=UNTIL`,
    in unix milliseconds or 0 for good.
    """
    site = store.site
    partition = site.partition_of_user(username)
    redis.hset(keys.user(partition, username), "bans", words)
    for digest in redis.zrange(keys.sessions(partition, username), 0, -1):
        redis.set(keys.session(partition, digest), f"{redis.get(keys.session(partition, digest))} {words}")


async def test_role_is_granted_and_recorded(store, alice, bob, clock):
    first = await granted(store, alice)
    clock.advance(1)
    second = (await roles.grant(store.site, alice, "BOB", Role.MODERATOR, group="Show", reason=" a good eye ")).action

    assert (first.moderator, first.kind, first.subject_id) == ("operator", ModerationKind.GRANT_ROLE, "user:alice")
    assert second == ModerationAction(
        number=second.number,
        kind=ModerationKind.GRANT_ROLE,
        at=clock.now,
        moderator="Alice",
        subject_id="user:bob",
        group="show",
        reason="a good eye",
        note=None,
        expires_at=None,
        role=Role.MODERATOR,
        reverts=None,
        reverted_by=None,
        ban=None,
        removes_texts=False,
    )
    assert second.number % keys.SLOTS == keys.slot("bob")
    assert (await profile(store, "bob")).roles == (RoleGrant(Role.MODERATOR, "show", clock.now),)
    assert [each.member for each in (await page(store, roles.moderators(store.site, "show"))).positions] == ["bob"]
    assert await roles.admins(store.site) == ["Alice"]


async def test_actions_are_listed_by_scope_newest_first(store, alice, bob, clock):
    made = []
    for username, group in ((alice, None), (bob, "show"), (bob, "ask")):
        clock.advance(1)
        made.append((await granted(store, username, Role.MODERATOR, group)).number)

    for scope, expected in (("all", made[::-1]), ("group:show", made[1:2]), ("user:bob", [made[2], made[1]])):
        assert await numbers(store, moderation.log(store.site, scope)) == expected


async def test_role_that_is_held_is_not_granted_again(store, redis, alice):
    action = await granted(store, alice)
    before = everything(redis)

    assert await roles.grant(store.site, OPERATOR, alice, Role.ADMIN, group=None, reason="again") == (action, False)
    assert everything(redis) == before


async def test_role_that_is_not_held_is_not_revoked(store, redis, alice):
    before = everything(redis)

    assert await roles.revoke(store.site, OPERATOR, alice, Role.MODERATOR, group=None, reason="a reason") == (
        None,
        False,
    )
    assert everything(redis) == before


async def test_revoked_role_is_gone_and_others_stay(store, redis, alice, bob):
    await granted(store, alice)
    for group in (None, "show", "ask"):
        await granted(store, bob, Role.MODERATOR, group)
    revoked = await roles.revoke(store.site, alice, bob, Role.MODERATOR, group="show", reason="a reason")

    assert revoked.changed
    assert revoked.action.kind is ModerationKind.REVOKE_ROLE
    assert [(each.role, each.group) for each in (await profile(store, bob)).roles] == [
        (Role.MODERATOR, None),
        (Role.MODERATOR, "ask"),
    ]
    assert await roles.granted(store.site, "show") == []


@pytest.mark.parametrize("role", [None, Role.MODERATOR])
async def test_only_admins_grant_and_revoke(store, redis, alice, bob, role):
    if role:
        await granted(store, bob, role)
    before = everything(redis)

    for command in (roles.grant, roles.revoke):
        for username in (alice, bob):
            with pytest.raises(NotAModerator):
                await command(store.site, bob, username, Role.MODERATOR, group=None, reason="a reason")
    assert everything(redis) == before


async def test_revoked_admin_is_refused_at_once(store, redis, alice, bob):  # M1
    await granted(store, alice)
    await granted(store, bob)
    session = await session_of(store, bob)
    await roles.revoke(store.site, alice, bob, Role.ADMIN, group=None, reason="a reason")
    before = everything(redis)

    with pytest.raises(NotAModerator):
        await roles.grant(store.site, session, bob, Role.ADMIN, group=None, reason="a reason")
    assert everything(redis) == before


async def test_role_that_was_revoked_after_it_was_read_is_refused_in_the_home_partition(store, redis, alice, bob):  # M1
    await granted(store, alice)
    await granted(store, bob)
    authority = await roles.read_authority(store.site, bob)
    await roles.revoke(store.site, alice, bob, Role.ADMIN, group=None, reason="a reason")

    with pytest.raises(NotAModerator):
        await roles.grant(store.site, authority, bob, Role.MODERATOR, group=None, reason="a reason")


async def test_last_admin_is_not_revoked(store, redis, alice):
    await granted(store, alice)
    before = everything(redis)

    for actor in (alice, OPERATOR):
        with pytest.raises(Invalid, match="Alice is the last admin"):
            await roles.revoke(store.site, actor, alice, Role.ADMIN, group=None, reason="a reason")
    assert everything(redis) == before


async def test_one_of_two_admins_who_revoke_each_other_stays(store, alice, bob):
    for _ in range(5):
        for each in (alice, bob):
            await granted(store, each)
        done = await asyncio.gather(
            roles.revoke(store.site, alice, bob, Role.ADMIN, group=None, reason="a reason"),
            roles.revoke(store.site, bob, alice, Role.ADMIN, group=None, reason="a reason"),
            return_exceptions=True,
        )

        assert len(await roles.admins(store.site)) == 1
        assert sorted(isinstance(each, Moderated) for each in done) == [False, True]


async def test_wrong_input_changes_nothing(store, redis, alice):
    before = everything(redis)

    with pytest.raises(NotFound, match="there is no user:nobody"):
        await roles.grant(store.site, OPERATOR, "Nobody", Role.ADMIN, group=None, reason="a reason")
    with pytest.raises(Invalid, match="an admin is one of the whole site"):
        await roles.grant(store.site, OPERATOR, alice, Role.ADMIN, group="show", reason="a reason")
    with pytest.raises(Invalid, match="a group's name"):
        await roles.grant(store.site, OPERATOR, alice, Role.MODERATOR, group="no group", reason="a reason")
    for reason in ("", "  ", "x" * 1_001, "a\x00b"):
        with pytest.raises(Invalid) as refused:
            await roles.grant(store.site, OPERATOR, alice, Role.ADMIN, group=None, reason=reason)
        assert refused.value.field == ("reason",)
    assert everything(redis) == before


async def test_ended_session_and_banned_admin_are_refused(store, redis, alice, bob, clock):  # M1, M6
    await granted(store, alice)
    await granted(store, bob)
    session = await session_of(store, alice)
    ban(store, redis, alice, f"group:show=0 site={clock.now + 1000}")
    before = everything(redis)

    for actor in (alice, session):
        with pytest.raises(Banned) as refused:
            await roles.grant(store.site, actor, alice, Role.MODERATOR, group=None, reason="a reason")
        assert (refused.value.until, refused.value.group) == (clock.now + 1000, None)
    assert everything(redis) == before
    clock.advance(1)
    assert (await roles.grant(store.site, session, alice, Role.MODERATOR, group=None, reason="a reason")).changed
    clock.advance(store.site.session_lifetime + 1)
    with pytest.raises(Unauthenticated):
        await roles.grant(store.site, session, alice, Role.MODERATOR, group=None, reason="a reason")


async def test_grant_is_published_with_its_entry(store, alice, published):
    action = await granted(store, alice, Role.MODERATOR, "show")

    message, notified = published()

    assert notified == f"notified {action.number} {alice}"
    kind, number, moderator, id, group = message.split()
    partition = store.site.partition_of_user(alice)
    ((found, entry),) = await store.site.redis.run(("XREVRANGE", keys.log(partition), "+", "-", "COUNT", 1))
    assert (kind, number, moderator, id, group) == ("moderated", str(action.number), "operator", found, "show")
    assert dict(zip(entry[::2], entry[1::2], strict=True)) == {
        "kind": "moderated", "at": str(action.at), "actor": "operator", "subject": action.id,
        "action": "grant_role", "subject_id": "user:alice", "group": "show", "reason": "a reason", "role": "moderator",
        "notified": f"moderation:alice:{keys.slot(alice)}:{action.at}",
    }  # fmt: skip


async def test_operator_cannot_be_registered(store):
    with pytest.raises(Invalid, match="the username operator is reserved"):
        await store.users.register("operator", "correct horse")


async def test_imported_user_with_the_name_of_the_operator_is_no_admin(store, alice):
    await registered(store, "operator")

    with pytest.raises(NotAModerator):
        await roles.grant(store.site, "operator", alice, Role.ADMIN, group=None, reason="a reason")
