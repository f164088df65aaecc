"""How long anything may take that is answered once: one timer for all that runs, since all have the same time."""

from asyncio import CancelledError, Task, TimerHandle, current_task, get_running_loop
from time import monotonic
from typing import Any

from engine.errors import Code, Refused


class Deadlines:
    """Cancels the tasks of one event loop that have not ended `seconds` after they began."""

    def __init__(self, seconds: float) -> None:
        self.seconds = seconds
        self._running: dict[Task[Any], float] = {}  # when the time of each is over; the oldest is the first
        self._timer: TimerHandle | None = None

    def begin(self, task: Task[Any]) -> None:
        self._running[task] = monotonic() + self.seconds
        if self._timer is None:
            self._timer = get_running_loop().call_later(self.seconds, self._look)

    def end(self, task: Task[Any]) -> bool:
        """
        Return whether its time was over.

        The timer stays: it goes on to who is the oldest then, and so is set once in `seconds`, whatever comes and goes.
        """
        return self._running.pop(task, None) is None

    def is_over(self, task: Task[Any] | None) -> bool:
        """Whether the time of a task was over before it ended, so that it was cancelled."""
        return task not in self._running

    def _look(self) -> None:
        self._timer = None
        now = monotonic()
        while self._running:
            task, over = next(iter(self._running.items()))
            if over > now:
                self._timer = get_running_loop().call_later(over - now, self._look)
                return
            del self._running[task]
            task.cancel()


class Deadline:
    """As `asyncio.timeout`, but it refuses; whoever else cancels its task is heard. A task has one at a time."""

    __slots__ = ("_cancelling", "_deadlines", "_task")

    def __init__(self, deadlines: Deadlines) -> None:
        self._deadlines = deadlines

    def __enter__(self) -> None:
        task = current_task()
        assert task is not None, "what runs in an event loop is a task"
        self._task = task
        self._cancelling = task.cancelling()
        self._deadlines.begin(task)

    def __exit__(self, kind: object, error: BaseException | None, trace: object) -> None:
        is_ours = self._deadlines.end(self._task) and self._task.uncancel() <= self._cancelling
        if is_ours and isinstance(error, CancelledError):
            raise Refused(Code.TIMED_OUT, f"not answered within {self._deadlines.seconds:g} seconds") from None
