"""Time limits: a late task is cancelled and refused; other cancellations are passed on."""

import asyncio
from asyncio import CancelledError, current_task, sleep
from contextlib import suppress
from time import monotonic

import pytest

from engine import Code
from engine.errors import Refused
from engine.timeouts import Timeouts

SECONDS = 0.03
LONG = 60


@pytest.fixture
def timeouts():
    return Timeouts(SECONDS)


async def refused_after(timeouts, pause=0.0):
    """Return the seconds after which an endless operation was cancelled."""
    await sleep(pause)
    started_at = monotonic()
    with pytest.raises(Refused) as refused, timeouts:
        await sleep(LONG)
    assert refused.value.code == Code.TIMED_OUT
    assert current_task().cancelling() == 0
    return monotonic() - started_at


async def test_late_task_is_refused_with_a_reason(timeouts):
    with pytest.raises(Refused) as refused, timeouts:
        await sleep(LONG)

    assert refused.value.errors == [{"message": "not answered within 0.03 seconds", "extensions": {"code": "TIMEOUT"}}]


async def test_each_task_has_its_own_time_limit(timeouts):
    async with asyncio.timeout(LONG / 2):
        given = await asyncio.gather(*(refused_after(timeouts, pause / 100) for pause in range(6)))

    assert min(given) >= SECONDS


async def test_finished_task_is_not_cancelled(timeouts):
    with timeouts:
        await sleep(0)

    await sleep(2 * SECONDS)
    assert await refused_after(timeouts) >= SECONDS


async def test_exceptions_of_the_block_are_raised(timeouts):
    with pytest.raises(ZeroDivisionError), timeouts:
        raise ZeroDivisionError


async def test_other_cancellation_is_not_a_timeout(timeouts):
    task = asyncio.create_task(refused_after(timeouts))
    await sleep(0)

    task.cancel()

    with pytest.raises(CancelledError):
        await task


async def test_other_cancellation_at_the_time_limit_is_not_a_timeout(timeouts):
    async def run():
        with timeouts:
            try:
                await sleep(LONG)
            except CancelledError:
                current_task().cancel()
                raise

    task = asyncio.create_task(run())

    with pytest.raises(CancelledError):
        await task


async def test_result_despite_the_cancellation_is_returned(timeouts):
    with timeouts, suppress(CancelledError):
        await sleep(LONG)

    assert current_task().cancelling() == 0
    await sleep(0)
