"""
Rate limits by cost: a token bucket of points for each address and each user.

Buckets are kept in this process, so that no request waits for them. `synchronize` exchanges them with other processes.
"""

import time
from collections import OrderedDict
from collections.abc import Awaitable, Callable, Collection, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from math import ceil
from typing import NamedTuple, TypeAlias

from caches import Usage
from engine.errors import Code, Refused
from engine.requests import Client

MAX_BUCKETS = 10_000
BUCKET_SIZE = 900  # bytes of a bucket, with the points taken from it and the owner of a token
OWNER_LIFETIME = 60  # seconds that the owner of a token is cached
NOT_CACHED = None, float("-inf")
MAX_KEY_LENGTH = 100  # characters of an address or of a digest

BucketKey: TypeAlias = tuple[str, str]  # "address", "user" or "token", and its name
FindOwners: TypeAlias = Callable[[Collection[str]], Awaitable[Mapping[str, str | None]]]  # users by digests of tokens
TakePoints: TypeAlias = Callable[
    [Mapping[BucketKey, float]], Awaitable[Mapping[BucketKey, float]]
]  # takes points from the buckets shared by all processes, and returns what they have left


class Levels(NamedTuple):
    """The points of a client's buckets at a time."""

    at: float
    points: list[tuple[BucketKey, float]]


@dataclass
class RateLimiter:
    """
    A bucket holds `points` at most and gains `refill` points a second. `clock` returns seconds.

    A request is allowed while each bucket has a point left. It may take more than there is, so that an expensive
    operation is possible at all; the next requests then wait until the bucket is positive again.

    All tokens of a user share one bucket. Until the user of a token is known, which takes a tenth of a second, the
    token has a bucket of its own, whose missing points are then taken from the user's. `digest_of` returns None
    for text that cannot be a token. Such a request counts for its address only, as does one with an invalid token.
    """

    points: int = 1_000
    refill: float = 50.0
    clock: Callable[[], float] = time.time
    digest_of: Callable[[str], str | None] = str
    max_buckets: int = MAX_BUCKETS
    _buckets: OrderedDict[BucketKey, tuple[float, float]] = field(default_factory=OrderedDict)  # points, at what time
    _taken: dict[BucketKey, float] = field(default_factory=dict)  # since the last synchronization
    _owners: OrderedDict[str, tuple[str | None, float]] = field(default_factory=OrderedDict)  # by digest, until when
    _evictions: int = 0

    @property
    def usage(self) -> Usage:
        entries = max(len(self._buckets), len(self._owners))
        return Usage(entries * BUCKET_SIZE, entries, self._evictions)

    def check(self, client: Client) -> Levels:
        """
        Raises:
            Refused: a bucket of this client is empty.
        """
        now = self.clock()
        points = [(key, self._level(key, now)) for key in self._keys(client, now)]
        least = min([level for _, level in points])
        if least < 1:
            raise too_often(now, (1 - least) / self.refill)
        return Levels(now, points)

    def charge(self, client: Client, points: int) -> None:
        """Take points for an operation that cost more than was estimated."""
        now = self.clock()
        self.take(Levels(now, [(key, self._level(key, now)) for key in self._keys(client, now)]), points)

    def take(self, levels: Levels, points: int) -> None:
        for key, level in levels.points:
            self._buckets[key] = level - points, levels.at
            self._buckets.move_to_end(key)
            self._taken[key] = self._taken.get(key, 0) + points
        while len(self._buckets) > self.max_buckets:
            self._taken.pop(self._buckets.popitem(last=False)[0], None)
            self._evictions += 1

    async def synchronize(self, take_points: TakePoints, find_owners: FindOwners | None = None) -> None:
        """
        Take from the shared buckets what was taken here since the last time, and continue with the lower level.

        Exceptions of the two functions are raised. Other processes then do not learn what was taken here.
        """
        if not self._taken:
            return
        if find_owners:
            await self._find_owners(find_owners)
        self._drop_full()
        taken, self._taken = self._taken, {}
        left = await take_points(taken)
        now = self.clock()
        for key, points in left.items():
            if key in self._buckets:
                points -= self._taken.get(key, 0)  # taken while this waited
                self._buckets[key] = min(self._level(key, now), points), now

    def _keys(self, client: Client, now: float) -> list[BucketKey]:
        address = ("address", client.address[:MAX_KEY_LENGTH])
        digest = None if client.token is None else self.digest_of(client.token)
        if digest is None:
            return [address]
        owner, until = self._owners.get(digest, NOT_CACHED)
        if until < now:
            return [address, ("token", digest[:MAX_KEY_LENGTH])]
        return [address] if owner is None else [address, ("user", owner)]

    async def _find_owners(self, find_owners: FindOwners) -> None:
        """Find the users of the tokens that points were taken from, and take these points from the users."""
        digests = [name for kind, name in self._taken if kind == "token"]
        if not digests:
            return
        owners, now = await find_owners(digests), self.clock()
        for digest in digests:
            owner = owners.get(digest)
            self._owners[digest] = owner, now + OWNER_LIFETIME
            self._owners.move_to_end(digest)
            self._merge(("token", digest), owner, now)
        while len(self._owners) > self.max_buckets:
            self._owners.popitem(last=False)

    def _merge(self, token: BucketKey, owner: str | None, now: float) -> None:
        missing, taken = self.points - self._level(token, now), self._taken.pop(token, 0)
        self._buckets.pop(token, None)
        if owner is not None:
            user = ("user", owner)
            self._buckets[user] = self._level(user, now) - missing, now
            self._buckets.move_to_end(user)
            self._taken[user] = self._taken.get(user, 0) + taken

    def _drop_full(self) -> None:
        """Remove full buckets, which are equal to missing ones, beginning with the least recently used."""
        now = self.clock()
        while self._buckets:
            oldest = next(iter(self._buckets))
            if oldest in self._taken or self._level(oldest, now) < self.points:
                return
            del self._buckets[oldest]

    def _level(self, key: BucketKey, now: float) -> float:
        bucket = self._buckets.get(key)
        if bucket is None:
            return self.points
        points, at = bucket
        return min(self.points, points + max(0.0, now - at) * self.refill)


def too_often(now: float, seconds: float) -> Refused:
    retry_at = datetime.fromtimestamp(ceil(now + seconds), UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
    error = {
        "message": "too often: try again later",
        "extensions": {"code": str(Code.RATE_LIMITED), "retryAt": retry_at},
    }
    return Refused(Code.RATE_LIMITED, errors=[error], headers=[(b"retry-after", b"%d" % ceil(seconds))])
