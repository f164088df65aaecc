"""Passwords as argon2id hashes (19 MiB, two passes: OWASP's first choice), made and checked off the event loop."""

import asyncio
import math
import os
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from time import monotonic
from typing import TypeVar

from pwdlib import PasswordHash
from pwdlib.hashers.argon2 import Argon2Hasher

from store.errors import RateLimited

T = TypeVar("T")

HASHER = PasswordHash((Argon2Hasher(memory_cost=19_456, time_cost=2, parallelism=1),))
NOBODYS = f"$argon2id$v=19$m=19456,t=2,p=1${'A' * 22}${'A' * 43}"  # as HASHER's, of no password: made, it takes long

THREADS = max(1, (os.cpu_count() or 1) // 2)  # the rest is for requests that hash nothing
WAITING = 32  # for each thread: about a second's work, on a machine with nothing else to do
SECONDS = 1.0
BUSY_MILLISECONDS = 1_000


class Late(Exception):
    """Its turn came, but too late."""


class Passwords:
    """
    A few threads, and a queue before them, bounded in length and in the seconds that anybody waits in it. Where
    `is_bounded` is false nobody is refused: everybody waits until it is their turn, or until they are cancelled.

    `clock` gives unix milliseconds.
    """

    def __init__(
        self,
        clock: Callable[[], int],
        threads: int = THREADS,
        waiting: int = WAITING,
        seconds: float = SECONDS,
        *,
        is_bounded: bool = True,
    ) -> None:
        self._clock = clock
        self._seconds = seconds if is_bounded else math.inf
        self._threads = ThreadPoolExecutor(threads, "passwords")
        self._free = threads * (1 + waiting) if is_bounded else math.inf

    def close(self) -> None:
        self._threads.shutdown(wait=False, cancel_futures=True)

    async def hashed(self, password: str) -> str:
        """
        Raises:
            RateLimited: too many wait already, or it would take too long.
        """
        return await self._in_turn(HASHER.hash, password)

    async def matches(self, password: str, known: str | None) -> bool:
        """
        Takes as long where there is no hash to compare with, so that time does not tell which names exist.

        Raises:
            RateLimited: too many wait already, or it would take too long.
        """
        return await self._in_turn(HASHER.verify, password, known or NOBODYS) and known is not None

    async def _in_turn(self, function: Callable[..., T], *arguments: str) -> T:
        if not self._free:
            raise RateLimited(self._clock() + BUSY_MILLISECONDS)
        self._free -= 1
        future = self._threads.submit(in_time, monotonic() + self._seconds, function, *arguments)
        # Given back when the thread is done: whoever asked may have gone long before.
        loop = asyncio.get_running_loop()
        future.add_done_callback(lambda _: None if loop.is_closed() else loop.call_soon_threadsafe(self._give_back))
        try:
            return await asyncio.wrap_future(future)
        except Late:
            raise RateLimited(self._clock() + BUSY_MILLISECONDS) from None

    def _give_back(self) -> None:
        self._free += 1


def in_time(until: float, function: Callable[..., T], *arguments: str) -> T:
    if monotonic() > until:
        raise Late
    return function(*arguments)
