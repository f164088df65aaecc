"""
What is left of a client's cost points, and how often a user may post and comment, an address may register, and a
moderator may remove and ban.

An address may post and comment for ten users: many may share it.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from store.rate_limits import SlidingWindow

HOUR = 60 * 60  # seconds
DAY = 24 * HOUR
TEN_MINUTES = 10 * 60
USERS_OF_AN_ADDRESS = 10
TITLES_AN_HOUR = 20


@dataclass(frozen=True, slots=True)
class RateLimit:
    """Cost points: the limit, those remaining, and those restored per second. `reset_at` is in unix milliseconds."""

    limit: int
    remaining: int
    restore_rate: int
    reset_at: int


@dataclass(frozen=True, slots=True, kw_only=True)
class WriteRates:
    """
    The rate limits of writes. Each method returns the limits of an action, which `Attempts.count` of the store counts.
    A window has the name of what it counts, its length in seconds, and the highest count.

    An archived conversation, an article with its comments that only the database has, is woken when a write brings it
    back to Redis.
    """

    posts: int = 10  # of a user in ten minutes
    posts_a_day: int = 100  # of a user
    registrations: int = 50  # from an address in an hour
    comments: int = 30  # of a user in ten minutes
    comments_a_day: int = 500  # of a user
    removals: int = 200  # of a moderator in an hour, bans among them
    flags_a_day: int = 20  # of a user
    woken_a_day: int = 10  # conversations, by a user
    mails: int = 3  # that a user or an address asks for in an hour
    mails_a_day: int = 10  # the same in a day

    def of_posts(self, username: str, address: str) -> Sequence[SlidingWindow]:
        return _of_writes("post", username, address, self.posts, self.posts_a_day)

    def of_comments(self, username: str, address: str) -> Sequence[SlidingWindow]:
        return _of_writes("comment", username, address, self.comments, self.comments_a_day)

    def of_removals(self, username: str) -> Sequence[SlidingWindow]:
        """Removals and bans of a moderator."""
        return [SlidingWindow(("remove", "user", username.lower()), HOUR, self.removals)]

    def of_flags(self, username: str) -> Sequence[SlidingWindow]:
        return [SlidingWindow(("flag", "user", username.lower()), DAY, self.flags_a_day)]

    def of_woken(self, username: str) -> Sequence[SlidingWindow]:
        """Archived conversations that come back to Redis for a user."""
        return [SlidingWindow(("wake", "user", username.lower()), DAY, self.woken_a_day)]

    def of_exports(self, username: str) -> Sequence[SlidingWindow]:
        """Downloads of all that the site has of a user."""
        return [SlidingWindow(("export", "user", username.lower()), HOUR, 1)]

    def of_titles(self, username: str) -> Sequence[SlidingWindow]:
        """Pages behind links whose titles a user asks for."""
        return [SlidingWindow(("title", "user", username.lower()), HOUR, TITLES_AN_HOUR)]

    def of_mails(self, address: str, username: str | None = None) -> Sequence[SlidingWindow]:
        """Mails that an address asks for, and a user."""
        askers = [("address", address), *([("user", username.lower())] if username else [])]
        limits = ((HOUR, self.mails), (DAY, self.mails_a_day))
        return [SlidingWindow(("ask for mail", *asker), span, limit) for asker in askers for span, limit in limits]

    def of_registrations(self, address: str) -> Sequence[SlidingWindow]:
        return [SlidingWindow(("register", address), HOUR, self.registrations)]


def _of_writes(action: str, username: str, address: str, limit: int, limit_a_day: int) -> Sequence[SlidingWindow]:
    """The windows of an action: of the user, and of the address, which several users share."""
    of_user, of_address = (action, "user", username.lower()), (action, "address", address)
    return [
        SlidingWindow(of_user, TEN_MINUTES, limit),
        SlidingWindow(of_user, DAY, limit_a_day),
        SlidingWindow(of_address, TEN_MINUTES, limit * USERS_OF_AN_ADDRESS),
        SlidingWindow(of_address, DAY, limit_a_day * USERS_OF_AN_ADDRESS),
    ]
