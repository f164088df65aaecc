"""
Rate limits that all processes share: sliding windows of attempts, and token buckets.

One script counts in both, each in a key of its own: a list of instants for a window, a string for a bucket.
"""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from store.client import Command
from store.errors import RateLimited
from store.keys import DIGEST
from store.kinds import Kind
from store.scripts.registry import Script
from store.site import Site

RATE_LIMIT = Script("rate_limit")

MAX_BUCKETS = 100  # in one call of the script, which blocks its server

tried = Kind(
    "tried",
    "list",
    (DIGEST,),
    "times of recent attempts, the newest first; the digest is of the action and of the user or address",
    lifetime="up to a day",
    written_by="rate limits",
)
bucket = Kind(
    "bucket",
    "string",
    (DIGEST,),
    "remaining points, and when they were counted; the digest is of a user, a server key or an address",
    lifetime="until it is full",
    written_by="rate limits",
)


@dataclass(frozen=True, slots=True)
class SlidingWindow:
    """At most `limit` attempts of a subject in any `seconds`. The subject names an action, and a user or an address."""

    subject: tuple[str, ...]
    seconds: int
    limit: int


class Attempts:
    """Counts attempts before they are made."""

    def __init__(self, site: Site) -> None:
        self._site = site

    async def count(self, windows: Sequence[SlidingWindow]) -> Sequence[Command]:
        """
        Count an attempt in all windows, and return the commands that take it back. One round trip.

        It is counted before it is made, so that concurrent attempts never exceed the limit. One that must not count
        after all is taken back.

        Raises:
            RateLimited: a window is full. The attempt then counts in none of them. One more round trip.
        """
        undo, full = await self.try_to_count(windows)
        if full:
            await self.take_back(undo)
            raise RateLimited(max(full.values()))
        return undo

    async def try_to_count(
        self, windows: Sequence[SlidingWindow]
    ) -> tuple[Sequence[Command], dict[SlidingWindow, int]]:
        """
        Count an attempt in each window that has room. One round trip. Returned are the commands that take it back, and
        when there is room again in each window that is full (unix milliseconds).
        """
        replies = await self._site.redis.pipeline([self._count_command(window) for window in windows])
        answered = list(zip(windows, replies, strict=True))
        undo: list[Command] = [("LPOP", self._key(window)) for window, (status, *_) in answered if status == "counted"]
        return undo, {window: free[0] for window, (status, *free) in answered if status == "full"}

    async def take_back(self, commands: Sequence[Command]) -> None:
        """Run the commands that `count` returned: each removes the newest attempt of a window. One round trip."""
        await self._site.redis.pipeline(commands)

    def _count_command(self, window: SlidingWindow) -> Command:
        times = (self._site.clock(), window.seconds * 1000)
        return RATE_LIMIT.command([self._key(window)], "window", *times, window.limit)

    def _key(self, window: SlidingWindow) -> str:
        """The key of a window's attempts. Version 0.1.0 hashed the same text, so that its counts are still valid."""
        text = f"LIMITER/{window.subject!r}/{window.limit}/{window.seconds}/second"
        return tried(*self._site.partition_and_digest(text))


@dataclass(frozen=True, slots=True)
class TokenBuckets:
    """One bucket for each subject, of `capacity` points. `refill` points are added per second."""

    site: Site
    capacity: int
    refill: float

    async def take(self, taken: Mapping[str, float]) -> dict[str, float]:
        """
        Take points from buckets. `taken` has the points to take from each subject; returned are the points that each
        subject then has left, which may be below 0. One round trip.
        """
        subjects_of: dict[int, dict[str, str]] = defaultdict(dict)  # for each partition: the subject of each key
        for subject in taken:
            p, digest = self.site.partition_and_digest(subject)
            subjects_of[p][bucket(p, digest)] = subject
        batches = [
            dict(pairs[start : start + MAX_BUCKETS])
            for pairs in (list(subjects.items()) for subjects in subjects_of.values())
            for start in range(0, len(pairs), MAX_BUCKETS)
        ]
        replies = await self.site.redis.pipeline([self._take_command(batch, taken) for batch in batches])
        return {
            subject: float(left)
            for batch, reply in zip(batches, replies, strict=True)
            for subject, left in zip(batch.values(), reply, strict=True)
        }

    def _take_command(self, batch: Mapping[str, str], taken: Mapping[str, float]) -> Command:
        points = [taken[subject] for subject in batch.values()]
        settings = (self.site.clock(), self.capacity, self.refill / 1000)
        return RATE_LIMIT.command(list(batch), "buckets", *settings, *points)
