"""
How much a client may ask for in time: a bucket of points for each address and for each token, which fills up again.

Counted in this process, so that no request waits for it. What was taken is told to the others from time to time.
"""

import time
from collections import OrderedDict
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from math import ceil
from typing import NamedTuple, TypeAlias

from server.wire.clients import Client
from server.wire.errors import Code, Refused

MOST_BUCKETS = 100_000


Subject: TypeAlias = tuple[str, str]  # whose bucket it is: "address" or "token", and which
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
    """

    points: int = 1_000
    back: float = 50.0
    clock: Callable[[], float] = time.time
    _buckets: OrderedDict[Subject, tuple[float, float]] = field(default_factory=OrderedDict)  # points, and when
    _taken: dict[Subject, float] = field(default_factory=dict)

    def check(self, client: Client) -> Turn:
        """
        Raises:
            Refused: a bucket of this client is empty.
        """
        now = self.clock()
        levels = [(subject, self._level(subject, now)) for subject in subjects_of(client)]
        least = min([level for _, level in levels])
        if least < 1:
            raise too_often(now, (1 - least) / self.back)
        return Turn(now, levels)

    def charge(self, client: Client, points: int) -> None:
        """Take points for what turned out to cost more than was estimated."""
        now = self.clock()
        self.take(Turn(now, [(subject, self._level(subject, now)) for subject in subjects_of(client)]), points)

    def take(self, turn: Turn, points: int) -> None:
        for subject, level in turn.levels:
            self._buckets[subject] = level - points, turn.at
            self._buckets.move_to_end(subject)
            self._taken[subject] = self._taken.get(subject, 0) + points
        while len(self._buckets) > MOST_BUCKETS:
            self._taken.pop(self._buckets.popitem(last=False)[0], None)

    async def share(self, tell: Tell) -> None:
        """
        Tell what was taken since the last time, and go on from what others left, where that is less.

        Whatever `tell` raises is raised here; then others do not know of it, and here it counts all the same.
        """
        if not self._taken:
            return
        taken, self._taken = self._taken, {}
        left = await tell(taken)
        now = self.clock()
        for subject, points in left.items():
            if subject in self._buckets:
                points -= self._taken.get(subject, 0)  # what was taken meanwhile is not yet told
                self._buckets[subject] = min(self._level(subject, now), points), now

    def _level(self, subject: Subject, now: float) -> float:
        bucket = self._buckets.get(subject)
        if bucket is None:
            return self.points
        points, at = bucket
        return min(self.points, points + max(0.0, now - at) * self.back)


def subjects_of(client: Client) -> list[Subject]:
    address = ("address", client.address)
    return [address] if client.token is None else [address, ("token", client.token[:100])]


def too_often(now: float, seconds: float) -> Refused:
    retry_at = datetime.fromtimestamp(ceil(now + seconds), UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
    error = {
        "message": "too often: try again later",
        "extensions": {"code": str(Code.RATE_LIMITED), "retryAt": retry_at},
    }
    return Refused(Code.RATE_LIMITED, errors=[error], headers=[(b"retry-after", b"%d" % ceil(seconds))])
