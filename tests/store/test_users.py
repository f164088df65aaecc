"""
Registering and logging in. `register` and `log_in` return a grant: a token, and the login that it stands for.

A store is split into partitions by user: the partition of a user has all that the user owns.

Codes such as F1 after the names of tests are rows of `docs/behaviours.md`, which these tests prove.
"""

import asyncio
import subprocess
import sys

import pytest
from argon2 import extract_parameters

from store import keys, passwords
from store.articles import Draft
from store.errors import BadCredentials, Invalid, Unauthenticated, UsernameTaken
from store.records import Vote
from store.sessions import parse_token
from store.store import Store
from tests.store.reading import contents, everything, post, profile

PASSWORD = "correct horse"
DAY = 86_400  # seconds


async def test_registered_user_is_logged_in(store, clock):
    grant = await store.users.register("Alice", PASSWORD)

    assert await store.site.username(parse_token(grant.token)) == "Alice" == grant.login.username
    assert grant.login.expires_at == clock.now + DAY * 1000
    found = await profile(store, "ALICE")
    assert (found.username, found.joined_at, found.karma) == ("Alice", clock.now, 0)


async def test_usernames_are_unique_in_any_case(store, redis):  # F1
    await store.users.register("Alice", PASSWORD)
    before = everything(redis)

    with pytest.raises(UsernameTaken):
        await store.users.register("aLICE", PASSWORD)

    assert everything(redis) == before


async def test_one_of_many_concurrent_registrations_gets_the_name(store):  # F1
    tries = [store.users.register(name, PASSWORD) for name in ("alice", "Alice", "ALICE")]
    results = await asyncio.gather(*tries, return_exceptions=True)

    assert [type(result) for result in results].count(UsernameTaken) == 2


@pytest.mark.parametrize("name", ["", "a", "x" * 21, "a b", "\u0430lice", "alice\n", "a:b", "{0}", "al\u212ae"])
async def test_invalid_username_is_refused(store, redis, name):  # F1
    before = everything(redis)

    with pytest.raises(Invalid) as refusal:
        await store.users.register(name, PASSWORD)

    assert refusal.value.field == ("username",)
    assert everything(redis) == before


@pytest.mark.parametrize("name", ["admin", "Moderator", "ROOT", "sup-port", "_system_", "Staff", "lobby-crew"])
async def test_reserved_username_is_refused(redis_url, redis, name):
    store = await Store.open(
        redis_url, reserved_names=["Lobby Crew", "--"]
    )  # "--" has no letter, and so reserves nothing
    before = everything(redis)

    with pytest.raises(Invalid) as refusal:
        await store.users.register(name, PASSWORD)
    assert refusal.value.field == ("username",)
    assert refusal.value.message == f"the username {name} is reserved"
    assert everything(redis) == before

    assert (await store.users.register(f"{name}-fan", PASSWORD)).login.username == f"{name}-fan"
    assert (await store.users.register("--", PASSWORD)).login.username == "--"
    await store.close()


@pytest.mark.parametrize("password", ["", "seven77", "x" * 129, "\ud800" * 8])
async def test_password_that_breaks_a_rule_is_refused(store, redis, password):
    before = everything(redis)

    with pytest.raises(Invalid) as refusal:
        await store.users.register("alice", password)

    assert refusal.value.field == ("password",)
    assert everything(redis) == before


@pytest.mark.parametrize("password", ["password", "12345678", "iloveyou", "PassWord", "TRUSTNO1", "Password1"])
async def test_common_password_is_refused_in_any_case(store, redis, password):
    before = everything(redis)

    with pytest.raises(Invalid, match="one of the 10000 commonest") as refusal:
        await store.users.register("alice", password)

    assert refusal.value.field == ("password",)
    assert everything(redis) == before


async def test_user_with_a_common_password_can_still_log_in(store, redis):
    await store.users.register("alice", PASSWORD)
    key = keys.user(store.site.partition_of_user("alice"), "alice")
    redis.hset(key, "password", passwords.HASHER.hash("password"))

    assert (await store.users.log_in("alice", "password")).login.username == "alice"


def test_list_of_common_passwords_is_loaded_when_it_is_needed():
    """Importing the store imports neither the list nor the package that has it."""
    program = "import sys, store.store; print('zxcvbn' in sys.modules, 'frequency_lists' in sys.modules)"
    found = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)

    assert found.stdout == "False False\n"
    assert len(passwords.commonest()) == passwords.COMMONEST
    assert "correct horse battery staple" not in passwords.commonest()


async def test_passwords_and_tokens_are_stored_only_as_hashes(store, redis):  # F1
    grant = await store.users.register("alice", PASSWORD)

    assert redis.hget(keys.user(store.site.partition_of_user("alice"), "alice"), "password").startswith("$argon2id$")
    entries = [redis.xrange(key) for key in redis.scan_iter(_type="stream")]
    kept = f"{contents(redis)} {entries}"  # not DUMP, which may compress values
    assert keys.user(store.site.partition_of_user("alice"), "alice") in kept and "registered" in kept
    assert PASSWORD not in kept
    assert grant.token not in kept


async def test_right_password_opens_a_session(store):
    await store.users.register("Alice", PASSWORD)
    grant = await store.users.log_in("alice", PASSWORD)

    assert await store.site.username(parse_token(grant.token)) == "Alice"


@pytest.mark.parametrize(
    ("name", "password"), [("alice", "wrong horse"), ("nobody", PASSWORD), ("imported", PASSWORD), ("{odd}", "")]
)
async def test_wrong_password_and_unknown_name_raise_the_same(store, redis, name, password):
    await store.users.register("alice", PASSWORD)
    redis.hset(keys.user(store.site.partition_of_user("imported"), "imported"), mapping={"name": "imported"})
    before = everything(redis)

    with pytest.raises(BadCredentials) as refusal:
        await store.users.log_in(name, password)

    assert (refusal.value.message, refusal.value.field) == ("no such name and password", ())
    assert everything(redis) == before


async def test_log_in_checks_one_hash_for_an_unknown_name_too(store, redis, monkeypatch):
    """The hash has the same parameters, which make its time, so that time does not tell which names exist."""
    await store.users.register("alice", PASSWORD)
    redis.hset(keys.user(store.site.partition_of_user("imported"), "imported"), mapping={"name": "imported"})
    checked = []

    def run_before(deadline, function, password, hashed):
        checked.append((function, extract_parameters(hashed)))
        return function(password, hashed)

    monkeypatch.setattr(passwords, "run_before", run_before)
    for name in ("alice", "nobody", "imported"):
        with pytest.raises(BadCredentials):
            await store.users.log_in(name, "wrong horse")

    assert checked == [(passwords.HASHER.verify, extract_parameters(passwords.DUMMY_HASH))] * 3


async def test_closed_session_can_neither_read_nor_write(store, redis):
    session = parse_token((await store.users.register("alice", PASSWORD)).token)
    await store.sessions.close(session)
    before = everything(redis)

    with pytest.raises(Unauthenticated):
        await store.site.username(session)
    with pytest.raises(Unauthenticated):
        await store.sessions.close(session)
    with pytest.raises(Unauthenticated):
        await store.articles.post(session, Draft("a title", "https://example.com/"))
    assert everything(redis) == before


async def test_session_can_vote_in_its_own_and_another_partition(store):
    session = parse_token((await store.users.register("alice", PASSWORD)).token)
    for poster in ("bob", "carol", "dave"):
        await store.users.register(poster, PASSWORD)
        number = (await post(store, poster)).number
        assert (await store.articles.vote(number, session, Vote.UP)).voter == "alice"
        other_session = parse_token((await store.users.log_in("alice", PASSWORD)).token)
        await store.sessions.close(other_session)
    await store.sessions.close(session)

    with pytest.raises(Unauthenticated):
        await store.articles.vote(number, session, Vote.DOWN)


async def test_session_ends_unless_it_is_used(store, clock):
    grant = await store.users.register("alice", PASSWORD)
    session = parse_token(grant.token)
    clock.advance(DAY)
    assert await store.site.username(session) == "alice"

    await store.sessions.renew(session, grant.login)
    clock.advance(DAY)
    assert await store.site.username(session) == "alice"

    clock.advance(0.001)
    with pytest.raises(Unauthenticated):
        await store.site.username(session)
    with pytest.raises(Unauthenticated):
        await store.articles.post(session, Draft("a title", "https://example.com/"))
    with pytest.raises(Unauthenticated):
        await store.sessions.close(session)


@pytest.mark.parametrize("token", ["", "x", "\u00e4" * 46, "A" * 46, "A" * 45, "A" * 10_000, "../..", "=" * 46])
async def test_invalid_token_has_no_session(store, token):
    session = parse_token(token)

    if session is not None:
        with pytest.raises(Unauthenticated):
            await store.site.username(session)
