"""
Limits of failed log-ins in 15 minutes: 10 of a name from an address, 50 from an address, 100 of a name. Limits of
registrations from an address. Addresses are IP addresses.
"""

import asyncio

import pytest

from resolvers.rate_limits import WriteRates
from store.articles import Draft
from store.errors import BadCredentials, Invalid, RateLimited, UsernameTaken
from store.passwords import Passwords
from store.sessions import parse_token

PASSWORD = "correct horse"
HOME, AWAY = "1.1.1.1", "2.2.2.2"
WINDOW = 15 * 60  # seconds
COUNTED_FOR = WINDOW * 1000 + 1  # milliseconds until a failure no longer counts


@pytest.fixture(autouse=True)
async def fast_passwords(store, monkeypatch):
    """Compare passwords as text: hashing takes long, and is tested elsewhere."""

    async def matches(self, password, known):
        return known is not None and password == PASSWORD

    await store.users.register("alice", PASSWORD)
    monkeypatch.setattr(Passwords, "matches", matches)


async def fail(store, times, name="alice", address=HOME):
    """Log in with a wrong password; a `#` in the name or address stands for the number of the try."""
    for time in range(times):
        with pytest.raises(BadCredentials):
            await store.users.log_in(name.replace("#", str(time)), "wrong horse", address.replace("#", str(time)))


async def refused(store, name="alice", address=HOME, password=PASSWORD):
    """When a log-in, which is refused now, may be repeated (unix milliseconds)."""
    with pytest.raises(RateLimited) as limited:
        await store.users.log_in(name, password, address)
    return limited.value.retry_at


async def test_name_is_limited_to_ten_failures_from_an_address(store, clock):
    first = clock.now
    await fail(store, 9)
    clock.advance(60)
    await fail(store, 1, "ALICE")

    assert await refused(store) == await refused(store, "Alice", password="wrong horse") == first + COUNTED_FOR
    assert await store.users.log_in("alice", PASSWORD, AWAY)


async def test_unknown_name_is_limited_like_a_known_one(store, clock):
    await fail(store, 10, "nobody")
    await fail(store, 10, "no name: {0}\n\ud800")

    assert await refused(store, "nobody") == await refused(store, "no name: {0}\n\ud800") == clock.now + COUNTED_FOR


async def test_address_is_limited_to_fifty_failures(store):
    await fail(store, 50, "name#")

    assert await refused(store)
    assert await store.users.log_in("alice", PASSWORD, AWAY)


async def test_name_is_limited_to_a_hundred_failures(store):
    await fail(store, 100, address="9.9.9.#")

    assert await refused(store)


async def test_each_failure_counts_for_fifteen_minutes(store, clock):
    first = clock.now
    await fail(store, 1)
    clock.advance(WINDOW - 1)
    await fail(store, 9)
    assert await refused(store) == first + COUNTED_FOR

    clock.now = first + COUNTED_FOR
    await fail(store, 1)
    assert await refused(store) == first + (WINDOW - 1) * 1000 + COUNTED_FOR


async def test_successful_and_refused_log_ins_are_not_counted(store, redis):
    for _ in range(120):
        await store.users.log_in("alice", PASSWORD, HOME)
    await fail(store, 10)
    for _ in range(45):
        await refused(store)
    await fail(store, 40, "name#")

    assert await refused(store, "bob")
    assert all(redis.ttl(key) > 0 for key in redis.scan_iter("tried:*"))


async def test_concurrent_failures_are_all_counted(store):
    guesses = [store.users.log_in("alice", "wrong horse", HOME) for _ in range(40)]
    results = [type(result) for result in await asyncio.gather(*guesses, return_exceptions=True)]

    assert (results.count(BadCredentials), results.count(RateLimited)) == (10, 30)


async def test_session_lasts_while_log_ins_of_its_user_are_refused(store):
    session = parse_token((await store.users.log_in("alice", PASSWORD, HOME)).token)
    await fail(store, 100, address="9.9.9.#")

    assert await refused(store)
    assert await store.site.username(session) == "alice"
    assert (await store.articles.post(session, Draft("a title", "https://example.com/"))).poster == "alice"


async def test_registrations_from_an_address_are_limited(store, clock):
    rates = WriteRates(registrations=3)

    async def register(name, address=HOME):
        return await store.users.register(name, PASSWORD, rates.of_registrations(address))

    await register("carol")
    with pytest.raises(UsernameTaken):  # counted, as it reveals which names exist and hashes a password
        await register("carol")
    with pytest.raises(Invalid):
        await register("c")
    await register("dave")
    with pytest.raises(RateLimited) as limited:
        await register("erin")

    assert limited.value.retry_at == clock.now + 60 * 60 * 1000 + 1
    await register("erin", AWAY)
    clock.now = limited.value.retry_at
    await register("frank")


async def test_without_an_address_nothing_is_counted(store, redis):
    for _ in range(12):
        with pytest.raises(BadCredentials):
            await store.users.log_in("alice", "wrong horse")

    assert list(redis.scan_iter("tried:*")) == []
