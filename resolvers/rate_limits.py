"""
What is left of a client's cost points, and how often a user may post and an address may register.

An address may post for ten users: many may share it.
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
    """How many posts of a user in ten minutes and a day, and how many registrations from an address in an hour."""

    posts: int = 10
    posts_a_day: int = 100
    registrations: int = 50

    def of_posts(self, username: str, address: str) -> Sequence[SlidingWindow]:
        user, place = ("post", "user", username.lower()), ("post", "address", address)
        return [
            SlidingWindow(user, TEN_MINUTES, self.posts),
            SlidingWindow(user, DAY, self.posts_a_day),
            SlidingWindow(place, TEN_MINUTES, self.posts * USERS_OF_AN_ADDRESS),
            SlidingWindow(place, DAY, self.posts_a_day * USERS_OF_AN_ADDRESS),
        ]

    def of_registrations(self, address: str) -> Sequence[SlidingWindow]:
        return [SlidingWindow(("register", address), HOUR, self.registrations)]
