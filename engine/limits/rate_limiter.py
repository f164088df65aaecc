"""
How much a client may ask for in time: a bucket of points for each address and for each user, which fills up again.

Counted in this process, so that no request waits for it. What was taken is told to the others from time to time.
"""

import time
from collections import OrderedDict
from collections.abc import Awaitable, Callable, Collection, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from math import ceil
from typing import NamedTuple, TypeAlias

from caches import Usage
from engine.clients import Client
from engine.errors import Code, Refused

MOST_BUCKETS = 10_000
BUCKET = 900  # bytes of a bucket, of what was taken of it, and of who has a token
OWNER_SECONDS = 60  # for so long it is known whose a token is
UNKNOWN = None, float("-inf")
LONGEST = 100  # characters of an address or of a digest


Subject: TypeAlias = tuple[str, str]  # whose bucket it is: "address", "user" or "token", and which
Identify: TypeAlias = Callable[[Collection[str]], Awaitable[Mapping[str, str | None]]]  # whose tokens of digests are
Tell: TypeAlias = Callable[[Mapping[Subject, float]], Awaitable[Mapping[Subject, float]]]  # points taken; points left


class Turn(NamedTuple):
    """What the buckets of a client hold when it asks."""

    at: float
    levels: list[tuple[Subject, float]]


@dataclass
class Rates:
    """
    A bucket holds `points`, and `back` points come back in a second. `clock` gives seconds.

    An operation is let in while there is a point left, and may leave less than none behind: so a large one is not
    shut out for ever, but has to be waited for afterwards.

    All tokens of a user share the bucket of the user. As long as nobody has said whose a token is, which takes a tenth
    of a second, it has a bucket of its own, whose points are then taken from the user's. `digest_of` a token is None
    where it cannot be one: then it counts for its address alone, as one does that is nobody's.
    """

    points: int = 1_000
    back: float = 50.0
    clock: Callable[[], float] = time.time
    digest_of: Callable[[str], str | None] = str
    most: int = MOST_BUCKETS
    _buckets: OrderedDict[Subject, tuple[float, float]] = field(default_factory=OrderedDict)  # points, and when
    _taken: dict[Subject, float] = field(default_factory=dict)
    _owners: OrderedDict[str, tuple[str | None, float]] = field(default_factory=OrderedDict)  # by digest, until when
    _evictions: int = 0

    @property
    def usage(self) -> Usage:
        entries = max(len(self._buckets), len(self._owners))
        return Usage(entries * BUCKET, entries, self._evictions)

    def check(self, client: Client) -> Turn:
        """
        Raises:
            Refused: a bucket of this client is empty.
        """
        now = self.clock()
        levels = [(subject, self._level(subject, now)) for subject in self._subjects(client, now)]
        least = min([level for _, level in levels])
        if least < 1:
            raise too_often(now, (1 - least) / self.back)
        return Turn(now, levels)

    def charge(self, client: Client, points: int) -> None:
        """Take points for what turned out to cost more than was estimated."""
        now = self.clock()
        self.take(Turn(now, [(subject, self._level(subject, now)) for subject in self._subjects(client, now)]), points)

    def take(self, turn: Turn, points: int) -> None:
        for subject, level in turn.levels:
            self._buckets[subject] = level - points, turn.at
            self._buckets.move_to_end(subject)
            self._taken[subject] = self._taken.get(subject, 0) + points
        while len(self._buckets) > self.most:
            self._taken.pop(self._buckets.popitem(last=False)[0], None)
            self._evictions += 1

    async def share(self, tell: Tell, identify: Identify | None = None) -> None:
        """
        Tell what was taken since the last time, and go on from what others left, where that is less.

        Whatever `tell` or `identify` raises is raised here; then others do not know of it, and here it counts all the
        same.
        """
        if not self._taken:
            return
        if identify:
            await self._identify(identify)
        self._drop_full()
        taken, self._taken = self._taken, {}
        left = await tell(taken)
        now = self.clock()
        for subject, points in left.items():
            if subject in self._buckets:
                points -= self._taken.get(subject, 0)  # what was taken meanwhile is not yet told
                self._buckets[subject] = min(self._level(subject, now), points), now

    def _subjects(self, client: Client, now: float) -> list[Subject]:
        address = ("address", client.address[:LONGEST])
        digest = None if client.token is None else self.digest_of(client.token)
        if digest is None:
            return [address]
        owner, until = self._owners.get(digest, UNKNOWN)
        if until < now:
            return [address, ("token", digest[:LONGEST])]
        return [address] if owner is None else [address, ("user", owner)]

    async def _identify(self, identify: Identify) -> None:
        """Find out whose the tokens are that points were taken with, and take those from their users."""
        digests = [name for kind, name in self._taken if kind == "token"]
        if not digests:
            return
        owners, now = await identify(digests), self.clock()
        for digest in digests:
            owner = owners.get(digest)
            self._owners[digest] = owner, now + OWNER_SECONDS
            self._owners.move_to_end(digest)
            self._merge(("token", digest), owner, now)
        while len(self._owners) > self.most:
            self._owners.popitem(last=False)

    def _merge(self, token: Subject, owner: str | None, now: float) -> None:
        missing, taken = self.points - self._level(token, now), self._taken.pop(token, 0)
        self._buckets.pop(token, None)
        if owner is not None:
            user = ("user", owner)
            self._buckets[user] = self._level(user, now) - missing, now
            self._buckets.move_to_end(user)
            self._taken[user] = self._taken.get(user, 0) + taken

    def _drop_full(self) -> None:
        """A bucket that is full says no more than none. The oldest are looked at first."""
        now = self.clock()
        while self._buckets:
            oldest = next(iter(self._buckets))
            if oldest in self._taken or self._level(oldest, now) < self.points:
                return
            del self._buckets[oldest]

    def _level(self, subject: Subject, now: float) -> float:
        bucket = self._buckets.get(subject)
        if bucket is None:
            return self.points
        points, at = bucket
        return min(self.points, points + max(0.0, now - at) * self.back)


def too_often(now: float, seconds: float) -> Refused:
    retry_at = datetime.fromtimestamp(ceil(now + seconds), UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
    error = {
        "message": "too often: try again later",
        "extensions": {"code": str(Code.RATE_LIMITED), "retryAt": retry_at},
    }
    return Refused(Code.RATE_LIMITED, errors=[error], headers=[(b"retry-after", b"%d" % ceil(seconds))])
