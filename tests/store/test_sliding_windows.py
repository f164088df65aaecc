"""
Rate limits by sliding windows, which all processes share: at most `limit` attempts in any span of `seconds`.
"""

import asyncio

import pytest

from store import rate_limits
from store.errors import RateLimited
from store.rate_limits import SlidingWindow
from tests.conftest import Clock

MINUTE = SlidingWindow(("something", "alice"), seconds=60, limit=3)  # what is tried, and by whom
HOUR = SlidingWindow(("something", "alice"), seconds=3600, limit=4)
KEY_OF_MINUTE_IN_0_1_0 = "LIMITER/('something', 'alice')/3/60/second"  # of the window MINUTE, in version 0.1.0


async def refused_until(store, *windows) -> int:
    """When an attempt, which is refused now, may be repeated (unix milliseconds)."""
    with pytest.raises(RateLimited) as limited:
        await store.attempts.count(windows)
    return limited.value.retry_at


async def test_attempt_counts_to_the_last_millisecond_of_its_window(store, clock):
    clock.now += 123
    first = clock.now
    for _ in range(3):
        await store.attempts.count([MINUTE])
        clock.now += 1
    clock.now = first + 60_000

    assert await refused_until(store, MINUTE) == first + 60_001
    clock.now += 1
    await store.attempts.count([MINUTE])
    assert await refused_until(store, MINUTE) == first + 60_002


@pytest.mark.parametrize("seed", range(0, 60_000, 7_001))
async def test_no_window_of_any_start_has_more_than_the_limit(store, clock, seed):
    counted = []
    for step in range(1, 60):
        clock.now += (seed + step * 7_919) % 41_003  # any times up to 41 seconds
        try:
            await store.attempts.count([MINUTE])
        except RateLimited as limited:
            assert limited.retry_at == counted[-3] + 60_001
        else:
            counted.append(clock.now)

    assert all(later - earlier > 60_000 for earlier, later in zip(counted, counted[3:], strict=False))


async def test_attempt_that_one_window_refuses_counts_in_none(store, clock, redis):
    first = clock.now
    for _ in range(3):
        await store.attempts.count([MINUTE, HOUR])

    assert await refused_until(store, MINUTE, HOUR) == first + 60_001
    assert sorted(redis.llen(key) for key in redis.scan_iter("tried:*")) == [3, 3]
    clock.now = first + 60_001
    await store.attempts.count([MINUTE, HOUR])
    assert await refused_until(store, MINUTE, HOUR) == first + 3_600_001


async def test_attempt_that_is_taken_back_does_not_count(store):
    for _ in range(10):
        await store.attempts.take_back(await store.attempts.count([MINUTE, HOUR]))
    results = await asyncio.gather(*(store.attempts.count([MINUTE]) for _ in range(10)), return_exceptions=True)

    assert [type(result) for result in results].count(RateLimited) == 7


async def test_attempts_that_version_0_1_0_counted_still_count(store, clock: Clock, redis):
    key = rate_limits.tried(*store.site.partition_and_digest(KEY_OF_MINUTE_IN_0_1_0))
    redis.rpush(key, *[f"{(clock.now + each) / 1000:.17g}" for each in (-1, -59_877, -59_999)])

    assert await refused_until(store, MINUTE) == clock.now + 2
    clock.now += 2
    await store.attempts.count([MINUTE])
    assert await refused_until(store, MINUTE) == clock.now - 2 - 59_877 + 60_001


async def test_window_that_ends_leaves_no_key(store, redis):
    await store.attempts.count([MINUTE, HOUR])

    left = sorted(redis.pttl(key) for key in redis.scan_iter("tried:*"))
    assert [round(each / 1000) for each in left] == [60, 3600]


async def test_attempts_are_counted_in_the_process_while_the_store_is_full(store, clock, redis):
    await store.attempts.count([HOUR])
    redis.config_set("maxmemory", 1)
    try:
        first = clock.now
        taken_back = await store.attempts.count([MINUTE, HOUR])
        await store.attempts.take_back(taken_back)
        for _ in range(3):
            await store.attempts.count([MINUTE])

        assert await refused_until(store, MINUTE) == first + 60_001
        assert [redis.llen(key) for key in redis.scan_iter("tried:*")] == [1]
        clock.now = first + 60_001
        await store.attempts.count([MINUTE])
    finally:
        redis.config_set("maxmemory", 0)
