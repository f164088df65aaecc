"""
Hashes and verifies passwords with argon2id (19 MiB, two passes, as OWASP recommends) in threads, and refuses common
ones, by zxcvbn's list of the most frequent leaked passwords.
"""

import asyncio
import math
import os
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from importlib.util import find_spec, module_from_spec, spec_from_file_location
from pathlib import Path
from time import monotonic
from typing import TypeVar

from pwdlib import PasswordHash
from pwdlib.hashers.argon2 import Argon2Hasher

from store.errors import Invalid, RateLimited

T = TypeVar("T")

HASHER = PasswordHash((Argon2Hasher(memory_cost=19_456, time_cost=2, parallelism=1),))
DUMMY_HASH = f"$argon2id$v=19$m=19456,t=2,p=1${'A' * 22}${'A' * 43}"  # of no password; as slow to verify as others

THREADS = max(1, (os.cpu_count() or 1) // 2)  # the other cores serve requests that hash nothing
QUEUE_LENGTH = 32  # for each thread: about a second of work
MAX_WAIT = 1.0  # seconds
BUSY_MILLISECONDS = 1_000  # until a password that was refused may be tried again
COMMONEST = 10_000  # how many passwords are refused as common


async def refuse_common(password: str, field: str = "password") -> None:
    """
    Check a password against the list; case does not matter.

    Raises:
        Invalid: the password is one of the 10,000 commonest. `field` is its path in the input.
    """
    if password.casefold() in await asyncio.to_thread(commonest):
        raise Invalid(f"this password is one of the {COMMONEST} commonest: choose another", field)


@cache
def commonest() -> frozenset[str]:
    """Loaded on first use, as it takes 20 ms. Imports only the module with the lists, not the whole package."""
    package = find_spec("zxcvbn")
    assert package and package.origin, "it is among the requirements"
    spec = spec_from_file_location("frequency_lists", Path(package.origin).with_name("frequency_lists.py"))
    assert spec and spec.loader
    lists = module_from_spec(spec)
    spec.loader.exec_module(lists)
    return frozenset(password.casefold() for password in lists.FREQUENCY_LISTS["passwords"][:COMMONEST])


class WaitedTooLong(Exception):
    """A password waited in the queue for too long."""


class Passwords:
    """
    A thread pool with a queue that is bounded in length and in waiting time (seconds). Without `is_bounded`,
    passwords wait for any time and none is refused.

    `clock` returns unix milliseconds.
    """

    def __init__(
        self,
        clock: Callable[[], int],
        threads: int = THREADS,
        queue_length: int = QUEUE_LENGTH,
        max_wait: float = MAX_WAIT,
        *,
        is_bounded: bool = True,
    ) -> None:
        self._clock = clock
        self._max_wait = max_wait if is_bounded else math.inf
        self._threads = ThreadPoolExecutor(threads, "passwords")
        self._free = threads * (1 + queue_length) if is_bounded else math.inf  # places, in threads and in the queue

    def close(self) -> None:
        self._threads.shutdown(wait=False, cancel_futures=True)

    async def hashed(self, password: str) -> str:
        """
        Hash a password, with a random salt.

        Raises:
            RateLimited: the queue is full, or the password waited too long.
        """
        return await self._in_thread(HASHER.hash, password)

    async def matches(self, password: str, known: str | None) -> bool:
        """
        Whether a password has this hash. It takes as long without a hash, so that time does not reveal which names
        exist.

        Raises:
            RateLimited: the queue is full, or the password waited too long.
        """
        return await self._in_thread(HASHER.verify, password, known or DUMMY_HASH) and known is not None

    async def _in_thread(self, function: Callable[..., T], *arguments: str) -> T:
        if not self._free:
            raise RateLimited(self._clock() + BUSY_MILLISECONDS)
        self._free -= 1
        future = self._threads.submit(run_before, monotonic() + self._max_wait, function, *arguments)
        # The place is freed when the thread is done: the caller may have been cancelled before.
        loop = asyncio.get_running_loop()
        future.add_done_callback(lambda _: None if loop.is_closed() else loop.call_soon_threadsafe(self._release))
        try:
            return await asyncio.wrap_future(future)
        except WaitedTooLong:
            raise RateLimited(self._clock() + BUSY_MILLISECONDS) from None

    def _release(self) -> None:
        self._free += 1


def run_before(deadline: float, function: Callable[..., T], *arguments: str) -> T:
    """Call a function, in a thread, unless it is later than `deadline` by the monotonic clock."""
    if monotonic() > deadline:
        raise WaitedTooLong
    return function(*arguments)
