"""
Which bans stand at an instant, which means that they are not over. The hash of a user and each of their sessions have
the bans as words: `site=UNTIL` or `group:NAME=UNTIL` (unix milliseconds, 0 for good).
"""

from collections.abc import Collection, Iterator
from typing import NamedTuple

from store.errors import Banned

FOR_GOOD = 0  # the UNTIL of a ban that does not end
SITE = "site"


class Ban(NamedTuple):
    """A ban from a group, or without one from the site. `until` is in unix milliseconds, None for good."""

    group: str | None
    until: int | None


def standing(words: str, now: int) -> Iterator[Ban]:
    """The bans in these words that are not over at an instant (unix milliseconds)."""
    for word in words.split():
        place, _, ends = word.rpartition("=")
        until = int(ends)
        if until == FOR_GOOD or now < until:
            yield Ban(None if place == SITE else place.partition(":")[2], until or None)


def of_site(words: str, now: int) -> Ban | None:
    """The ban from the site in these words; None if there is none, or it is over."""
    return next((each for each in standing(words, now) if each.group is None), None)


def refuse_banned(words: str, now: int, groups: Collection[str] = ()) -> None:
    """
    Raises:
        Banned: these words have a ban from the site, or from one of some groups, that is not over.
    """
    if found := of_site(words, now):
        raise Banned(found.until, group=None)
    for each in standing(words, now):
        if each.group in groups:
            raise Banned(each.until, each.group)
