"""
Requests cost points. They are taken from the bucket of a user or of an address, whichever process takes them and with
whatever token: each process counts in memory, and adds up with the others in the store when it synchronizes.
"""

from functools import partial

import pytest

from engine import Client, RateLimiter
from engine.errors import Refused
from engine.limits.rate_limiter import RatePolicy
from server.shared_rates import buckets_of, take, usernames
from store.sessions import parse_token

pytestmark = pytest.mark.many_partitions  # run also with several partitions of the store

HERE, THERE, ELSEWHERE = "1.1.1.1", "2.2.2.2", "3.3.3.3"
POLICIES = {"address": RatePolicy(points=100, refill=10), "user": RatePolicy(points=100, refill=10)}


@pytest.fixture
def process(store):
    """Makes the rate limiters of several processes."""

    def limiter():
        rates = RateLimiter(POLICIES, clock=lambda: 0)
        rates.sessions.find = partial(usernames, store)
        return rates

    return limiter


@pytest.fixture
def shared(process, store):
    """Takes points from buckets in the store, by their names, and returns how many each has left."""
    return partial(take, buckets_of(process(), store))


async def spend(rates, client, points):
    """Admit one request of a client, which costs so many points."""
    (await rates.admit(client)).set(points)


async def test_tokens_of_a_user_take_from_one_bucket_in_all_processes(store, alice, process, shared):
    first, second = [(await store.sessions.open(alice)).token for _ in range(2)]
    here, there = process(), process()
    await spend(here, Client(first, HERE), 60)
    await spend(there, Client(second, THERE), 30)
    await spend(there, Client(first, ELSEWHERE), 5)
    await here.synchronize(shared)
    await there.synchronize(shared)
    await spend(here, Client(second, HERE), 1)
    await here.synchronize(shared)
    await spend(there, Client(second, HERE), 5)

    for token, rates in ((first, there), (second, there)):
        with pytest.raises(Refused):
            await rates.admit(Client(token, ELSEWHERE))
    assert here.status(Client(first, HERE)).remaining == 4
    assert here.status(Client(token=None, address=HERE)).remaining == 100


async def test_buckets_of_each_kind_are_shared_by_their_policy(process, shared):
    rates = process()
    rates.take(("user", "bob"), 150)
    rates.take(("address", HERE), 50)
    await rates.synchronize(shared)

    assert await shared({("user", "bob"): 1, ("address", HERE): 1}) == {("user", "bob"): -51, ("address", HERE): 49}


async def test_points_given_back_are_given_back_to_all_processes(process, shared):
    rates = process()
    charge = await rates.admit(Client(token=None, address=HERE))
    charge.set(60)
    await rates.synchronize(shared)
    charge.set(6)
    await rates.synchronize(shared)

    assert await shared({("address", HERE): 1, ("address", THERE): -5}) == {
        ("address", HERE): 93,
        ("address", THERE): 100,
    }


async def test_token_of_nobody_counts_for_its_address_alone(process, shared):
    here = process()
    for forged in ("A" * 46, "A" * 45 + "E", "\ud800", "x" * 100_000):
        await spend(here, Client(forged, HERE), 10)
        await here.synchronize(shared)
    await spend(here, Client("A" * 46, HERE), 60)

    with pytest.raises(Refused):
        await here.admit(Client("A" * 46, HERE))
    await here.admit(Client("A" * 46, THERE))
    assert len(here._buckets) == 1


async def test_ended_session_counts_for_its_address(store, alice, clock, process):
    ended, expired = [await store.sessions.open(alice) for _ in range(2)]
    await store.sessions.close(parse_token(ended.token))
    here = process()
    assert await usernames(store, [ended.token, expired.token]) == {ended.token: None, expired.token: "alice"}

    clock.advance(store.site.session_lifetime + 1)
    await spend(here, Client(expired.token, HERE), 10)
    await spend(here, Client(ended.token, HERE), 10)
    assert here.status(Client(token=None, address=HERE)).remaining == 80


async def test_token_has_one_spelling(store, alice, process):
    token = (await store.sessions.open(alice)).token
    last = token[-1]
    others = [token[:-1] + each for each in "ABCDEFGHIJKLMNOPQRSTUVWXYZ" if each != last]
    spellings = [*others, token + "=", token + "==", token[:5] + "!" + token[5:], f"{token}\n", token.replace("-", "+")]
    others = [each for each in spellings if each != token]

    assert await usernames(store, [token, *others]) == {token: "alice", **dict.fromkeys(others)}
