"""
Interrupts calls of the database that have run into their deadlines, or that nobody waits for any more. A call is one
use of a connection by a thread of this process: it runs one statement or more.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from math import inf
from threading import Condition, Thread
from time import monotonic

PAUSE = 0.02  # seconds between two interrupts of the same call


@dataclass(slots=True, eq=False)
class Call:
    """A call that may run until an instant of the monotonic clock."""

    deadline: float = inf
    interrupt: Callable[[], None] | None = None  # ends the statement that its connection runs; set while it runs

    @property
    def is_over(self) -> bool:
        return monotonic() >= self.deadline


@dataclass(slots=True)
class Interrupter:
    """
    Interrupts calls from a thread of its own, so that deadlines hold within a long step of a statement as well.

    A call is interrupted again until it has ended, because an interrupt between two of its statements has no effect.
    """

    _calls: set[Call] = field(default_factory=set)
    _changed: Condition = field(default_factory=Condition)
    _wakes_at: float = inf
    _is_ending: bool = False
    _is_closed: bool = False

    def __post_init__(self) -> None:
        Thread(target=self._run, name="database-interrupter", daemon=True).start()

    @contextmanager
    def watching(self, call: Call, interrupt: Callable[[], None]) -> Iterator[None]:
        """
        Within the context, interrupt a call from its deadline on. Nothing that follows it on the same connection is
        interrupted.
        """
        call.interrupt = interrupt
        with self._changed:
            self._calls.add(call)
            if self._is_ending:
                call.deadline = 0
            self._wake(call.deadline)
        try:
            yield
        finally:
            with self._changed:
                self._calls.discard(call)

    def end(self, *calls: Call) -> None:
        """End some calls now. Those that have ended are left alone."""
        with self._changed:
            for call in calls:
                call.deadline = 0
            if not self._calls.isdisjoint(calls):
                self._wake(at=0)

    def end_all(self) -> None:
        """End all calls, and from now on each that begins."""
        with self._changed:
            self._is_ending = True
            self.end(*self._calls)

    def close(self) -> None:
        with self._changed:
            self._is_closed = True
            self._wake(at=0)

    def _wake(self, at: float) -> None:
        """Wake the thread if it would sleep beyond an instant."""
        if at < self._wakes_at:
            self._wakes_at = at
            self._changed.notify()

    def _run(self) -> None:
        with self._changed:
            while not self._is_closed:
                for call in self._calls:
                    if call.is_over and call.interrupt:
                        with suppress(Exception):  # the connection may be lost
                            call.interrupt()
                soonest = min((call.deadline for call in self._calls), default=inf)
                now = monotonic()
                self._wakes_at = max(soonest, now + PAUSE)
                self._changed.wait(None if soonest == inf else self._wakes_at - now)
