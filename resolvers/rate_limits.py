"""How often somebody may post or register. An address may post for ten users, since many may share it."""

from collections.abc import Sequence
from dataclasses import dataclass

from store.rate_limits.attempts import Window

HOUR = 60 * 60
DAY = 24 * HOUR
TEN_MINUTES = 10 * 60
USERS_OF_AN_ADDRESS = 10


@dataclass(frozen=True, slots=True)
class WriteRates:
    """How many posts of a user in ten minutes and a day, and how many registrations from an address in an hour."""

    posts: int = 10
    posts_a_day: int = 100
    registrations: int = 50

    def of_posts(self, username: str, address: str) -> Sequence[Window]:
        user, place = ("post", "user", username.lower()), ("post", "address", address)
        return [
            Window(user, TEN_MINUTES, self.posts),
            Window(user, DAY, self.posts_a_day),
            Window(place, TEN_MINUTES, self.posts * USERS_OF_AN_ADDRESS),
            Window(place, DAY, self.posts_a_day * USERS_OF_AN_ADDRESS),
        ]

    def of_registrations(self, address: str) -> Sequence[Window]:
        return [Window(("register", address), HOUR, self.registrations)]
