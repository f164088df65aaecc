"""Coalescing: queries that are equal and arrive at the same time are executed once."""

from asyncio import Future, get_running_loop
from collections.abc import Awaitable, Callable, Hashable
from typing import TypeAlias

from engine.errors import AnswerTooLarge
from engine.responses import EncodedResult

Shared: TypeAlias = EncodedResult | AnswerTooLarge | None  # None: each waiting request executes for itself


class Coalescer:
    """
    Executes queries with equal keys once if they arrive in the same iteration of the event loop.

    A query never joins an execution that began in an earlier iteration. It therefore reads data that is as new as
    if it had been executed itself, and a client reads its own writes.
    """

    def __init__(self) -> None:
        self._waiting: dict[Hashable, list[Future[Shared]]] = {}  # by the keys of this iteration's executions

    async def execute(self, key: Hashable, execute: Callable[[], Awaitable[EncodedResult]]) -> EncodedResult:
        """
        Execute, or wait for the result of an equal query.

        A result with errors is not shared: they contain the request's id, and may not occur again.

        Raises:
            AnswerTooLarge: the result is too large. All equal queries get this error.
        """
        waiting = self._waiting.get(key)
        if waiting is not None:
            joined: Future[Shared] = get_running_loop().create_future()
            waiting.append(joined)
            shared = await joined
            if isinstance(shared, AnswerTooLarge):
                raise AnswerTooLarge(shared.limit)
            return shared or await execute()
        return await self._lead(key, execute)

    async def _lead(self, key: Hashable, execute: Callable[[], Awaitable[EncodedResult]]) -> EncodedResult:
        if not self._waiting:
            get_running_loop().call_soon(self._waiting.clear)
        waiting = self._waiting[key] = []
        shared: Shared = None
        try:
            result = await execute()
            shared = None if result.has_errors else result
            return result
        except AnswerTooLarge as too_large:
            shared = too_large
            raise
        finally:
            if self._waiting.get(key) is waiting:
                del self._waiting[key]
            for each in waiting:
                if not each.done():  # it is done if its client has left
                    each.set_result(shared)
