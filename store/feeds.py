"""
Feeds, pulled when they are read: the newest articles of everyone whom a user follows, merged with their own.

Nothing is copied to followers when somebody posts, so a feed is at every instant the merge of these timelines.
"""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from heapq import merge as merged
from itertools import islice
from math import inf

from store import keys
from store.listings import Window
from store.queries import Read
from store.records import Position, parse_positions
from store.scripts.registry import ARTICLE_COUNT, FEED_PAGE
from store.site import Site

TIMELINES_PER_CALL = 100  # so that no call holds the server longer than a millisecond
NAMES_PER_CALL = 1_000
POSTERS_ASKED = 500
UNSEEN_COUNTED = 1_000


@dataclass(frozen=True, slots=True)
class Pull:
    """What some of the users contributed: positions beyond a position, and whether anything stands behind it."""

    positions: Sequence[Position]
    behind: bool


@dataclass(frozen=True, slots=True)
class PosterSelection:
    """Whose timelines to read for a page, and whether something of the others stands behind its position."""

    usernames: Sequence[str]
    behind: bool


def following(site: Site, username: str) -> Read[list[str]]:
    """Everyone whom a user follows."""
    return Read(("ZRANGE", keys.following(site.home_of_user(username), username), 0, -1), list)


def followed_posters(site: Site, username: str) -> Read[dict[str, float]]:
    """Everyone whom a user follows who has posted, and when last, where both live in one partition."""
    p = site.home_of_user(username)
    both = (keys.following(p, username), keys.posters(p))
    return Read(("ZINTER", 2, *both, "WEIGHTS", 0, 1, "WITHSCORES"), _times)


def posters_since(site: Site, position: Position) -> list[Read[dict[str, float]]]:
    """Who posted lately and when, whoever follows them, per partition: at most one more than `POSTERS_ASKED`."""
    bounds = (repr(position.value), "+inf", "BYSCORE", "LIMIT", 0, POSTERS_ASKED + 1, "WITHSCORES")
    return [Read(("ZRANGE", keys.posters(p), *bounds), _times) for p in range(site.partitions)]


def follows(site: Site, follower: str, followee: str) -> Read[bool]:
    key = keys.following(site.home_of_user(follower), follower)
    return Read(("ZSCORE", key, followee), _is_there)


def last_posts(site: Site, usernames: Sequence[str]) -> list[Read[dict[str, float]]]:
    """The reads of when each user posted last; those who have posted nothing are left out."""
    return [
        Read(("ZMSCORE", keys.posters(p), *names), _by_name, (tuple(names),))
        for p, names in _calls(site, usernames, NAMES_PER_CALL)
    ]


def clamp_to_floor(window: Window, floor: Position | None) -> Window:
    """The window of a feed that ends above a floor: a position below the floor stands for the floor itself."""
    if floor and window.beyond and window.beyond < floor:
        return replace(window, beyond=floor)
    return window


def select_posters(last: Mapping[str, float], window: Window, floor: Position | None) -> PosterSelection:
    """
    Whose timelines a page needs, by when each user posted last.

    Below a position, that is everyone who posted at it or later, whose next article is not known, and of the others
    the `count` who posted last. Above one, it is everyone who posted at it or later, and who posted last at the time of
    the floor: only their timelines tell whether that article is above the floor.
    """
    lowest = floor.value if floor else -inf
    position = window.beyond.value if window.beyond else (-inf if window.upwards else inf)
    passed = [name for name, time in last.items() if time >= position and time >= lowest]
    others = {name: time for name, time in last.items() if lowest <= time < position}
    if window.upwards:
        at_floor = [name for name, time in others.items() if time == lowest]
        return PosterSelection([*passed, *at_floor], len(others) > len(at_floor))
    if len(others) > window.count:
        limit = sorted(others.values())[-window.count]
        others = {name: time for name, time in others.items() if time >= limit}
    return PosterSelection([*passed, *others], False)


def pulls(site: Site, usernames: Sequence[str], window: Window, floor: Position | None) -> list[Read[Pull]]:
    """The reads of a page of these users' articles above `floor`: bounded calls, per partition, all at once."""
    direction = "up" if window.upwards else "down"
    position = _position(window.beyond) + _position(floor)
    return [
        Read(FEED_PAGE.command([keys.timeline(p, "")], direction, window.count, *position, *names), _pull)
        for p, names in _calls(site, usernames, TIMELINES_PER_CALL)
    ]


def counts(site: Site, usernames: Sequence[str]) -> list[Read[int]]:
    """The reads of how many articles these users have posted."""
    return [
        Read(ARTICLE_COUNT.command([keys.timeline(p, "")], *names), int)
        for p, names in _calls(site, usernames, NAMES_PER_CALL)
    ]


def merge(parts: Sequence[Pull], window: Window) -> Pull:
    """The page that all pulls make together, nearest to the position first."""
    positions = merged(*(part.positions for part in parts), reverse=not window.upwards)
    return Pull(list(islice(positions, window.count)), any(part.behind for part in parts))


def _calls(site: Site, usernames: Sequence[str], most: int) -> list[tuple[int, list[str]]]:
    """The users in calls of bounded size, each to one partition."""
    homes: defaultdict[int, list[str]] = defaultdict(list)
    for username in usernames:
        homes[site.home_of_user(username)].append(username)
    return [(p, names[start : start + most]) for p, names in homes.items() for start in range(0, len(names), most)]


def _position(position: Position | None) -> tuple[str, str]:
    return (repr(position.value), position.member) if position else ("", "")


def _times(reply: Sequence[tuple[str, float]]) -> dict[str, float]:
    return dict(reply)


def _by_name(names: Sequence[str], reply: Sequence[float | None]) -> dict[str, float]:
    return {name: time for name, time in zip(names, reply, strict=True) if time is not None}


def _pull(reply: list[str]) -> Pull:
    behind, *flat = reply
    return Pull(parse_positions(flat), bool(int(behind)))


def _is_there(reply: object) -> bool:
    return reply is not None
