"""
Feeds, pulled when they are read: the newest articles of everyone whom a user follows, merged with their own.

Nothing is copied to followers when somebody posts, so a feed is at every instant the merge of these timelines.
"""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from heapq import merge as merged
from itertools import islice

from store import keys
from store.connection import COUNT, FEED
from store.listings import Window, places_of
from store.reads import Read
from store.records import Place
from store.site import Site

USERS_PER_CALL = 250  # so that no call holds the server longer than a millisecond
POSTERS_ASKED = 500
UNSEEN_COUNTED = 1_000


@dataclass(frozen=True, slots=True)
class Pull:
    """What some of the users contributed: places beyond a position, and whether anything stands behind it."""

    places: Sequence[Place]
    behind: bool


def following(site: Site, username: str) -> Read[list[str]]:
    """Everyone whom a user follows."""
    return Read(("ZRANGE", keys.following(site.home_of_user(username), username), 0, -1), list)


def posters_since(site: Site, place: Place) -> list[Read[list[str]]]:
    """Who posted lately, whoever follows them, per partition: at most one more than `POSTERS_ASKED`."""
    bounds = (repr(place.value), "+inf", "BYSCORE", "LIMIT", 0, POSTERS_ASKED + 1)
    return [Read(("ZRANGE", keys.posters(p), *bounds), list) for p in range(site.partitions)]


def follows(site: Site, follower: str, followee: str) -> Read[bool]:
    key = keys.following(site.home_of_user(follower), follower)
    return Read(("ZSCORE", key, followee), _is_there)


def pulls(site: Site, usernames: Iterable[str], window: Window, floor: Place | None) -> list[Read[Pull]]:
    """The reads of a page of these users' articles above `floor`: bounded calls, per partition, all at once."""
    direction = "up" if window.upwards else "down"
    position = _position(window.beyond) + _position(floor)
    return [
        Read(FEED.command(script_keys, direction, window.count, *position, *names), _pull)
        for script_keys, names in _calls(site, usernames)
    ]


def counts(site: Site, usernames: Iterable[str]) -> list[Read[int]]:
    """The reads of how many articles these users have posted."""
    return [Read(COUNT.command(script_keys, *names), int) for script_keys, names in _calls(site, usernames)]


def merge(parts: Sequence[Pull], window: Window) -> Pull:
    """The page that all pulls make together, nearest to the position first."""
    places = merged(*(part.places for part in parts), reverse=not window.upwards)
    return Pull(list(islice(places, window.count)), any(part.behind for part in parts))


def _calls(site: Site, usernames: Iterable[str]) -> list[tuple[list[str], list[str]]]:
    homes: defaultdict[int, list[str]] = defaultdict(list)
    for username in usernames:
        homes[site.home_of_user(username)].append(username)
    return [
        ([keys.posters(p), keys.timeline(p, "")], names[start : start + USERS_PER_CALL])
        for p, names in homes.items()
        for start in range(0, len(names), USERS_PER_CALL)
    ]


def _position(place: Place | None) -> tuple[str, str]:
    return (repr(place.value), place.member) if place else ("", "")


def _pull(reply: list[str]) -> Pull:
    behind, *flat = reply
    return Pull(places_of(flat), bool(int(behind)))


def _is_there(reply: object) -> bool:
    return reply is not None
