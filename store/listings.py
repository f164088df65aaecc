"""
Pages of listings: one read for each partition (a share of the data), merged by position, highest first. A position is
the value and the member of an entry of an index.
"""

import heapq
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from sys import getsizeof
from typing import Any, NamedTuple

from caches import POOL, memo
from store import followed, keys, links
from store.client.connection import encoded
from store.kinds import Backup, Check, Kind
from store.queries import Read
from store.ranking import gravity, since
from store.ranking.formulas import Order
from store.ranking.gravity import Decay
from store.ranking.since import Since
from store.records import PartitionPage, Position, parse_positions
from store.scripts.registry import Script
from store.site import Site

LISTING_PAGE = Script("listing_page")
UNION_PAGE = Script("union_page")

DAY_MS = 86_400_000
MAX_CACHED_REPLY = 5_000  # characters
MAX_MEMOISED_PARTITIONS = 16  # of a store: with more, its listings are not memoised
MAX_MEMOISED_NAME = 60  # characters
MAX_MEMOISED_KEY = 120  # characters
DECODED_BYTES = 8  # memory of a decoded page for each character of the reply
TIMELINE = "timeline"  # the one kind of a user's listings that may have archived articles
PARTITION_PAGES = POOL.cache("places", microseconds=50)  # to decode a page

GOOD_ARTICLES = Kind(
    "good",
    "zset",
    parts=(),
    holds="numbers of good articles by time",
    written_by="post, vote, delete, import",
    backup=Backup.DERIVED,
    rebuilt_from="the articles",
    check=Check.MEMBERS,
)


class Listing(NamedTuple):
    """
    Articles or users that are ranked together: one index for each partition.

    `lowest` and `highest` are bounds of the values as ZCOUNT takes them. `decay` is set if values change with age,
    `by_time` if values are instants, and `since` if it has only articles posted since an instant, by another value.
    `may_be_archived` says that it has articles of the SQL database, too. `unions` are set if the listing has what is in
    any of several indexes: for each partition the keys of these indexes, in which a member has the same value. It has
    no bounds then. `intersections` likewise, if it has only what is in all of several indexes.
    """

    name: str
    indexes: tuple[str, ...]
    lowest: str = "-inf"
    highest: str = "+inf"
    decay: Decay | None = None
    by_time: bool = False
    since: Since | None = None
    may_be_archived: bool = True
    unions: tuple[tuple[str, ...], ...] = ()
    intersections: tuple[tuple[str, ...], ...] = ()


@dataclass(frozen=True, slots=True)
class Window:
    """
    The part of a listing that a page shows: the first `count` entries below the position `beyond`, or, upwards, the
    last `count` above it; `skip` entries are left out at the top if there is no position.

    `at` is the instant of the position (unix milliseconds), if values decay or the listing is pinned, which means that
    it is kept as it was at this instant.
    """

    count: int
    upwards: bool = False
    beyond: Position | None = None
    skip: int = 0
    at: int | None = None
    is_pinned: bool = False


class Page(NamedTuple):
    """`above` and `below` count the entries before and after these; `at` is as in Window."""

    positions: tuple[Position, ...]
    above: int
    below: int
    at: int | None = None
    is_pinned: bool = False

    @property
    def total(self) -> int:
        return self.above + len(self.positions) + self.below


def whole(site: Site, order: Order) -> Listing:
    return _ranked(site, order, group=None)


def group(site: Site, name: str, order: Order) -> Listing:
    return _ranked(site, order, name)


def posted_since(site: Site, group: str | None, order: Order, at: int) -> Listing:
    """
    The listing of an order without the articles posted before an instant (unix milliseconds), of the site or a group.

    The order is one of `since.orders`.
    """
    at = since.clamped(at)
    listing = _indexed(site, order, group)
    name = f"{listing.name}:since:{at}"
    if order is Order.TIME:
        return listing._replace(name=name, lowest=str(at))
    indexes = (_indexed(site, needed, group).indexes for needed in since.INDEXES)
    return listing._replace(name=name, since=Since(at, tuple(zip(*indexes, strict=True))))


def timeline(site: Site, username: str) -> Listing:
    return _of_user(TIMELINE, keys.timeline, site.partition_of_user(username), username)


def following(site: Site, username: str) -> Listing:
    return _of_user("following", followed.following, site.partition_of_user(username), username)


def followers(site: Site, username: str) -> Listing:
    return _of_user("followers", followed.followers, site.partition_of_user(username), username)


def held(site: Site, username: str) -> Listing:
    """The articles and comments of a user that are pending or removed, by time."""
    partition = site.partition_of_user(username)
    own = _of_user("held", keys.held, partition, username)
    return own._replace(indexes=(*own.indexes, keys.held_comments(partition, username)), may_be_archived=False)


def comments(site: Site, username: str) -> Listing:
    """The comments of a user by time."""
    return _of_user("comments", keys.comments, site.partition_of_user(username), username)


def by_link(site: Site, link: str, since: int | None = None) -> Listing:
    """The articles with the same link (see `links`) by time: all, or those posted since an instant (milliseconds)."""
    digest = links.digest(link)
    indexes = tuple(links.LINKS(partition, digest) for partition in range(site.partitions))
    return Listing(f"links:{digest}", indexes, lowest="-inf" if since is None else str(since), by_time=True)


def front_page(site: Site, day: int | None) -> Listing:
    """Good articles (`Policy.is_good`) by time: all, or of the UTC day that begins at `day` (unix milliseconds)."""
    indexes = tuple(GOOD_ARTICLES(partition) for partition in range(site.partitions))
    if day is None:
        return Listing("good", indexes, by_time=True)
    before_next_day = f"({day + DAY_MS}"
    return Listing(f"good:{day}", indexes, lowest=str(day), highest=before_next_day, by_time=True)


def partition_pages(listing: Listing, window: Window, *, is_whole: bool = True) -> list[Read[Any]]:
    """
    The reads of a page, one for each partition. Each results in a PartitionPage or, if values decay or the listing
    begins at an instant, in a further read.

    If one partition has all of the listing, the server skips entries; otherwise `merge` does. `is_whole` is False if
    pages of the archive are merged, too.
    """
    if decay := listing.decay:
        at, count = decay.at if window.at is None else window.at, window.skip + window.count
        return [
            gravity.partition_page(indexes, decay, at, window.upwards, count, window.beyond) for indexes in decay.keys
        ]
    is_single = is_whole and len(listing.indexes) == 1
    count, skip = (window.count, window.skip) if is_single else (window.skip + window.count, 0)
    if bound := listing.since:
        return [
            since.partition_page(bound, indexes, window.upwards, count, skip, window.beyond) for indexes in bound.keys
        ]
    if listing.unions:
        return [_combined("ZUNION", indexes, window, count, skip) for indexes in listing.unions]
    if listing.intersections:
        return [_combined("ZINTER", indexes, window, count, skip) for indexes in listing.intersections]
    bounds = (listing.lowest, listing.highest, "up" if window.upwards else "down")
    return [_range(index, *bounds, count, skip, window.beyond) for index in listing.indexes]


def merge(parts: Sequence[PartitionPage], window: Window) -> Page:
    """Merge the parts of all partitions into one page."""
    first, *others = parts
    if not others and (not window.skip or first.at is None):  # else the server skips no entries, as values decay
        return Page(first.positions, first.above, first.total - first.above - len(first.positions), first.at)
    positions = tuple(heapq.merge(*(part.positions for part in parts), reverse=True))
    above, total = sum(part.above for part in parts), sum(part.total for part in parts)
    if window.upwards:
        shown = positions[-window.count :]
        above += len(positions) - len(shown)
    else:
        shown = positions[window.skip : window.skip + window.count]
        above += min(window.skip, len(positions))
    return Page(shown, above, total - above - len(shown), first.at)


def _ranked(site: Site, order: Order, group: str | None) -> Listing:
    listing = _indexed(site, order, group)
    if not order.decays:
        return listing
    both = tuple(zip(listing.indexes, _indexed(site, Order.VOTES, group).indexes, strict=True))  # as in `Decay.keys`
    policy = site.policy_of(group)
    numbers = (policy.gravity_votes, policy.gravity_age, policy.gravity_delay)
    return listing._replace(decay=Decay(site.clock(), numbers, both))


def _indexed(site: Site, order: Order, group: str | None) -> Listing:
    """The listing of an order, of the site or of a group, without its decay."""
    return _index_listing(site.partitions, group, order.value)


def _is_small(partitions: int, group: str | None, order: str) -> bool:
    return partitions <= MAX_MEMOISED_PARTITIONS and len(group or "") <= MAX_MEMOISED_NAME


@memo(entry_bytes=3_800, call_microseconds=5, when=_is_small)
def _index_listing(partitions: int, group: str | None, order: str) -> Listing:
    by_time = order == Order.TIME.value
    if group is None:
        return Listing(order, tuple(keys.index(partition, order) for partition in range(partitions)), by_time=by_time)
    indexes = tuple(keys.group(partition, group, order) for partition in range(partitions))
    return Listing(f"group:{group}:{order}", indexes, by_time=by_time)


def _of_user(kind: str, key: Callable[[int, str], str], partition: int, username: str) -> Listing:
    return _user_listing(kind, key, partition, username)


def _is_short(kind: str, key: Callable[[int, str], str], partition: int, username: str) -> bool:
    return len(username) <= MAX_MEMOISED_NAME


@memo(entry_bytes=800, call_microseconds=2, when=_is_short)
def _user_listing(kind: str, key: Callable[[int, str], str], partition: int, username: str) -> Listing:
    index = key(partition, username)
    return Listing(f"{kind}:{username.lower()}", (index,), by_time=True, may_be_archived=kind == TIMELINE)


def _has_short_key(index: str, *_: object) -> bool:
    return len(index) <= MAX_MEMOISED_KEY


@memo(entry_bytes=2_300, call_microseconds=5, when=_has_short_key)
def _range(
    index: str, lowest: str, highest: str, direction: str, count: int, skip: int, beyond: Position | None
) -> Read[PartitionPage]:
    position = (repr(beyond.value), beyond.member) if beyond else ("", "")
    return Read(
        encoded(LISTING_PAGE.command([index], lowest, highest, direction, count, skip, *position)),
        decode_partition_page,
    )


def _combined(how: str, indexes: Sequence[str], window: Window, count: int, skip: int) -> Read[PartitionPage]:
    """The read of a page of several indexes of one partition together. `how` is ZUNION or ZINTER."""
    position = (repr(window.beyond.value), window.beyond.member) if window.beyond else ("", "")
    direction = "up" if window.upwards else "down"
    return Read(UNION_PAGE.command(indexes, direction, count, skip, *position, how), decode_partition_page)


def decode_partition_page(reply: str) -> PartitionPage:
    """Decode a reply of `listing_page.lua` or another script that replies so. Most repeat, so short ones are cached."""
    if len(reply) > MAX_CACHED_REPLY:
        return _new_partition_page(reply)
    known: PartitionPage | None = PARTITION_PAGES.get(reply)
    if known is None:
        known = _new_partition_page(reply)
        PARTITION_PAGES.put(reply, known, getsizeof(reply) + DECODED_BYTES * len(reply))
    return known


def _new_partition_page(reply: str) -> PartitionPage:
    above, total, *flat = reply.split(" ")
    return PartitionPage(int(above), int(total), parse_positions(flat))
