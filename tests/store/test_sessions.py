"""
Sessions of a user: listed, renewed, ended one by one, and read as earlier versions have stored them. Three keys have
them: one of each session, an index of all of the user, and their details.
"""

import asyncio

import pytest

from store import bans, keys, sessions
from store.errors import NotFound, Unauthenticated
from store.roles import OPERATOR
from store.sessions import MAX_SESSIONS, parse_token
from store.site import Login
from tests.store.reading import everything

PASSWORD = "correct horse"
HOUR, DAY, YEAR = 3_600, 86_400, 31_536_000  # seconds

pytestmark = pytest.mark.many_partitions


@pytest.fixture
async def session(store):
    return parse_token((await store.users.register("Alice", PASSWORD, agent="Firefox on Linux")).token)


async def opened(store, name="Alice", agent=""):
    """A new session of a user."""
    return parse_token((await store.sessions.open(name, agent=agent)).token)


def keys_of(store, session, name="alice"):
    """The keys of a session, of the index of all sessions of its user, and of their details."""
    partition = store.site.partition_of_user(name)
    return keys.session(partition, session.digest), keys.sessions(partition, name), keys.logins(partition, name)


def listed_digests(redis, store, name="alice"):
    """The digests of a user's sessions, as the index has them and as the details have them."""
    _, index, details = keys_of(store, sessions.Session("", slot=0), name)
    return set(redis.zrange(index, 0, -1)), set(redis.hkeys(details))


async def test_sessions_are_listed_with_what_is_known_of_them(store, session, clock):
    began = clock.now
    clock.advance(60)
    other = await opened(store, agent="x" * 200)
    await opened(store, "Alice")
    await store.users.register("bob", PASSWORD)

    listed = await store.sessions.listed(session)

    assert [(each.opened_at, each.used_at, each.agent, each.is_current) for each in listed[-1:]] == [
        (began, began, "Firefox on Linux", True)
    ]
    assert {each.agent for each in listed[:2]} == {None, "x" * 80}
    assert len({each.id for each in listed}) == 3
    digests = {session.digest, other.digest}
    assert not any(each.id in digest or digest in each.id for each in listed for digest in digests)
    assert (await store.sessions.listed(other))[-1].is_current is False


async def test_session_is_renewed_once_an_hour_and_ends_a_year_after_log_in(store, session, clock):
    began, renewals = clock.now, 0
    login = await store.site.login(session)
    while (clock.now - began) // 1000 < YEAR - DAY / 2:
        clock.advance(DAY / 2)
        assert store.sessions.is_aging(login, clock.now)
        login = await store.sessions.renew(session, login)
        assert login == await store.site.login(session)
        assert login.expires_at == min(clock.now + DAY * 1000, began + YEAR * 1000)
        assert not store.sessions.is_aging(login, clock.now + HOUR * 1000)
        renewals += 1

    (listed,) = await store.sessions.listed(session)
    assert (listed.opened_at, listed.used_at, listed.agent) == (began, clock.now, "Firefox on Linux")
    assert renewals == YEAR / (DAY / 2) - 1
    clock.advance(DAY / 2 + 0.001)
    assert await store.sessions.renew(session, login) == login
    with pytest.raises(Unauthenticated):
        await store.site.username(session)


async def test_ended_session_leaves_nothing(store, session, redis):
    others = [await opened(store) for _ in range(4)]
    ids = {each.id for each in await store.sessions.listed(session)}

    await store.sessions.close(others[0])
    left = await store.sessions.listed(session)
    (closed_id,) = ids - {each.id for each in left}
    gone = next(each.id for each in left if not each.is_current)
    assert await store.sessions.close_listed(session, gone) is False
    assert listed_digests(redis, store) == tuple(
        [{each.digest for each in others[1:]} & _alive(redis, store) | {session.digest}] * 2
    )
    before = everything(redis)
    for id in (closed_id, gone, "*", session.digest):
        with pytest.raises(NotFound):
            await store.sessions.close_listed(session, id)
    with pytest.raises(Unauthenticated):
        await store.sessions.close_listed(others[0])
    assert everything(redis) == before

    assert await store.sessions.close_listed(session) is False
    assert listed_digests(redis, store) == ({session.digest}, {session.digest})
    (own,) = await store.sessions.listed(session)
    assert await store.sessions.close_listed(session, own.id) is True
    assert listed_digests(redis, store) == (set(), set())
    assert await store.sessions.listed(session) == []
    assert list(redis.scan_iter("session*")) + list(redis.scan_iter("logins*")) == []


def _alive(redis, store):
    """The digests of all sessions that have not ended."""
    return {key.rpartition(":")[2] for key in redis.scan_iter("session:*")}


async def test_nobody_ends_or_sees_sessions_of_others(store, session):
    bob = parse_token((await store.users.register("bob", PASSWORD)).token)
    (of_alice,), (of_bob,) = await store.sessions.listed(session), await store.sessions.listed(bob)

    with pytest.raises(NotFound):
        await store.sessions.close_listed(bob, of_alice.id)
    await store.sessions.close_listed(bob)

    assert await store.sessions.listed(session) == [of_alice]
    assert await store.sessions.listed(bob) == [of_bob]


async def test_of_too_many_sessions_those_used_longest_ago_end(store, session, redis, clock):
    old = [await opened(store) for _ in range(5)]
    clock.advance(HOUR + 1)
    await store.sessions.renew(session, await store.site.login(session))

    new = await asyncio.gather(*[opened(store) for _ in range(MAX_SESSIONS - 1)])

    assert listed_digests(redis, store) == tuple([{session.digest, *(each.digest for each in new)}] * 2)
    assert _alive(redis, store) == {session.digest, *(each.digest for each in new)}
    names = await store.sessions.usernames([session, *old])
    assert names == ["Alice", *[None] * len(old)]


async def test_session_of_an_earlier_version_is_read_listed_renewed_and_ended(store, session, redis, clock):
    """Its value had no last use, and nothing else was stored."""
    other = await opened(store)
    for each in (session, other):
        key, _, details = keys_of(store, each)
        redis.set(key, f"Alice {clock.now + DAY * 500}", px=DAY * 500)
    redis.delete(details)
    began = clock.now - DAY * 500
    login = await store.site.login(session)

    assert login == Login("Alice", expires_at=clock.now + DAY * 500, bans="", used_at=0)
    assert store.sessions.is_aging(login, clock.now)
    assert [(each.opened_at, each.used_at, each.agent) for each in await store.sessions.listed(session)] == [
        (began, began, None)
    ] * 2
    await store.sessions.renew(session, login)
    current, unused = await store.sessions.listed(session)
    assert (current.is_current, current.opened_at, current.used_at) == (True, began, clock.now)
    await store.sessions.close_listed(session, unused.id)
    assert await store.sessions.usernames([session, other]) == ["Alice", None]


async def test_ban_stands_in_both_forms_of_a_session(store, session, redis, clock):
    old = await opened(store)
    key, _, _ = keys_of(store, old)
    redis.set(key, f"Alice {clock.now + DAY * 1000}", px=DAY * 1000)
    used = (await store.site.login(session)).used_at

    for until in (None, clock.now + HOUR * 1000):
        await bans.ban(store.site, OPERATOR, "alice", group="show", until=until, reason="spam")

    for each, known in ((session, used), (old, 0)):
        login = await store.site.login(each)
        assert (login.bans, login.used_at) == ("group:show=0", known)  # 0: for good, as the longer ban counts


async def test_index_and_details_live_as_long_as_the_sessions(store, session, redis, clock):
    """When the next one is opened, they have none that has ended."""
    key, index, details = keys_of(store, session)
    assert [0 < redis.pttl(each) <= DAY * 1000 for each in (key, index, details)] == [True] * 3

    clock.advance(DAY + 1)
    later = await opened(store)

    assert listed_digests(redis, store) == ({later.digest}, {later.digest})
