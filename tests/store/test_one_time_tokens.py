"""
One-time tokens, which a user gets by mail or from the operator: issued, used and ended, and passwords that are reset by
them.

Codes such as U5 after the names of tests are rows of `docs/behaviours.md`, which these tests prove.
"""

import asyncio
import base64

import pytest

from store import keys, leaving, log, one_time_tokens
from store.client.client import RedisClient
from store.errors import BadCredentials, BadToken, Invalid, NotFound, Unauthenticated
from store.one_time_tokens import LIFETIMES, MAX_TOKENS, Purpose, issue
from store.sessions import NewSession, parse_token
from tests.store.reading import everything

pytestmark = pytest.mark.many_partitions

OLD, NEW = "correct horse", "battery staple"


@pytest.fixture
async def vera(store):
    """The token of a session of the user Vera."""
    return (await store.users.register("Vera", OLD)).token


@pytest.fixture
async def reset(store, vera):
    """A one-time token that resets the password of Vera."""
    return (await issue(store.site, "vera", Purpose.RESET)).text


def holds(redis, text: str) -> bool:
    return any(text in str(value) for value in everything(redis).values())


async def test_reset_password_logs_in_and_ends_all_other_sessions(store, vera, reset, redis):  # U5
    opened = await store.users.reset_password(reset, NEW, "Firefox on Linux")

    assert opened.login.username == "Vera"
    (session,) = await store.sessions.listed(parse_token(opened.token))
    assert (session.agent, session.is_current) == ("Firefox on Linux", True)
    with pytest.raises(Unauthenticated):
        await store.site.username(parse_token(vera))
    with pytest.raises(BadCredentials):
        await store.users.log_in("vera", OLD)
    await store.users.log_in("vera", NEW)


async def test_token_is_valid_once_and_for_an_hour(store, reset, redis, clock):  # U5
    assert LIFETIMES[Purpose.RESET] == 3600
    clock.advance(3600)
    await store.users.reset_password(reset, NEW)
    later = (await issue(store.site, "vera", Purpose.RESET)).text
    clock.advance(3600.001)
    before = {key: value for key, value in everything(redis).items() if not key.startswith("token")}  # these expire

    for refused in (reset, later, unissued(), "no token", ""):
        with pytest.raises(BadToken):
            await store.users.reset_password(refused, "third password")
    assert {key: value for key, value in everything(redis).items() if not key.startswith("token")} == before


def unissued() -> str:
    """A token of the right form that nobody was given."""
    return base64.urlsafe_b64encode(bytes(32) + keys.slot("vera").to_bytes(2)).decode().rstrip("=")


async def test_token_of_a_session_resets_nothing_and_a_one_time_token_opens_no_session(store, vera, reset):
    with pytest.raises(BadToken):
        await store.users.reset_password(vera, NEW)
    with pytest.raises(Unauthenticated):
        await store.site.username(parse_token(reset))


async def test_refused_password_does_not_use_the_token_up(store, reset, redis):
    before = everything(redis)

    for refused in ("short", "Football1"):
        with pytest.raises(Invalid) as refusal:
            await store.users.reset_password(reset, refused)
        assert refusal.value.field == ("newPassword",)
    assert everything(redis) == before
    await store.users.reset_password(reset, NEW)


async def test_of_many_uses_at_once_one_succeeds(store, reset):
    tries = [store.users.reset_password(reset, f"password number {n}") for n in range(10)]
    results = await asyncio.gather(*tries, return_exceptions=True)

    (winner,) = [n for n, result in enumerate(results) if isinstance(result, NewSession)]
    assert [type(result) for result in results].count(BadToken) == len(results) - 1
    await store.users.log_in("vera", f"password number {winner}")


async def test_change_of_the_password_ends_open_tokens(store, vera, reset):
    await store.users.change_password(parse_token(vera), OLD, NEW)

    with pytest.raises(BadToken):
        await store.users.reset_password(reset, "third password")


async def test_reset_ends_other_tokens(store, reset):
    other = (await issue(store.site, "vera", Purpose.RESET)).text
    await store.users.reset_password(reset, NEW)

    with pytest.raises(BadToken):
        await store.users.reset_password(other, "third password")


async def test_deletion_of_the_user_ends_tokens(store, reset, redis):
    await leaving.begin(store.site, "vera", password_hash="", removes_texts=False)

    with pytest.raises(BadToken):
        await store.users.reset_password(reset, NEW)
    with pytest.raises(NotFound):
        await issue(store.site, "vera", Purpose.RESET)
    assert not any(redis.scan_iter("token*"))


async def test_script_that_is_sent_again_resets_once(store, reset, redis, monkeypatch):
    """As after a lost reply: the call finds that it has used the token."""
    run = RedisClient.run

    async def twice(self, command):
        first = await run(self, command)
        assert await run(self, command) == first
        return first

    monkeypatch.setattr(RedisClient, "run", twice)
    opened = await store.users.reset_password(reset, NEW)

    entries = await log.read(store.site, store.site.partition_of_user("vera"), log.START, count=100)
    assert [entry.kind for entry in entries] == ["registered", "password_changed"]
    assert redis.zcard(keys.sessions(store.site.partition_of_user("vera"), "vera")) == 1
    assert redis.exists(store.site.session_key(parse_token(opened.token)))


async def test_store_has_no_text_of_a_token(store, reset, redis):
    assert not holds(redis, reset)


async def test_user_has_a_bounded_number_of_tokens(store, vera, redis, clock):
    issued = []
    for _ in range(MAX_TOKENS + 2):
        clock.advance(1)
        issued.append((await issue(store.site, "vera", Purpose.RESET, "a detail")).text)

    assert len(list(redis.scan_iter("token:*"))) == MAX_TOKENS
    for ended in issued[:2]:
        with pytest.raises(BadToken):
            await one_time_tokens.read(store.site, ended, Purpose.RESET)
    for good in issued[2:]:
        assert (await one_time_tokens.read(store.site, good, Purpose.RESET)).detail == "a detail"


async def test_tokens_leave_the_store_when_they_have_ended(store, reset, redis):
    (listed,), (stored,) = redis.scan_iter("tokens:*"), redis.scan_iter("token:*")

    for key in (listed, stored):
        assert 3_590_000 < redis.pttl(key) <= 3_600_000


async def test_no_token_is_issued_to_a_name_without_an_account(store):
    with pytest.raises(NotFound):
        await issue(store.site, "nobody", Purpose.RESET)
