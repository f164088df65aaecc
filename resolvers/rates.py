"""How often somebody may post. An address may post for ten users, since many may share it."""

from collections.abc import Sequence
from dataclasses import dataclass

from store.attempts import Window

DAY = 24 * 60 * 60
TEN_MINUTES = 10 * 60
USERS_OF_AN_ADDRESS = 10


@dataclass(frozen=True, slots=True)
class PostRates:
    """How many posts of a user in ten minutes, and how many a day."""

    in_ten_minutes: int = 10
    a_day: int = 100

    def windows(self, username: str, address: str) -> Sequence[Window]:
        user, place = ("post", "user", username.lower()), ("post", "address", address)
        return [
            Window(user, TEN_MINUTES, self.in_ten_minutes),
            Window(user, DAY, self.a_day),
            Window(place, TEN_MINUTES, self.in_ten_minutes * USERS_OF_AN_ADDRESS),
            Window(place, DAY, self.a_day * USERS_OF_AN_ADDRESS),
        ]
