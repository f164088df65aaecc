"""
Token buckets of points that all processes share, by name, such as an address. A bucket holds `capacity` points, and
`refill` points come back each second.
"""

import asyncio

import pytest

from store.client.client import RedisUsage, current_usage
from store.rate_limits import TokenBuckets
from store.store import Store


@pytest.fixture
def buckets(store):
    return TokenBuckets(store.site, capacity=100, refill=10)


async def test_processes_take_points_from_the_same_buckets(redis_url, clock, buckets):
    other = await Store.open(redis_url, clock=clock)
    other_buckets = TokenBuckets(other.site, capacity=100, refill=10)
    await asyncio.gather(*(each.take({"here": 2, "there": 1}) for each in [buckets, other_buckets] * 10))

    assert await other_buckets.take({"here": 1, "there": 0.5, "\ud800": 1}) == {"here": 59, "there": 79.5, "\ud800": 99}
    await other.close()


async def test_points_come_back_until_a_bucket_is_full(buckets, clock, redis):
    await buckets.take({"here": 150})
    (key,) = redis.scan_iter("bucket:*")

    assert 14_000 < redis.pttl(key) <= 15_001
    clock.advance(3)
    assert await buckets.take({"here": 1}) == {"here": -21}
    clock.advance(1_000)
    assert await buckets.take({"here": 1}) == {"here": 99}


async def test_clock_that_is_behind_refills_nothing(buckets, clock):
    await buckets.take({"here": 50})
    clock.advance(-60)
    assert await buckets.take({"here": 1}) == {"here": 49}

    clock.advance(61)
    assert await buckets.take({"here": 1}) == {"here": 58}


@pytest.mark.one_server
async def test_many_buckets_take_one_round_trip(buckets):
    counted = RedisUsage()
    current_usage.set(counted)
    left = await buckets.take({f"address {number}": number for number in range(350)})

    assert left == {f"address {number}": 100 - number for number in range(350)}
    assert counted.round_trips == 1
