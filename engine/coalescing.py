"""Coalescing: queries that are equal and arrive at the same time, and subscriptions to one event, are executed once."""

from asyncio import Future, get_running_loop
from collections.abc import Awaitable, Callable, Hashable
from typing import Any, TypeAlias

from engine.errors import AnswerTooLarge
from engine.results import EncodedResult

Shared: TypeAlias = EncodedResult | AnswerTooLarge | None  # None: each waiting request executes for itself


class Coalescer:
    """
    Executes queries with equal keys once if they arrive in the same iteration of the event loop, and subscriptions with
    equal keys once for each event that they receive.

    An iteration lasts from the beginning of an execution until a callback that was scheduled there runs: nothing is
    received in between. So each execution reads data that is as new as if all who share it had executed it themselves,
    and a client reads its own writes.
    """

    def __init__(self) -> None:
        self._executions: dict[Hashable, SharedExecution] = {}  # those that began in this iteration

    async def execute(
        self,
        key: Hashable,
        execute: Callable[..., Awaitable[EncodedResult]],
        *arguments: Any,
        event: object = None,
    ) -> EncodedResult:
        """
        Execute, with these arguments, or take the result of an equal execution.

        A query joins an execution only while that is running. A subscription gives the `event` that it received, and
        may also take the result of an execution that has ended in this iteration: most end without waiting for
        anything, before the next subscription receives the event.

        A result with errors is not shared: they contain the request's id, and may not occur again.

        Raises:
            AnswerTooLarge: the result is too large. All equal queries get this error.
        """
        execution = self._executions.get(key)
        if execution is not None:
            shared = execution.outcome or await execution.join()
            if isinstance(shared, AnswerTooLarge):
                raise AnswerTooLarge(shared.limit)
            return shared or await execute(*arguments)
        execution = self._begin(key, event)
        outcome: Shared = None
        try:
            result = await execute(*arguments)
            outcome = result if result.is_shareable and not result.has_errors else None
            return result
        except AnswerTooLarge as too_large:
            outcome = too_large
            raise
        finally:
            if (event is None or outcome is None) and self._executions.get(key) is execution:
                del self._executions[key]
            execution.end(outcome)

    def _begin(self, key: Hashable, event: object) -> "SharedExecution":
        # each key by itself: another one's iteration may have begun earlier, and end before all subscribers are resumed
        get_running_loop().call_soon(self._executions.pop, key, None)
        execution = self._executions[key] = SharedExecution(event)
        return execution


class SharedExecution:
    """
    An execution, and those that wait for it. After its end it has an outcome if others may have it.

    It holds the `event` that it is about, so that the id of this object remains in use.
    """

    __slots__ = ("_waiting", "event", "outcome")

    def __init__(self, event: object) -> None:
        self.event = event
        self.outcome: Shared = None
        self._waiting: list[Future[Shared]] = []

    def join(self) -> "Future[Shared]":
        joined: Future[Shared] = get_running_loop().create_future()
        self._waiting.append(joined)
        return joined

    def end(self, outcome: Shared) -> None:
        self.outcome = outcome
        for each in self._waiting:
            if not each.done():  # it is done if its client has left
                each.set_result(outcome)
