"""Timers that are set far more often than they ring."""

from asyncio import AbstractEventLoop, TimerHandle
from collections.abc import Callable
from math import inf


class Timer:
    """Calls `ring`, unless it is set anew or cleared before: both cost next to nothing, as what the loop has stays."""

    __slots__ = ("_at", "_looks_at", "_loop", "_ring", "_timer")

    def __init__(self, loop: AbstractEventLoop, ring: Callable[[], None]) -> None:
        self._loop = loop
        self._ring = ring
        self._at = self._looks_at = inf
        self._timer: TimerHandle | None = None

    def set(self, seconds: float) -> None:
        self._at = self._loop.time() + seconds
        if self._at < self._looks_at:
            self._look_later()

    def clear(self) -> None:
        self._at = inf

    def stop(self) -> None:
        """Clear it for good."""
        self.clear()
        if self._timer is not None:
            self._timer.cancel()

    def _look_later(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
        self._looks_at = self._at
        self._timer = self._loop.call_at(self._at, self._look)

    def _look(self) -> None:
        self._timer, self._looks_at = None, inf
        if self._at <= self._loop.time():
            self._ring()
        elif self._at < inf:
            self._look_later()
