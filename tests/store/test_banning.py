"""
Bans from the site or from a group: who bans whom, what a banned user is refused, and when a ban ends. A ban is an
action of a moderator. An actor is a username or a session; OPERATOR is who runs the commands of the server.

A store is split into partitions by user: the partition of a user has all that the user owns. `verified`
gives what `upvote verify` finds wrong in the store.

Codes such as M6 after the names of tests are rows of `docs/behaviours.md`, which these tests prove.
"""

import pytest

from store import bans, inboxes, keys, reverts, roles
from store.articles import Draft
from store.errors import AlreadyReverted, Banned, Invalid, NotAModerator, NotFound, Unauthenticated, VotingClosed
from store.listings import Window
from store.moderation_records import Role
from store.records import Position, Vote
from store.roles import OPERATOR
from store.scripts import registry
from store.scripts.registry import Script
from store.sessions import parse_token
from tests.conftest import registered
from tests.store.reading import everything, post, profile, read, verified

pytestmark = pytest.mark.many_partitions

HOUR = 3600 * 1000  # milliseconds
REASON = "spam"


@pytest.fixture
async def admin(store):
    name = await registered(store, "adam")
    await roles.grant(store.site, OPERATOR, name, Role.ADMIN, group=None, reason="the first")
    return name


@pytest.fixture
async def moderator(store):
    name = await registered(store, "mona")
    await roles.grant(store.site, OPERATOR, name, Role.MODERATOR, group=None, reason="helps")
    return name


@pytest.fixture
async def group_moderator(store):
    name = await registered(store, "gina")
    await roles.grant(store.site, OPERATOR, name, Role.MODERATOR, group="lua", reason="helps")
    return name


async def ban(store, actor, username, group=None, until=None):
    return await bans.ban(store.site, actor, username, group=group, until=until, reason=REASON, note="a note")


async def revert(store, actor, action):
    return await reverts.revert(store.site, actor, action.number, "a mistake")


async def logged_in(store, username):
    """A new session of a user."""
    return parse_token((await store.sessions.open(username)).token)


async def words(store, session):
    """
    The bans as a session has them, and as its user has them: words `site=UNTIL` and `group:NAME=UNTIL`, where UNTIL is
    in unix milliseconds, or 0 for good.
    """
    login = await store.site.login(session)
    return login.bans, (await profile(store, login.username)).bans


async def test_ban_is_an_action_of_the_log(store, moderator, alice, clock):  # M6, M9
    banned = await ban(store, moderator, "ALICE", until=clock.now + HOUR)

    action = banned.action
    assert banned.changed
    assert (action.kind.value, action.moderator, action.subject_id, action.group) == ("ban", "mona", "user:alice", None)
    assert (action.reason, action.note, action.at, action.expires_at) == ("spam", "a note", clock.now, clock.now + HOUR)
    assert (await profile(store, alice)).bans == f"site={clock.now + HOUR}"
    assert await verified(store) == []


async def test_ban_from_the_site_ends_sessions_and_is_in_new_ones(store, moderator, alice, bob):  # M6
    before, other = [await logged_in(store, alice) for _ in range(2)], await logged_in(store, bob)
    number = (await post(store, bob)).number
    await ban(store, moderator, alice)

    for session in before:
        with pytest.raises(Unauthenticated):
            await store.articles.vote(number, session, Vote.UP)
        with pytest.raises(Unauthenticated):
            await store.sessions.close(session)
    session = await logged_in(store, alice)
    assert await words(store, session) == ("site=0", "site=0")
    with pytest.raises(Banned) as refused:
        await store.articles.vote(number, session, Vote.UP)
    assert (refused.value.until, refused.value.group) == (None, None)
    assert await words(store, other) == ("", "")
    assert await verified(store) == []


async def test_renewed_session_keeps_the_ban(store, moderator, alice, clock):  # M6
    await ban(store, moderator, alice)
    session = await logged_in(store, alice)
    clock.advance(HOUR / 1000)

    renewed = await store.sessions.renew(session, await store.site.login(session))

    assert renewed == await store.site.login(session)
    assert (renewed.bans, renewed.expires_at) == ("site=0", clock.now + store.site.session_lifetime * 1000)


async def test_every_write_of_a_banned_user_is_refused_and_changes_nothing(  # M1, M6
    store, moderator, alice, bob, clock, redis
):
    own, other = await post(store, alice), await post(store, bob)
    comment = await store.comments.post(other.number, parent=None, poster=alice, content="mine")
    foreign = await store.comments.post(own.number, parent=None, poster=bob, content="theirs")
    carol = await registered(store, "carol")
    await store.follows.follow(alice, bob)
    until = clock.now + HOUR
    await ban(store, moderator, alice, until=until)
    session = await logged_in(store, alice)
    articles, comments, follows = store.articles, store.comments, store.follows

    def writes(actor):
        return [
            articles.post(actor, Draft("A title", content="text")),
            articles.edit(own.number, actor, {"title": "Another"}),
            articles.regroup(own.number, actor, add=["lua"], remove=[]),
            articles.vote(other.number, actor, Vote.DOWN),
            articles.delete(own.number, actor),
            comments.post(other.number, parent=None, poster=actor, content="another"),
            comments.edit(comment.comment.number, actor, "changed"),
            comments.vote(foreign.comment.number, actor, Vote.UP),
            comments.delete(comment.comment.number, actor),
            follows.follow(actor, carol),
            follows.unfollow(actor, bob),
            follows.mark_seen(actor, Position(clock.now, keys.member(other.number))),
        ]

    before = everything(redis)
    for write in (*writes(session), *writes(alice)):
        with pytest.raises(Banned) as refused:
            await write
        assert (refused.value.until, refused.value.group) == (until, None)
    with pytest.raises(Banned):
        await store.users.change_password(session, "correct horse", "battery staple")

    assert everything(redis) == before


async def test_banned_user_may_mark_the_inbox_and_log_out(store, moderator, alice, bob, clock):  # M6
    own = await post(store, alice)
    foreign = await store.comments.post(own.number, parent=None, poster=bob, content="theirs")
    await ban(store, moderator, alice)
    session = await logged_in(store, alice)

    assert await store.inboxes.mark_seen(session, Position(clock.now, keys.member(foreign.comment.number))) == alice
    await store.sessions.close(session)
    with pytest.raises(Unauthenticated):
        await store.site.login(session)


async def test_ban_from_a_group_refuses_there_only(store, group_moderator, alice, bob, clock, redis):  # M6
    inside = (await store.articles.post(bob, Draft("Inside", content="text", groups=("go", "lua")))).number
    outside = (await store.articles.post(bob, Draft("Outside", content="text", groups=("go",)))).number
    comments = [
        (await store.comments.post(each, parent=None, poster=bob, content="text")).comment.number
        for each in (inside, outside)
    ]
    own = (await post(store, alice)).number
    session = await logged_in(store, alice)
    until = clock.now + HOUR
    await ban(store, group_moderator, alice, "lua", until)
    assert await words(store, session) == (f"group:lua={until}",) * 2

    def writes(actor, number, comment, group):
        return [
            store.articles.post(actor, Draft(f"In {group}", content="text", groups=(group,))),
            store.articles.regroup(own, actor, add=[group], remove=[]),
            store.articles.vote(number, actor, Vote.UP),
            store.comments.post(number, parent=None, poster=actor, content="text"),
            store.comments.vote(comment, actor, Vote.UP),
        ]

    before = everything(redis)
    for write in (*writes(session, inside, comments[0], "lua"), *writes(alice, inside, comments[0], "lua")):
        with pytest.raises(Banned) as refused:
            await write
        assert (refused.value.until, refused.value.group) == (until, "lua")
    assert everything(redis) == before
    for write in writes(session, outside, comments[1], "go"):
        await write
    assert await verified(store) == []


async def test_banned_user_may_take_an_own_article_out_of_the_group(store, group_moderator, alice):
    number = (await store.articles.post(alice, Draft("Own", content="text", groups=("lua",)))).number
    await ban(store, group_moderator, alice, "lua")

    assert (await store.articles.regroup(number, alice, add=["go"], remove=["lua"])).groups == ("go",)


async def test_ban_ends_by_itself(store, moderator, alice, bob, clock):  # M6
    number = (await post(store, bob)).number
    await ban(store, moderator, alice, until=clock.now + HOUR)
    session = await logged_in(store, alice)
    clock.advance(HOUR / 1000 - 0.001)
    with pytest.raises(Banned):
        await store.articles.vote(number, session, Vote.UP)
    clock.advance(0.001)

    assert (await store.articles.vote(number, session, Vote.UP)).changed


async def test_verify_ignores_bans_that_are_over(store, moderator, alice, clock):
    await ban(store, moderator, alice, until=clock.now + HOUR)
    clock.advance(HOUR / 1000)

    assert (await profile(store, alice)).bans == f"site={clock.now}"
    assert await verified(store) == []


async def test_revert_lifts_a_ban_at_once(store, moderator, alice, bob, clock):  # M6, M9
    number = (await post(store, bob)).number
    banned = await ban(store, moderator, alice)
    session = await logged_in(store, alice)
    clock.advance(1)
    reverted = await revert(store, moderator, banned.action)

    assert reverted.action.reverts == banned.action.number
    assert await words(store, session) == ("", "")
    assert (await store.articles.vote(number, session, Vote.UP)).changed
    with pytest.raises(AlreadyReverted):
        await revert(store, moderator, banned.action)
    assert await verified(store) == []


async def test_user_is_banned_until_the_latest_end_of_standing_bans(store, moderator, admin, alice, clock):  # M6
    until = clock.now + HOUR
    short = await ban(store, moderator, alice, until=until)
    same = [await ban(store, admin, alice, until=end) for end in (until, until - 1)]
    long = await ban(store, admin, alice, until=until + HOUR)
    group = await ban(store, admin, alice, "lua")
    for_good = await ban(store, admin, alice)
    session = await logged_in(store, alice)

    assert [(each.changed, each.action) for each in same] == [(False, short.action)] * 2
    assert [each.changed for each in (long, group, for_good)] == [True] * 3
    assert (await words(store, session))[1] == "group:lua=0 site=0"
    await revert(store, admin, for_good.action)
    assert await words(store, session) == (f"group:lua=0 site={until + HOUR}",) * 2
    await revert(store, admin, long.action)
    await revert(store, admin, group.action)
    assert await words(store, session) == (f"site={until}",) * 2
    await revert(store, admin, short.action)
    assert await words(store, session) == ("", "")
    assert await verified(store) == []


async def test_moderators_ban_those_of_a_lower_role_only(  # M1
    store, admin, moderator, group_moderator, alice, bob, redis
):
    await roles.grant(store.site, OPERATOR, bob, Role.MODERATOR, group="lua", reason="helps")
    before = everything(redis)
    refused = [  # who bans whom, and from which group; None: from the site
        (alice, bob, None),
        (alice, bob, "lua"),
        (alice, alice, "lua"),
        (group_moderator, alice, None),
        (group_moderator, alice, "go"),
        (group_moderator, bob, "lua"),
        (group_moderator, moderator, "lua"),
        (group_moderator, admin, "lua"),
        (group_moderator, group_moderator, "lua"),
        (moderator, admin, None),
        (moderator, admin, "lua"),
        (moderator, moderator, None),
        (admin, admin, None),
    ]
    for actor, username, group in refused:
        with pytest.raises(NotAModerator):
            await ban(store, actor, username, group)
    with pytest.raises(NotFound):
        await ban(store, moderator, "nobody")
    assert everything(redis) == before

    for actor, username, group in [
        (group_moderator, alice, "lua"),
        (moderator, group_moderator, "lua"),
        (moderator, bob, None),
        (admin, moderator, None),
    ]:
        assert (await ban(store, actor, username, group)).changed
    with pytest.raises(Banned):  # the moderator
        await ban(store, moderator, alice)


async def test_revert_needs_the_role_of_the_ban_and_nobody_reverts_their_own(
    store, admin, moderator, group_moderator, bob
):
    of_site = await ban(store, moderator, bob)
    of_group = await ban(store, admin, moderator, "lua")

    with pytest.raises(NotAModerator):
        await revert(store, group_moderator, of_site.action)
    with pytest.raises(NotAModerator):
        await revert(store, moderator, of_group.action)
    assert (await revert(store, group_moderator, of_group.action)).changed


@pytest.mark.parametrize(
    ("given", "fields"),
    [
        ({"until": 0}, [("until",)]),
        ({"group": "No group"}, [("group",)]),
        ({"group": "?", "reason": " ", "note": "\x00"}, [("group",), ("reason",), ("note",)]),
    ],
)
async def test_values_that_break_a_rule_are_refused(store, moderator, alice, redis, given, fields):
    before = everything(redis)
    values = {"group": None, "until": None, "reason": REASON} | given
    with pytest.raises(Invalid) as refused:
        await bans.ban(store.site, moderator, alice, **values)

    assert [each.field for each in (refused.value, *refused.value.others)] == fields
    assert everything(redis) == before


async def test_verify_finds_a_session_whose_bans_are_not_those_of_its_user(store, moderator, alice, redis):
    await ban(store, moderator, alice)
    session = await logged_in(store, alice)
    key = store.site.session_key(session)
    redis.set(key, redis.get(key).removesuffix(" site=0"), keepttl=True)

    assert [finding.where for finding in await verified(store)] == [f"{key} bans"]
    await verified(store, repair=True)
    assert await words(store, session) == ("site=0", "site=0")
    assert await verified(store) == []


async def test_verify_finds_bans_that_the_actions_do_not_say(store, moderator, alice, redis):
    await ban(store, moderator, alice, "lua")
    key = keys.user(store.site.partition_of_user(alice), alice)
    redis.hset(key, "bans", "site=0")

    assert [finding.where for finding in await verified(store)] == [f"{key} bans"]
    await verified(store, repair=True)
    assert redis.hget(key, "bans") == "group:lua=0"
    assert await verified(store) == []


async def notified(store, username):
    """The notifications of an inbox: kind, type, number and time."""
    (page,) = await read(store, inboxes.page(store.site, username, Window(9)))
    return [(each.kind.value, each.type, each.number, each.at) for each in page.notifications]


async def test_whom_an_action_is_about_is_notified_once(store, moderator, alice, clock):  # M9
    banned = await ban(store, moderator, alice)
    at = clock.now
    await ban(store, moderator, alice)
    clock.advance(1)
    reverted = await revert(store, moderator, banned.action)

    assert await notified(store, alice) == [
        ("moderation", "action", reverted.action.number, clock.now),
        ("moderation", "action", banned.action.number, at),
    ]
    assert await verified(store) == []


async def test_verify_finds_and_repairs_notifications_of_actions(store, moderator, alice, redis):
    banned = await ban(store, moderator, alice)
    before, key = await notified(store, alice), keys.inbox(store.site.partition_of_user(alice), alice)
    (member,) = redis.zrange(key, 0, -1)
    redis.zrem(key, member)
    odd = f"{banned.action.number + keys.SLOTS:016d} moderation action"
    redis.zadd(key, {odd: 5})

    assert sorted(finding.where for finding in await verified(store)) == sorted(
        f"{key} {each}" for each in (member, odd)
    )
    await verified(store, repair=True)
    assert await notified(store, alice) == before
    assert await verified(store) == []


@pytest.fixture
def record(store, tmp_path, monkeypatch):
    """
    `record(kind, subject)` records an action of the operator, as commands do, and returns its number. Its script gets
    slot, kind and subject from `ARGV[7]` on.
    """

    async def record(kind, subject):
        path = tmp_path / "commands" / "odd.lua"
        path.parent.mkdir(exist_ok=True)
        path.write_text(
            "-- Tests actions.\n-- requires: actions\n"
            'return record_action(ARGV[7], ARGV[8], ARGV[9], "operator", {reason = "spam"})\n'
        )
        monkeypatch.setitem(registry.FILES, "odd", path)
        partition = store.site.partition_of_article(int(subject.partition(":")[2]))
        slot = int(subject.partition(":")[2]) % keys.SLOTS
        return int(await store.site.redis.run(store.site.command(Script("odd"), partition, slot, kind, subject)))

    return record


async def test_posters_are_notified_of_actions_about_their_texts(store, alice, bob, clock, record):  # M9
    article = await post(store, alice)
    comments = [
        (await store.comments.post(article.number, parent=None, poster=name, content="text")).comment
        for name in (alice, bob)
    ]
    await record("approve", article.id)
    removed = [await record("remove", each.id) for each in (article, *comments)]
    # the script notifies users of its own partition; to notify others is left to who runs it
    is_bob_here = store.site.partition_of_user(bob) == store.site.partition_of_user(alice)

    found = [number for kind, _, number, _ in await notified(store, alice) if kind == "moderation"]
    assert found == [removed[1], removed[0]]
    assert [number for kind, _, number, _ in await notified(store, bob) if kind == "moderation"] == (
        [removed[2]] if is_bob_here else []
    )
    assert {each.where.rpartition(" ")[2] for each in await verified(store)} == {"state"}  # only the actions are there


async def test_vote_of_the_banned_is_refused_as_all_others_once_voting_is_closed(store, alice, bob, clock):  # M6, V5
    """An article that has left Redis for the database is always closed, and no script there can look for bans."""
    article = await post(store, alice, groups=["lua"])
    await ban(store, OPERATOR, bob, "lua")
    clock.advance(store.site.policy.voting_window)
    with pytest.raises(Banned):
        await store.articles.vote(article.number, await logged_in(store, bob), Vote.UP)
    clock.advance(1)

    with pytest.raises(VotingClosed):
        await store.articles.vote(article.number, await logged_in(store, bob), Vote.UP)
