"""
What is left of a client's cost points, and how often a user may post and comment and an address may register.

An address may post and comment for ten users: many may share it.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from store.rate_limits import SlidingWindow

HOUR = 60 * 60
DAY = 24 * HOUR
TEN_MINUTES = 10 * 60
USERS_OF_AN_ADDRESS = 10


@dataclass(frozen=True, slots=True)
class RateLimit:
    """Cost points: the limit, those remaining, and those restored per second. `reset_at` is in unix milliseconds."""

    limit: int
    remaining: int
    restore_rate: int
    reset_at: int


@dataclass(frozen=True, slots=True)
class WriteRates:
    """
    How many posts and comments of a user in ten minutes and a day, and how many registrations from an address in an
    hour.
    """

    posts: int = 10
    posts_a_day: int = 100
    registrations: int = 50
    comments: int = 30
    comments_a_day: int = 500

    def of_posts(self, username: str, address: str) -> Sequence[SlidingWindow]:
        return _of_writes("post", username, address, self.posts, self.posts_a_day)

    def of_comments(self, username: str, address: str) -> Sequence[SlidingWindow]:
        return _of_writes("comment", username, address, self.comments, self.comments_a_day)

    def of_registrations(self, address: str) -> Sequence[SlidingWindow]:
        return [SlidingWindow(("register", address), HOUR, self.registrations)]


def _of_writes(action: str, username: str, address: str, limit: int, limit_a_day: int) -> Sequence[SlidingWindow]:
    user, place = (action, "user", username.lower()), (action, "address", address)
    return [
        SlidingWindow(user, TEN_MINUTES, limit),
        SlidingWindow(user, DAY, limit_a_day),
        SlidingWindow(place, TEN_MINUTES, limit * USERS_OF_AN_ADDRESS),
        SlidingWindow(place, DAY, limit_a_day * USERS_OF_AN_ADDRESS),
    ]
