"""Background tasks: they run as long as a context is open."""

import asyncio
import logging
from collections.abc import AsyncIterator, Awaitable, Callable, Coroutine, Iterator
from contextlib import AbstractAsyncContextManager, asynccontextmanager, suppress
from itertools import cycle
from typing import Any, NoReturn

from store.errors import StoreUnavailable

PARTITIONS_AT_ONCE = 64  # shares of the data that one pass of a task looks at; the next pass takes the next ones

logger = logging.getLogger("upvote")


@asynccontextmanager
async def running(work: Coroutine[Any, Any, object]) -> AsyncIterator[None]:
    """Run a coroutine in a task of its own. At the end the task is cancelled and waited for."""
    task = asyncio.create_task(work)
    try:
        yield
    finally:
        task.cancel()
        with suppress(asyncio.CancelledError):
            await task


def repeating(work: Callable[[], Awaitable[object]], interval: float, fault: str) -> AbstractAsyncContextManager[None]:
    """
    Do `work` every `interval` seconds, as long as the context is open.

    What cannot be done while the store does not answer is left to the next time; any other error is logged as `fault`.
    """
    return running(_repeat(work, interval, fault))


def turns(partitions: int) -> Iterator[range]:
    """All partitions again and again, `PARTITIONS_AT_ONCE` at a time."""
    starts = range(0, partitions, PARTITIONS_AT_ONCE)
    return cycle(range(start, min(start + PARTITIONS_AT_ONCE, partitions)) for start in starts)


async def _repeat(work: Callable[[], Awaitable[object]], interval: float, fault: str) -> NoReturn:
    while True:
        await asyncio.sleep(interval)
        try:
            await work()
        except StoreUnavailable:
            pass
        except Exception:  # the task must go on: nothing restarts it
            logger.exception(fault)
