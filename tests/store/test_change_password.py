"""Changes of passwords, which end other sessions."""

import asyncio

import pytest

from store.errors import BadCredentials, Invalid, Unauthenticated
from store.sessions import parse_token
from tests.store.reading import everything

OLD, NEW = "correct horse", "battery staple"


@pytest.fixture
async def session(store):
    return parse_token((await store.users.register("Alice", OLD)).token)


async def other_session(store, password=OLD):
    return parse_token((await store.users.log_in("alice", password)).token)


async def test_changed_password_ends_all_other_sessions(store, session, clock):
    others = [await other_session(store) for _ in range(3)]
    await store.sessions.renew(others[0], store.sessions.new_login("Alice"))  # it ends, too
    bobs = parse_token((await store.users.register("bob", OLD)).token)

    assert await store.users.change_password(session, OLD, NEW) == "Alice"

    for ended in others:
        with pytest.raises(Unauthenticated):
            await store.site.username(ended)
    assert await store.site.username(session) == "Alice"
    assert await store.site.username(bobs) == "bob"
    with pytest.raises(BadCredentials):
        await other_session(store)
    assert await store.site.username(await other_session(store, NEW)) == "Alice"


@pytest.mark.parametrize(
    ("current", "new", "refusal"),
    [("wrong horse", NEW, BadCredentials), (OLD, "short", Invalid), (OLD, "Football1", Invalid)],
)
async def test_refused_change_changes_nothing(store, session, redis, current, new, refusal):
    before = everything(redis)

    with pytest.raises(refusal):
        await store.users.change_password(session, current, new)

    assert everything(redis) == before


async def test_ended_session_cannot_change_a_password(store, session):
    await store.sessions.close(session)

    with pytest.raises(Unauthenticated):
        await store.users.change_password(session, OLD, NEW)


async def test_login_is_refused_if_the_password_changed_while_it_was_checked(store, session, redis):
    await store.users.change_password(session, OLD, NEW)
    before = everything(redis)

    with pytest.raises(BadCredentials):
        await store.sessions.open("Alice", "the hash of the old one")

    assert everything(redis) == before


async def test_only_one_of_two_concurrent_changes_succeeds(store, session):
    changes = [store.users.change_password(session, OLD, new) for new in (NEW, "third password")]
    results = await asyncio.gather(*changes, return_exceptions=True)

    assert sorted(map(str, results)) == ["Alice", "this is not your password"]


async def test_ended_sessions_are_removed_from_the_index(store, session, redis, clock):
    clock.advance(store.site.session_lifetime + 1)
    await other_session(store)

    (index,) = redis.scan_iter("sessions:*")
    assert redis.zcard(index) == 1
    assert redis.ttl(index) > 0
