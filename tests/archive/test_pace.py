"""
The pace of work that is done in steps, such as the removal of many articles: how many things a step takes, by the time
that the one before took, and how many steps are under way at once.
"""

import asyncio
from collections.abc import Sequence
from functools import partial

import pytest

from archive import pace
from archive.pace import Pace, in_steps


class Seconds:
    """A clock that a step moves."""

    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def seconds(monkeypatch: pytest.MonkeyPatch) -> Seconds:
    found = Seconds()
    monkeypatch.setattr(pace, "perf_counter", found)
    return found


async def step(seconds: Seconds, how_long: float) -> str:
    """A step that takes so many seconds of the clock."""
    seconds.now += how_long
    return "done"


@pytest.mark.parametrize(
    ("how_long", "sizes"),
    [
        (pace.QUICK / 2, [50, 62, 77, 96, 120, 150, 187, 200, 200]),
        (pace.SLOW * 2, [50, 25, 12, 10, 10]),
        (pace.SLOW * 3, [50, 16, 10]),
        ((pace.QUICK + pace.SLOW) / 2, [50, 50]),
    ],
)
async def test_the_time_of_a_step_decides_the_size_of_the_next(
    seconds: Seconds, how_long: float, sizes: list[int]
) -> None:
    """A quarter larger after a quick step, up to 200; half as large or less after a slow one, down to 10."""
    of_steps, found = Pace(), list[int]()
    for _ in sizes:
        found.append(of_steps.size)
        assert await of_steps.timed(partial(step, seconds, how_long)) == "done"
    assert found == sizes


async def test_steps_become_larger_again(seconds: Seconds) -> None:
    of_steps = Pace()
    for how_long in (pace.SLOW * 2, pace.SLOW * 2, pace.QUICK / 2):
        await of_steps.timed(partial(step, seconds, how_long))
    assert of_steps.size == 15


async def test_redis_has_one_step_at_a_time() -> None:
    of_steps, under_way, taken = Pace(), 0, 0

    async def take() -> None:
        nonlocal under_way, taken
        assert under_way == 0
        under_way += 1
        await asyncio.sleep(0)
        under_way -= 1
        taken += 1

    await in_steps(range(500), of_steps, lambda part: of_steps.timed(take))
    assert taken > pace.UNDER_WAY


async def test_after_a_step_that_fails_the_next_has_its_turn() -> None:
    of_steps = Pace()

    async def fail() -> None:
        raise LookupError

    with pytest.raises(LookupError):
        await of_steps.timed(fail)
    assert await asyncio.wait_for(of_steps.timed(partial(asyncio.sleep, 0, "done")), 60) == "done"


async def test_parts_are_taken_in_their_order_two_at_a_time() -> None:
    began, under_way, most = list[int](), 0, 0

    async def take(part: Sequence[int]) -> None:
        nonlocal under_way, most
        began.extend(part)
        under_way += 1
        most = max(most, under_way)
        await asyncio.sleep(0)
        under_way -= 1

    await in_steps(range(1_030), Pace(), take)
    assert began == list(range(1_030))
    assert most == pace.UNDER_WAY


async def test_no_step_is_taken_if_there_is_nothing_to_do() -> None:
    taken = list[Sequence[int]]()

    async def take(part: Sequence[int]) -> None:
        taken.append(part)

    await in_steps([], Pace(), take)
    assert taken == []


async def test_after_a_step_that_fails_none_begins_and_those_under_way_end() -> None:
    began, ended = list[int](), list[int]()

    async def take(part: Sequence[int]) -> None:
        began.append(part[0])
        await asyncio.sleep(0)
        if part[0] == 0:
            raise LookupError("the first")
        await asyncio.sleep(0)
        ended.append(part[0])

    with pytest.raises(LookupError, match="the first"):
        await in_steps(range(1_000), Pace(), take)
    assert (began, ended) == ([0, pace.FIRST], [pace.FIRST])


async def test_a_cancellation_ends_all_steps_under_way() -> None:
    began, cancelled, all_began = list[int](), list[int](), asyncio.Event()

    async def take(part: Sequence[int]) -> None:
        began.append(part[0])
        if len(began) == pace.UNDER_WAY:
            all_began.set()
        try:
            await asyncio.Event().wait()
        except asyncio.CancelledError:
            cancelled.append(part[0])
            raise

    task = asyncio.create_task(in_steps(range(1_000), Pace(), take))
    await all_began.wait()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert cancelled == began == [0, pace.FIRST]
