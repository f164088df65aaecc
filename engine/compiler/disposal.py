"""What was begun for an answer and is not waited for any more, because something beside it failed or was cancelled."""

from asyncio import Future
from collections.abc import Iterable
from inspect import CORO_CREATED, getcoroutinestate
from types import CoroutineType
from typing import Any


def dispose(awaitables: Iterable[Any]) -> None:
    """
    End what nobody waits for: Python would warn of each coroutine that never began and of each error that nobody read.

    A coroutine that is closed here has not begun what it holds: that has to be among the awaitables as well.
    """
    for each in awaitables:
        if isinstance(each, CoroutineType):
            if getcoroutinestate(each) == CORO_CREATED:
                each.close()
        elif isinstance(each, Future):
            _forget(each)


def _forget(future: "Future[Any]") -> None:
    if not future.done():
        future.cancel()
    elif not future.cancelled():
        future.exception()
