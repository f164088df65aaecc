"""Whose time is over is cancelled and refused; whoever else cancels a task is heard."""

import asyncio
from asyncio import CancelledError, current_task, sleep
from contextlib import suppress
from time import monotonic

import pytest

from engine import Code
from engine.errors import Refused
from engine.handler import Timeout, Timeouts

SECONDS = 0.03
LONG = 60


@pytest.fixture
def timeouts():
    return Timeouts(SECONDS)


async def refused_after(timeouts, pause=0.0):
    """The seconds that something without end was let run."""
    await sleep(pause)
    began = monotonic()
    with pytest.raises(Refused) as refused, Timeout(timeouts):
        await sleep(LONG)
    assert refused.value.code == Code.TIMED_OUT
    assert current_task().cancelling() == 0
    return monotonic() - began


async def test_what_does_not_end_is_refused_with_its_reason(timeouts):
    with pytest.raises(Refused) as refused, Timeout(timeouts):
        await sleep(LONG)

    assert refused.value.errors == [{"message": "not answered within 0.03 seconds", "extensions": {"code": "TIMEOUT"}}]


async def test_each_has_its_own_time(timeouts):
    async with asyncio.timeout(LONG / 2):
        given = await asyncio.gather(*(refused_after(timeouts, pause / 100) for pause in range(6)))

    assert min(given) >= SECONDS


async def test_who_ended_is_left_alone(timeouts):
    with Timeout(timeouts):
        await sleep(0)

    await sleep(2 * SECONDS)
    assert await refused_after(timeouts) >= SECONDS


async def test_error_of_its_own_is_raised(timeouts):
    with pytest.raises(ZeroDivisionError), Timeout(timeouts):
        raise ZeroDivisionError


async def test_client_that_goes_cancels(timeouts):
    task = asyncio.create_task(refused_after(timeouts))
    await sleep(0)

    task.cancel()

    with pytest.raises(CancelledError):
        await task


async def test_client_that_goes_as_the_time_is_over_cancels(timeouts):
    async def run():
        with Timeout(timeouts):
            try:
                await sleep(LONG)
            except CancelledError:
                current_task().cancel()
                raise

    task = asyncio.create_task(run())

    with pytest.raises(CancelledError):
        await task


async def test_answer_that_comes_all_the_same_is_one(timeouts):
    with Timeout(timeouts), suppress(CancelledError):
        await sleep(LONG)

    assert current_task().cancelling() == 0
    await sleep(0)
