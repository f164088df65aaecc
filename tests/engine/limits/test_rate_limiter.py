"""
Rate limits by cost: token buckets of users, server keys and addresses. A server key is the secret of another server,
such as that of a front end, which sends requests for visitors and says their addresses.
"""

import asyncio
from dataclasses import dataclass, field

import pytest

from engine import Client, RateLimiter
from engine.clients import ServerKey
from engine.errors import Refused
from engine.limits.rate_limiter import MAX_BUCKETS, RatePolicy
from tests.conftest import Clock
from tests.engine.messages import initialise, receive, subscribe
from tests.engine.sample import CONTEXTS, serving

HERE, THERE = "1.1.1.1", "2.2.2.2"
POLICIES = {  # of buckets: points at most, points regained a second, and the setting of the points
    "address": RatePolicy(100, 10, "ADDRESS_POINTS"),
    "user": RatePolicy(50, 10, "USER_POINTS"),
    "key": RatePolicy(200, 10, "KEY_POINTS"),
}


@dataclass
class Lookups:
    """Names by tokens and server keys ("?" if the lookup fails), and the texts that were looked up."""

    names: dict[str, str]
    texts: list[str] = field(default_factory=list)


@pytest.fixture
def clock():
    """A clock in seconds, unlike that of a store."""
    return Clock(1_470_311_520)


@pytest.fixture
def lookups():
    return Lookups({"alice-1": "alice", "alice-2": "alice", "shop.secret": "shop"})


@pytest.fixture
def rates(clock, lookups):
    async def find(texts):
        lookups.texts.extend(texts)
        return {text: lookups.names.get(text) for text in texts if lookups.names.get(text) != "?"}

    rates = RateLimiter(POLICIES, clock)
    rates.sessions.find = rates.keys.find = find
    return rates


async def take(rates, client, points):
    """Let a request of a client cost so many points."""
    (await rates.admit(client)).set(points)


async def refused(rates, client):
    with pytest.raises(Refused) as refused:
        await rates.admit(client)
    return refused.value


def points_left(rates, client):
    return rates.status(client).remaining


async def test_refusal_has_the_time_of_the_next_point_and_the_setting(rates, clock):
    client = Client(token=None, address=HERE)
    await take(rates, client, 100)

    refusal = await refused(rates, client)
    assert refusal.errors[0]["extensions"] == {"code": "RATE_LIMITED", "retryAt": "2016-08-04T11:52:01Z"}
    assert refusal.errors[0]["message"] == (
        "too often: the 100 points of this address are used up; ADDRESS_POINTS changes this limit"
    )
    assert refusal.headers == [(b"retry-after", b"1")]
    clock.now += 1
    await rates.admit(client)


async def test_expensive_operation_is_allowed_and_delays_the_next(rates, clock):
    client = Client(token=None, address=HERE)
    await take(rates, client, 1_000)

    clock.now += 90
    assert await refused(rates, client)
    clock.now += 1
    await rates.admit(client)


async def test_bucket_is_never_filled_above_its_capacity(rates, clock):
    client = Client(token=None, address=HERE)
    await take(rates, client, 1)
    clock.now += 1_000_000
    await take(rates, client, 100)

    assert await refused(rates, client)


async def test_points_are_given_back_up_to_the_capacity(rates):
    charge = await rates.admit(Client(token=None, address=HERE))
    charge.set(40)
    charge.set(4)
    assert points_left(rates, Client(token=None, address=HERE)) == 96

    rates.take(("address", HERE), -50)
    assert points_left(rates, Client(token=None, address=HERE)) == 100


async def test_session_takes_from_its_user_alone(rates):
    await take(rates, Client(token=None, address=HERE), 100)
    await take(rates, Client("alice-1", HERE), 20)
    await take(rates, Client("alice-2", THERE), 20)

    assert points_left(rates, Client("alice-1", HERE)) == 10
    assert points_left(rates, Client(token=None, address=THERE)) == 100
    await take(rates, Client("alice-1", THERE), 10)
    assert "USER_POINTS" in (await refused(rates, Client("alice-2", HERE))).errors[0]["message"]


async def test_token_without_a_session_takes_from_its_address(rates, lookups):
    for junk in ("junk", "x" * 10_000, "\ud800", "junk"):
        await take(rates, Client(junk, HERE), 25)

    assert await refused(rates, Client("other", HERE))
    assert lookups.texts == ["junk", "\ud800", "other"]


async def test_ended_session_takes_from_its_address_within_two_seconds(rates, lookups, clock):
    async def take_points(taken):
        return {}

    await take(rates, Client("alice-1", HERE), 1)
    lookups.names.clear()
    clock.now += 1.6
    await take(rates, Client("alice-1", HERE), 1)
    await rates.synchronize(take_points)
    await take(rates, Client("alice-1", HERE), 5)

    assert points_left(rates, Client(token=None, address=HERE)) == 95


async def test_lookup_that_fails_counts_for_the_address_and_is_not_repeated_at_once(rates, lookups, clock):
    lookups.names["new"] = "?"
    await take(rates, Client("new", HERE), 10)
    await take(rates, Client("new", HERE), 10)
    assert (points_left(rates, Client(token=None, address=HERE)), lookups.texts) == (80, ["new"])

    lookups.names["new"] = "bob"
    clock.now += 2
    await take(rates, Client("new", HERE), 10)
    assert points_left(rates, Client("new", HERE)) == 40


async def test_cached_session_is_used_while_lookups_fail(rates, lookups, clock):
    await take(rates, Client("alice-1", HERE), 10)
    lookups.names["alice-1"] = "?"
    clock.now += 61
    await take(rates, Client("alice-1", HERE), 10)

    assert points_left(rates, Client("alice-1", HERE)) == 40


async def test_server_key_has_a_bucket_of_its_own_and_sets_the_address_of_the_visitor(rates):
    keyed = Client(token=None, address=HERE, key=ServerKey("shop.secret", "2001:DB8:0::1"))
    charge = await rates.admit(keyed)
    charge.set(30)

    assert charge.client.address == "2001:db8::/64"
    assert (
        points_left(rates, keyed),
        points_left(rates, Client(token=None, address=HERE)),
        points_left(rates, charge.client),
    ) == (170, 100, 170)


async def test_session_behind_a_server_key_takes_from_its_user(rates):
    charge = await rates.admit(Client("alice-1", HERE, key=ServerKey("shop.secret", THERE)))
    charge.set(30)

    assert charge.client.address == THERE
    assert points_left(rates, Client("alice-1", HERE)) == 20
    assert points_left(rates, Client(token=None, address=HERE, key=ServerKey("shop.secret", ""))) == 200


@pytest.mark.parametrize(
    ("key", "code"),
    [
        (ServerKey("shop.wrong", ""), "UNAUTHENTICATED"),
        (ServerKey("", ""), "UNAUTHENTICATED"),
        (ServerKey("alice-3", THERE), "UNAUTHENTICATED"),
        (ServerKey("shop.secret", "somewhere"), "BAD_REQUEST"),
    ],
)
async def test_wrong_server_key_or_visitor_is_refused(rates, key, code):
    for _ in range(2):
        assert (await refused(rates, Client(token=None, address=HERE, key=key))).code == code


async def test_revoked_server_key_is_refused_within_a_second(rates, lookups, clock):
    keyed = Client(token=None, address=HERE, key=ServerKey("shop.secret", THERE))
    await rates.admit(keyed)
    del lookups.names["shop.secret"]
    clock.now += 0.9

    assert (await refused(rates, keyed)).code == "UNAUTHENTICATED"


async def test_headers_have_the_policy_and_the_points_left(rates):
    client = Client("alice-1", HERE)
    await take(rates, client, 33)
    assert rates.headers(client) == [
        (b"ratelimit", b'"user";r=17;t=4'),
        (b"ratelimit-policy", b'"user";q=50;qu="points";w=5'),
    ]

    await take(rates, client, 30)
    refusal = await refused(rates, client)
    assert rates.headers(client)[0] == (b"ratelimit", b'"user";r=0;t=2')
    assert refusal.headers == [(b"retry-after", b"2")]


async def test_buckets_are_bounded(rates):
    for number in range(MAX_BUCKETS + 10):
        await take(rates, Client(token=None, address=str(number)), 1)

    assert len(rates._buckets) == len(rates._taken) == MAX_BUCKETS


async def test_cached_tokens_are_bounded(rates):
    for number in range(MAX_BUCKETS + 10):
        await take(rates, Client(f"junk-{number}", HERE), 0)

    assert len(rates.sessions) == MAX_BUCKETS


async def test_full_buckets_are_dropped(rates, clock):
    async def take_points(taken):
        return {}

    for number in range(10):
        await take(rates, Client(token=None, address=str(number)), 1)
    await rates.synchronize(take_points)
    clock.now += 1
    await take(rates, Client(token=None, address=HERE), 1)

    await rates.synchronize(take_points)

    assert list(rates._buckets) == [("address", HERE)]


async def test_points_taken_by_other_processes_count(rates):
    client, shared = Client(token=None, address=HERE), []

    async def take_points(taken):
        shared.append(dict(taken))
        if len(shared) == 1:
            await take(rates, client, 3)  # a request arrives during the synchronization
        return {("address", HERE): 10}

    await take(rates, client, 20)
    await rates.synchronize(take_points)
    await take(rates, client, 6)

    await rates.admit(client)
    await take(rates, client, 1)
    assert await refused(rates, client)
    await rates.synchronize(take_points)
    assert shared == [{("address", HERE): points} for points in (20, 10)]


async def test_failed_synchronization_keeps_the_points_taken_here(rates):
    async def take_points(taken):
        raise OSError

    await take(rates, Client(token=None, address=HERE), 100)
    with pytest.raises(OSError):
        await rates.synchronize(take_points)

    assert await refused(rates, Client(token=None, address=HERE))


async def test_nothing_is_synchronized_if_no_points_were_taken(rates):
    shared = []

    async def take_points(taken):
        shared.append(taken)
        return {}

    await rates.synchronize(take_points)
    assert not shared


async def test_refusals_and_websocket_operations_cost_points():
    rates = RateLimiter({"address": RatePolicy(25, 0.001)})
    with serving(rate_limiter=rates) as server:
        async with server.socket() as socket:
            await initialise(socket)
            codes = []
            for number in range(4):
                await subscribe(socket, "{ nothing }", str(number))
                codes.append((await receive(socket))["payload"][0]["extensions"]["code"])

    assert codes == ["GRAPHQL_VALIDATION_FAILED"] * 3 + ["RATE_LIMITED"]


async def test_operations_of_a_websocket_take_from_the_key_of_its_handshake(lookups):
    async def find(texts):
        return {text: lookups.names.get(text) for text in texts}

    rates = RateLimiter(POLICIES)
    rates.keys.find = find
    headers = {"X-Key": "shop.secret", "X-Visitor": THERE}
    with serving(rate_limiter=rates, key_header="X-Key", visitor_header="X-Visitor") as server:
        async with server.socket(additional_headers=headers) as socket:
            await initialise(socket)
            await subscribe(socket, "{ hello }", "1")
            assert (await receive(socket))["payload"] == {"data": {"hello": "hello world"}}
            assert CONTEXTS.opened[-1].client.address == THERE
            assert socket.response.headers["ratelimit-policy"] == '"key";q=200;qu="points";w=20'

            del lookups.names["shop.secret"]
            await receive(socket)
            await asyncio.sleep(1)
            await subscribe(socket, "{ hello }", "2")
            assert (await receive(socket))["payload"][0]["extensions"]["code"] == "UNAUTHENTICATED"
