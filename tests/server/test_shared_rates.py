"""Points are those of an address and of a user, whichever process gives them out and with whatever token."""

from functools import partial

import pytest

from engine import Client, RateLimiter
from engine.errors import Refused
from server.shared_rates import digest_of, take, usernames
from store.rate_limits import TokenBuckets

pytestmark = pytest.mark.routed

HERE, THERE, YONDER = "1.1.1.1", "2.2.2.2", "3.3.3.3"


@pytest.fixture
def told(store):
    return partial(take, TokenBuckets(store.site, capacity=100, refill=10))


@pytest.fixture
def identified(store):
    return partial(usernames, store)


def rates():
    return RateLimiter(points=100, refill=10, clock=lambda: 0, digest_of=digest_of)


async def test_tokens_of_a_user_take_from_one_bucket(store, alice, told, identified):
    first, second = [(await store.sessions.open(alice)).token for _ in range(2)]
    here, there = rates(), rates()
    here.take(here.check(Client(first, HERE)), 60)
    there.take(there.check(Client(second, THERE)), 30)
    there.take(there.check(Client(first, YONDER)), 5)
    for each in (here, there, here):
        await each.synchronize(told, identified)
    there.check(Client(second, "4.4.4.4"))
    there.take(there.check(Client(first, "4.4.4.4")), 5)

    there.check(Client(None, "4.4.4.4"))
    with pytest.raises(Refused):
        there.check(Client(first, YONDER))
    with pytest.raises(Refused):
        there.check(Client(second, THERE))


async def test_token_of_nobody_counts_for_its_address_alone(told, identified):
    here = rates()
    for forged in ("A" * 46, "A" * 45 + "E", "\ud800", "x" * 100_000):
        here.take(here.check(Client(forged, HERE)), 10)
        await here.synchronize(told, identified)
    here.take(here.check(Client("A" * 46, HERE)), 60)

    with pytest.raises(Refused):
        here.check(Client("A" * 46, HERE))
    here.check(Client("A" * 46, THERE))
    assert len(here._buckets) == 1


async def test_token_has_one_spelling(store, alice, told, identified):
    token = (await store.sessions.open(alice)).token
    last = token[-1]
    others = [token[:-1] + each for each in "ABCDEFGHIJKLMNOPQRSTUVWXYZ" if each != last]
    spellings = [*others, token + "=", token + "==", token[:5] + "!" + token[5:], f"{token}\n", token.replace("-", "+")]

    assert [digest_of(each) for each in spellings if each != token and digest_of(each) == digest_of(token)] == []
    here = rates()
    here.take(here.check(Client(token, HERE)), 50)
    here.take(here.check(Client(token, THERE)), 50)
    with pytest.raises(Refused):
        here.check(Client(token, YONDER))


async def test_many_tokens_of_a_user_are_one_user(store, alice, told, identified):
    tokens = [(await store.sessions.open(alice)).token for _ in range(10)]
    here = rates()
    for token in tokens:
        here.take(here.check(Client(token, HERE)), 9)
    await here.synchronize(told, identified)

    here.take(here.check(Client(tokens[0], THERE)), 10)
    with pytest.raises(Refused):
        here.check(Client(tokens[1], YONDER))
