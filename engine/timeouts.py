"""The time limit of executions, held by one timer for all of them."""

from asyncio import CancelledError, Task, TimerHandle, current_task, get_running_loop
from time import monotonic
from typing import Any

from engine.errors import Code, Refused


class Timeouts:
    """
    A context that limits the time of the block within, as `asyncio.timeout` does, but raises `Refused`. One object
    serves all tasks; a task may be in one block at a time.

    One timer serves all tasks of the event loop, because all have the same time limit of `seconds`. `asyncio.timeout`
    sets one for each task, which costs more.
    """

    def __init__(self, seconds: float) -> None:
        self.seconds = seconds
        # For each task the time when it is cancelled (monotonic), and how many cancellations it had when it entered its
        # block; the oldest is the first.
        self._running: dict[Task[Any], tuple[float, int]] = {}
        self._late: dict[Task[Any], int] = {}  # this number, of cancelled tasks, until they leave their blocks
        self._timer: TimerHandle | None = None

    def __enter__(self) -> None:
        task = current_task()
        assert task is not None, "code in an event loop runs in a task"
        self._running[task] = monotonic() + self.seconds, task.cancelling()
        if self._timer is None:
            self._timer = get_running_loop().call_later(self.seconds, self._cancel_late)

    def __exit__(self, kind: object, error: BaseException | None, trace: object) -> None:
        """The timer stays: when it fires, it is set for the oldest task."""
        task = current_task()
        assert task is not None, "it was in the block"
        if self._running.pop(task, None) is not None:
            return
        is_timeout = task.uncancel() <= self._late.pop(task)
        if is_timeout and isinstance(error, CancelledError):
            raise Refused(Code.TIMED_OUT, f"not answered within {self.seconds:g} seconds") from None

    def is_over(self, task: Task[Any] | None) -> bool:
        """Whether a task in a block was cancelled because its time was over."""
        return task in self._late

    def _cancel_late(self) -> None:
        """Cancel the tasks whose time is over, and set the timer for the next one."""
        self._timer = None
        now = monotonic()
        while self._running:
            task, (end, cancelling) = next(iter(self._running.items()))
            if end > now:
                self._timer = get_running_loop().call_later(end - now, self._cancel_late)
                return
            del self._running[task]
            self._late[task] = cancelling
            task.cancel()
