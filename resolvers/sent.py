"""What a subscriber was sent, so that each new article, comment, notification and action is sent once."""

from collections.abc import Iterable, Sequence
from typing import Generic, TypeVar

from store import keys
from store.records import Position

PAGE = 100  # entries that are read at once from the listing by time
# milliseconds by which the clocks of two servers may differ: a new entry may be listed below older ones by as much
CLOCK_SKEW = 60_000
MAX_SENT = 1_000  # entries, the last that were sent to a subscriber: delayed events about them are ignored

K = TypeVar("K", int, Position)


class Sent(Generic[K]):
    """
    The entries that a subscriber was sent: articles, comments, actions or notifications.

    The key of an entry is its number. That of a notification is its position: the same notification may come again
    later, at another one. `newest` are the positions of the last `PAGE` entries before the subscription began, and
    `known` are their keys. What is below `floor` in the listing by time need not be read again.
    """

    def __init__(self, newest: Sequence[Position], known: Iterable[K]) -> None:
        self._older: set[K] = set(known)
        self._sent: dict[K, int] = {}  # posting times, by key, in the order of sending
        self.floor = Position(0, keys.member(0))
        if newest:
            self.floor = _below(newest[0].value - CLOCK_SKEW)
        if len(newest) == PAGE:
            self.floor = max(self.floor, newest[-1])

    def unsent(self, found: Iterable[K]) -> list[K]:
        """Which of some keys belong to entries that were not sent yet."""
        return [key for key in found if key not in self._sent and key not in self._older]

    def add(self, key: K, posted_at: int, now: int) -> bool:
        """Record that something is sent. Return False if it was sent before."""
        if key in self._sent:
            return False
        self._sent[key] = posted_at
        self.floor = max(self.floor, _below(min(posted_at, now) - CLOCK_SKEW))
        while len(self._sent) > MAX_SENT and self._sent[oldest := next(iter(self._sent))] < self.floor.value:
            del self._sent[oldest]
        return True


def _below(time: float) -> Position:
    """The position in a listing by time below all entries of this time."""
    return Position(time, keys.member(0))
