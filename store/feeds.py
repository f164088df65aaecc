"""
Feeds, in the pull model: a read merges the timelines (each a user's articles by time) of the users whom a user follows
with the user's own. A timeline is in the partition, a share of the data, of its user.

A post copies nothing to followers, so a feed is never late. If only unseen articles are wanted, a feed has a floor: the
position up to which the viewer has seen it. Articles at or below the floor are left out.
"""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from heapq import merge as merged
from itertools import islice
from math import inf

from store import followed, keys
from store.listings import Window
from store.queries import Read
from store.records import Position, parse_positions
from store.scripts.registry import Script
from store.site import Site

ARTICLE_COUNT = Script("article_count")
FEED_PAGE = Script("feed_page")

TIMELINES_PER_CALL = 100  # so that no call takes longer than a millisecond
NAMES_PER_CALL = 1_000  # likewise, where a call reads one number for each name
MAX_RECENT_POSTERS = 500  # with more of them since its floor, a feed is read by all whom the viewer follows
UNSEEN_COUNTED = 1_000  # unseen articles at most: a higher number is not counted


@dataclass(frozen=True, slots=True)
class Pull:
    """
    Articles of some users, beyond a position in the direction of the page. `behind` says whether these users also have
    articles at the position or on its other side.
    """

    positions: Sequence[Position]
    behind: bool


@dataclass(frozen=True, slots=True)
class PosterSelection:
    """The users whose timelines a page needs. `behind` says the same as in `Pull`, of the users who are left out."""

    usernames: Sequence[str]
    behind: bool


def following(site: Site, username: str) -> Read[list[str]]:
    """The usernames that a user follows."""
    return Read(("ZRANGE", followed.following(site.partition_of_user(username), username), 0, -1), list)


def followed_posters(site: Site, username: str) -> Read[dict[str, float]]:
    """
    When each followee posted last (unix milliseconds), without those who never posted. Only for a store of one
    partition.
    """
    partition = site.partition_of_user(username)
    both = (followed.following(partition, username), keys.newest_posts(partition))
    times_of_posts = ("WEIGHTS", 0, 1)  # not those of the follows
    return Read(("ZINTER", len(both), *both, *times_of_posts, "WITHSCORES"), _times)


def posters_since(site: Site, position: Position) -> list[Read[dict[str, float]]]:
    """
    The users who posted at the time of a position or later, each with the time of the last post (unix milliseconds). At
    most `MAX_RECENT_POSTERS` + 1 of each partition.
    """
    bounds = (repr(position.value), "+inf", "BYSCORE", "LIMIT", 0, MAX_RECENT_POSTERS + 1, "WITHSCORES")
    return [Read(("ZRANGE", keys.newest_posts(partition), *bounds), _times) for partition in range(site.partitions)]


def follows(site: Site, follower: str, followee: str) -> Read[bool]:
    key = followed.following(site.partition_of_user(follower), follower)
    return Read(("ZSCORE", key, followee), _exists)


def last_posts(site: Site, usernames: Sequence[str]) -> list[Read[dict[str, float]]]:
    """When each of these users posted last (unix milliseconds), without those who never posted."""
    return [
        Read(("ZMSCORE", keys.newest_posts(partition), *names), _by_name, context=(tuple(names),))
        for partition, names in calls(site, usernames, NAMES_PER_CALL)
    ]


def clamp_to_floor(window: Window, floor: Position | None) -> Window:
    """The window of a feed that ends above `floor`: a position below it becomes the floor."""
    if floor and window.beyond and window.beyond < floor:
        return replace(window, beyond=floor)
    return window


def select_posters(last: Mapping[str, float], window: Window, floor: Position | None) -> PosterSelection:
    """
    Select the users whose timelines a page needs, by the time of each user's last post (`last`).

    Both directions need all who posted at the position or later: only their timelines show what is next to it. The
    others posted before the position. A page downwards needs those `count` of them who posted last. A page upwards
    needs those whose last post has the time of the floor: only their timelines show whether it is above the floor.
    """
    lowest = floor.value if floor else -inf
    position = window.beyond.value if window.beyond else (-inf if window.upwards else inf)
    active = [name for name, time in last.items() if time >= position and time >= lowest]
    others = {name: time for name, time in last.items() if lowest <= time < position}
    if window.upwards:
        at_floor = [name for name, time in others.items() if time == lowest]
        return PosterSelection([*active, *at_floor], behind=len(others) > len(at_floor))
    if len(others) > window.count:
        limit = sorted(others.values())[-window.count]
        others = {name: time for name, time in others.items() if time >= limit}
    return PosterSelection([*active, *others], behind=False)  # who is left out has nothing at the position or above it


def pulls(site: Site, usernames: Sequence[str], window: Window, floor: Position | None) -> list[Read[Pull]]:
    """
    The reads of a page of these users' articles above `floor`, in calls of bounded size. A script gets the key of a
    timeline without the username, and adds each name.
    """
    direction = "up" if window.upwards else "down"
    position = _position(window.beyond) + _position(floor)
    return [
        Read(FEED_PAGE.command([keys.timeline(partition, "")], direction, window.count, *position, *names), _pull)
        for partition, names in calls(site, usernames, TIMELINES_PER_CALL)
    ]


def counts(site: Site, usernames: Sequence[str]) -> list[Read[int]]:
    """The reads of the number of articles of these users. The key of a timeline is as in `pulls`."""
    return [
        Read(ARTICLE_COUNT.command([keys.timeline(partition, "")], *names), int)
        for partition, names in calls(site, usernames, NAMES_PER_CALL)
    ]


def merge(parts: Sequence[Pull], window: Window) -> Pull:
    """Merge pulls into one page, nearest to the position first."""
    positions = merged(*(part.positions for part in parts), reverse=not window.upwards)
    return Pull(list(islice(positions, window.count)), any(part.behind for part in parts))


def calls(site: Site, usernames: Sequence[str], limit: int) -> list[tuple[int, list[str]]]:
    """Split users into calls of bounded size, each to one partition: pairs of a partition and usernames."""
    by_partition: defaultdict[int, list[str]] = defaultdict(list)
    for username in usernames:
        by_partition[site.partition_of_user(username)].append(username)
    return [
        (partition, names[start : start + limit])
        for partition, names in by_partition.items()
        for start in range(0, len(names), limit)
    ]


def _position(position: Position | None) -> tuple[str, str]:
    return (repr(position.value), position.member) if position else ("", "")


def _times(reply: Sequence[tuple[str, float]]) -> dict[str, float]:
    return dict(reply)


def _by_name(names: Sequence[str], reply: Sequence[float | None]) -> dict[str, float]:
    return {name: time for name, time in zip(names, reply, strict=True) if time is not None}


def _pull(reply: list[str]) -> Pull:
    behind, *flat = reply
    return Pull(parse_positions(flat), bool(int(behind)))


def _exists(reply: object) -> bool:
    return reply is not None
