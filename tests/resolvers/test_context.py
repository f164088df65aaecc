"""
`Context.resolve` calls a batch resolver once for all parents of a tick, an iteration of the event loop, that have equal
arguments. Cancellation and errors of one parent do not affect the others.
"""

import asyncio
import gc
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

import pytest

from resolvers.context import Context
from tests.servers import PATIENCE

pytestmark = pytest.mark.many_partitions


async def doubled(parents: list[int], context: Context) -> list[int]:
    await asyncio.sleep(0)
    return [2 * parent for parent in parents]


async def halved(parents: list[int], context: Context) -> list[Any]:
    return [ValueError(parent) if parent % 2 else parent // 2 for parent in parents]


async def failing(parents: list[int], context: Context) -> list[int]:
    raise ValueError(parents)


@pytest.mark.parametrize("before", range(4))
@pytest.mark.parametrize("after", range(3))
async def test_cancelled_value_does_not_cancel_a_later_one(store, before, after):
    context = Context(store)
    cancelled = context.resolve(doubled, 1, {})
    await ticks(before)
    cancelled.cancel()
    await ticks(after)

    async with asyncio.timeout(PATIENCE):
        assert await context.resolve(doubled, 2, {}) == 4


async def test_error_of_one_parent_does_not_affect_the_others(store):
    context = Context(store)
    values = [context.resolve(halved, parent, {}) for parent in (2, 3, 4)]
    results = await asyncio.gather(*values, return_exceptions=True)

    assert [type(result) for result in results] == [int, ValueError, int]


@pytest.mark.parametrize("before", range(3))
async def test_error_of_a_cancelled_value_is_not_logged(store, caplog, before):
    context = Context(store)
    cancelled = context.resolve(failing, 1, {})
    await ticks(before)
    cancelled.cancel()
    await ticks(10)
    del cancelled, context
    gc.collect()

    assert caplog.records == []


@dataclass
class Range:
    """An input object as Strawberry makes them: it cannot be hashed."""

    bounds: list[int]


async def test_parents_with_equal_lists_and_input_objects_share_a_batch(store):
    batches = []

    async def counted(parents, context, ids, within):
        batches.append(parents)
        return [len(ids) + within.bounds[0]] * len(parents)

    context = Context(store)
    values = [context.resolve(counted, parent, {"ids": [1, 2], "within": Range([5])}) for parent in "ab"]
    other = context.resolve(counted, "c", {"ids": [1], "within": Range([6])})

    assert await asyncio.gather(*values, other) == [7, 7, 7]
    assert batches == [["a", "b"], ["c"]]


@dataclass(slots=True)
class Parts:
    """A value of a custom scalar; it has no `__dict__`."""

    parts: list[int]


@pytest.mark.parametrize(
    ("one", "other"), [(1, True), ([1], [1.0]), (Decimal("1.0"), Decimal("1.00")), (Parts([0]), Parts([False]))]
)
async def test_parents_with_arguments_that_only_python_calls_equal_do_not_share_a_batch(store, one, other):
    async def shown(parents, context, value):
        return [repr(value)] * len(parents)

    context = Context(store)
    values = [context.resolve(shown, "a", {"value": value}) for value in (one, other)]

    assert await asyncio.gather(*values) == [repr(one), repr(other)]


async def ticks(count: int) -> None:
    for _ in range(count):
        await asyncio.sleep(0)
