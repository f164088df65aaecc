"""
How much a step of a long work does, and how many steps are under way at once.

Every other request waits for the script of a step, so what bounds a step is the time that its script takes. That
depends on the machine and on what the step is about: a comment of a deep thread takes longer than an article.
"""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from time import perf_counter
from typing import TypeVar

T = TypeVar("T")
S = TypeVar("S")

FIRST, LEAST, MOST = 50, 10, 200  # articles and comments in the first, smallest and largest step; tests lower MOST
QUICK, SLOW = 0.002, 0.004  # seconds until the answer of a step that is too small, and of one that is too large
UNDER_WAY = 2  # steps: one reads what it needs of the database while Redis runs the script of the other


class Pace:
    """
    Decides how many articles and comments the next step takes, `size`: a quarter more after a quick step; after a slow
    one half as many, or fewer if it took more than twice `SLOW`. What is measured is the time until the answer, so
    steps become smaller where the machine is busy.
    """

    def __init__(self) -> None:
        self.size = min(FIRST, MOST)
        self._turn = asyncio.Lock()

    async def timed(self, take: Callable[[], Awaitable[S]]) -> S:
        """
        Run a step, and return its answer; its time decides the size of the next one. Redis gets one step at a time: two
        that arrive together would run one after the other before any answer, and every other request would wait for
        both.
        """
        async with self._turn:
            started = perf_counter()
            found = await take()
            seconds = perf_counter() - started
        if seconds < QUICK:
            self.size = min(self.size * 5 // 4, MOST)
        elif seconds > SLOW:
            in_time = int(self.size * SLOW / seconds)  # at the speed of this step
            self.size = max(min(self.size // 2, in_time), min(LEAST, MOST))
        return found


async def in_steps(things: Sequence[T], pace: Pace, take: Callable[[Sequence[T]], Awaitable[None]]) -> None:
    """
    Take a step for each part of some things, in their order, `UNDER_WAY` at a time. After one that fails no other
    begins; those under way are awaited, and the first exception is raised.
    """
    place = 0

    async def go_on() -> None:
        nonlocal place
        while place < len(things):
            part = things[place : place + pace.size]
            place += len(part)
            try:
                await take(part)
            except BaseException:
                place = len(things)
                raise

    for outcome in await asyncio.gather(*(go_on() for _ in range(UNDER_WAY)), return_exceptions=True):
        if outcome is not None:
            raise outcome
