"""
Rate limits that all processes share: sliding windows of attempts, and token buckets.

One script counts in both, each in a key of its own: a list of instants for a window, a string for a bucket.
"""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from store.client import Command
from store.errors import RateLimited, StoreUnavailable, is_out_of_memory
from store.keys import DIGEST
from store.kinds import Kind
from store.scripts.registry import Script
from store.site import Site

RATE_LIMIT = Script("rate_limit")

MAX_BUCKETS = 100  # in one call of the script, which blocks its server
MAX_OWN = 10_000  # windows that a process counts itself

tried = Kind(
    "tried",
    "list",
    parts=(DIGEST,),
    holds="times of recent attempts, the newest first; the digest is of the action and of the user or address",
    lifetime="up to a day",
    written_by="rate limits",
)
bucket = Kind(
    "bucket",
    "string",
    parts=(DIGEST,),
    holds="remaining points, and when they were counted; the digest is of a user, a server key or an address",
    lifetime="until it is full",
    written_by="rate limits",
)


@dataclass(frozen=True, slots=True)
class SlidingWindow:
    """At most `limit` attempts of a subject in any `seconds`. The subject names an action, and a user or an address."""

    subject: tuple[str, ...]
    seconds: int
    limit: int


class Counted(NamedTuple):
    """An attempt that was counted in the window of a key; `is_own` if only this process has counted it."""

    key: str
    is_own: bool


class Attempts:
    """
    Counts attempts before they are made. While the store is out of memory, each process counts those of its own: what
    only reads goes on.
    """

    def __init__(self, site: Site) -> None:
        self._site = site

    async def count(self, windows: Sequence[SlidingWindow]) -> Sequence[Counted]:
        """
        Count an attempt in all windows, and return what was counted. One round trip.

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
    ) -> tuple[Sequence[Counted], dict[SlidingWindow, int]]:
        """
        Count an attempt in each window that has room. One round trip. Returned are what was counted, and when there is
        room again in each window that is full (unix milliseconds).
        """
        replies = await self._site.redis.replies([self._count_command(window) for window in windows])
        counted, full = [], {}
        for window, reply in zip(windows, replies, strict=True):
            is_own = isinstance(reply, StoreUnavailable)
            status, *free_at = self._count_here(window, reply) if isinstance(reply, StoreUnavailable) else reply
            if status == "counted":
                counted.append(Counted(self._key(window), is_own))
            else:
                full[window] = free_at[0]
        return counted, full

    async def take_back(self, counted: Sequence[Counted]) -> None:
        """Take back what `count` returned: the newest attempt of each window. One round trip."""
        for each in counted:
            if each.is_own and (own := self._site.own_attempts.get(each.key)):
                own.pop()
        await self._site.redis.pipeline([("LPOP", each.key) for each in counted if not each.is_own])

    def _count_here(self, window: SlidingWindow, error: StoreUnavailable) -> tuple[str, *tuple[int, ...]]:
        """
        Count an attempt in this process, as the script does, if the store is out of memory. Returns what the script
        replies: "counted", or "full" and when there is room again (unix milliseconds).
        """
        if not is_out_of_memory(error):
            raise error
        key, now, known = self._key(window), self._site.clock(), self._site.own_attempts
        recent = [at for at in known.pop(key, ()) if now <= at + window.seconds * 1000]
        if len(known) >= MAX_OWN:
            known.pop(next(iter(known)))
        known[key] = recent  # at the end: the windows that were used longest ago are dropped first
        if len(recent) >= window.limit:
            return "full", recent[-window.limit] + window.seconds * 1000 + 1
        recent.append(now)
        return ("counted",)

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
            partition, digest = self.site.partition_and_digest(subject)
            subjects_of[partition][bucket(partition, digest)] = subject
        batches = [
            dict(pairs[start : start + MAX_BUCKETS])
            for pairs in (list(subjects.items()) for subjects in subjects_of.values())
            for start in range(0, len(pairs), MAX_BUCKETS)
        ]
        replies = await self.site.redis.pipeline([self._take_command(batch, taken) for batch in batches])
        return {
            subject: float(points)
            for batch, reply in zip(batches, replies, strict=True)
            for subject, points in zip(batch.values(), reply, strict=True)
        }

    def _take_command(self, batch: Mapping[str, str], taken: Mapping[str, float]) -> Command:
        points = [taken[subject] for subject in batch.values()]
        settings = (self.site.clock(), self.capacity, self.refill / 1000)
        return RATE_LIMIT.command(list(batch), "buckets", *settings, *points)
