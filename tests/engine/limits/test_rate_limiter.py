"""Rate limits by cost: token buckets of addresses and users."""

import pytest

from engine import Client, RateLimiter
from engine.errors import Refused
from engine.limits.rate_limiter import MAX_BUCKETS
from tests.conftest import Clock
from tests.engine.sample import serving
from tests.engine.transports.messages import initialise, receive, subscribe

HERE, THERE = "1.1.1.1", "2.2.2.2"


@pytest.fixture
def clock():
    return Clock(1_470_311_520)


@pytest.fixture
def rates(clock):
    return RateLimiter(points=100, refill=10, clock=clock)


def take(rates, client, points):
    rates.take(rates.check(client), points)


def refused(rates, client):
    with pytest.raises(Refused) as refused:
        rates.check(client)
    return refused.value


def test_empty_bucket_tells_when_to_retry(rates, clock):
    client = Client(None, HERE)
    take(rates, client, 100)

    refusal = refused(rates, client)
    assert refusal.errors[0]["extensions"] == {"code": "RATE_LIMITED", "retryAt": "2016-08-04T11:52:01Z"}
    assert refusal.headers == [(b"retry-after", b"1")]
    clock.now += 1
    rates.check(client)


def test_expensive_operation_is_allowed_and_delays_the_next(rates, clock):
    client = Client(None, HERE)
    take(rates, client, 1_000)

    clock.now += 90
    assert refused(rates, client)
    clock.now += 1
    rates.check(client)


def test_bucket_is_never_filled_above_its_capacity(rates, clock):
    client = Client(None, HERE)
    take(rates, client, 1)
    clock.now += 1_000_000
    take(rates, client, 100)

    assert refused(rates, client)


def test_addresses_and_tokens_have_separate_buckets(rates):
    take(rates, Client("token", HERE), 100)

    assert refused(rates, Client(None, HERE))
    assert refused(rates, Client("other", HERE))
    assert refused(rates, Client("token", THERE))
    rates.check(Client("other", THERE))


def test_buckets_are_bounded(rates):
    for number in range(MAX_BUCKETS + 10):
        take(rates, Client(None, str(number)), 1)

    assert len(rates._buckets) == len(rates._taken) == MAX_BUCKETS


async def test_full_buckets_are_dropped(rates, clock):
    async def take_points(taken):
        return {}

    for number in range(10):
        take(rates, Client(None, str(number)), 1)
    await rates.synchronize(take_points)
    clock.now += 1
    take(rates, Client(None, HERE), 1)

    await rates.synchronize(take_points)

    assert list(rates._buckets) == [("address", HERE)]


async def test_points_taken_by_other_processes_count(rates):
    client, shared = Client("token", HERE), []

    async def take_points(taken):
        shared.append(dict(taken))
        if len(shared) == 1:
            take(rates, client, 3)  # a request arrives during the synchronization
        return {("address", HERE): 10, ("token", "token"): 1_000}

    take(rates, client, 20)
    await rates.synchronize(take_points)
    take(rates, client, 6)

    rates.check(client)
    take(rates, client, 1)
    assert refused(rates, client)
    rates.check(Client("token", THERE))  # the token has points left: we know of 30 that it took
    await rates.synchronize(take_points)
    assert shared == [{("address", HERE): points, ("token", "token"): points} for points in (20, 10)]


async def test_failed_synchronization_keeps_the_points_taken_here(rates):
    async def take_points(taken):
        raise OSError

    take(rates, Client(None, HERE), 100)
    with pytest.raises(OSError):
        await rates.synchronize(take_points)

    assert refused(rates, Client(None, HERE))


async def test_nothing_is_synchronized_if_no_points_were_taken(rates):
    shared = []

    async def take_points(taken):
        shared.append(taken)
        return {}

    await rates.synchronize(take_points)
    assert not shared


async def test_refusals_and_websocket_operations_cost_points():
    with serving(rate_limiter=RateLimiter(points=25, refill=0.001)) as server:
        async with server.socket() as socket:
            await initialise(socket)
            codes = []
            for number in range(4):
                await subscribe(socket, "{ nothing }", str(number))
                codes.append((await receive(socket))["payload"][0]["extensions"]["code"])

    assert codes == ["GRAPHQL_VALIDATION_FAILED"] * 3 + ["RATE_LIMITED"]
