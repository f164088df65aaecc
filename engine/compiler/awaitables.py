"""Waits for several awaitables at once, and ends those that nobody waits for any more."""

from asyncio import CancelledError, Future, ensure_future, gather
from collections.abc import Awaitable, Iterable, Sequence
from inspect import CORO_CREATED, getcoroutinestate
from types import CoroutineType
from typing import Any


async def gather_all(awaitables: Sequence[Awaitable[Any]]) -> list[Any]:
    """
    The results of at least one awaitable, all of them awaited concurrently.

    The first is awaited in the current task, so that a single one needs no task. If one fails, the error is raised
    when all are done; cancellation cancels them.
    """
    first, *rest = awaitables
    tasks = [ensure_future(each) for each in rest]
    try:
        return [await first, *[await task for task in tasks]]
    except Exception:
        await gather(*tasks, return_exceptions=True)
        raise
    except CancelledError:
        for task in tasks:
            task.cancel()
        await gather(*tasks, return_exceptions=True)
        raise


def dispose(awaitables: Iterable[Any]) -> None:
    """
    Close or cancel what nobody waits for: Python would warn of coroutines never awaited and of errors never retrieved.

    Closing a coroutine does not close the awaitables that it would have awaited: list them as well.
    """
    for each in awaitables:
        if isinstance(each, CoroutineType):
            if getcoroutinestate(each) == CORO_CREATED:
                each.close()
        elif isinstance(each, Future):
            if not each.done():
                each.cancel()
            elif not each.cancelled():
                each.exception()
