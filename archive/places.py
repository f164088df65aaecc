"""
Listings of archived articles, which are in the SQL database only: pages, ranks and totals. A listing is what is ranked
together, such as the site by SCORE. In Redis each partition, a share of the data, holds a part of it; for listings
the archive is one more partition, so the functions here return what is read of a partition.

A place is an article with its value in a listing; a key is what places are sorted by: the value, then the number of the
article. `without` are numbers of articles that have places here although Redis holds them, as they are about to leave
or have just come back: these do not count.
"""

import re
from collections.abc import Collection, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from archive import gravity, since
from database.order_index import reads
from database.order_index.reads import HIGHEST, LAST_NUMBER, LOWEST, Index, Key, Range
from store.feeds import Pull
from store.listings import Listing, Window
from store.ranking.formulas import Order
from store.ranking.standings import Rank
from store.records import PartitionPage, Position

if TYPE_CHECKING:
    from database.statements import Connection

SINCE = re.compile(r":since:[0-9]+$")  # the end of the name of a listing of what was posted since an instant
DAY = re.compile(r"^good:[0-9]+$")  # the name of the good articles of a day, which begins at this instant


def plain_name(listing: Listing) -> str:
    """The name of a listing in the archive. A part, such as what was posted since an instant, has the whole's name."""
    if listing.name.startswith("good"):
        return DAY.sub("good", listing.name)
    return SINCE.sub("", listing.name)


def page(connection: "Connection", listing: Listing, window: Window, without: Collection[int] = ()) -> PartitionPage:
    """
    The part of a page that the archive holds. With `window.skip` it begins with the entries to skip: the caller leaves
    them out after merging, so `above` does not count them.
    """
    if window.skip:
        window = replace(window, count=window.skip + window.count, skip=0)
    if listing.decay:
        return gravity.page(connection, listing, window, without)
    if listing.since:
        return since.page(connection, plain_name(listing), listing.since.at, window, without)
    index = reads.index(connection, plain_name(listing))
    if not index:
        return PartitionPage(above=0, total=0, positions=())
    return _page(connection, index, listing, window, without)


def total(connection: "Connection", listing: Listing, without: Collection[int] = ()) -> int:
    """The number of entries of a listing."""
    return page(connection, listing, Window(count=1), without).total


def at_rank(connection: "Connection", listing: Listing, rank: int, without: Collection[int] = ()) -> Position | None:
    """
    The position with `rank` entries of the listing above it; None if there are not as many.

    It is found by the counts of `database.order_index`. By GRAVITY, and by VOTES since an instant, all entries above
    are read instead.
    """
    if listing.decay or listing.since:
        positions = page(connection, listing, Window(rank + 1), without).positions
        return positions[rank] if len(positions) > rank else None
    index = reads.index(connection, plain_name(listing))
    if not index:
        return None
    low, high = ends(listing)
    hidden = [place.key for place in reads.places_of(connection, index, without) if low < place.key < high]
    first = reads.rank(connection, index, reads.before(high))
    # each hidden place above moves the position one further, which may pass other hidden places
    found, passed = reads.at_rank(connection, index, first + rank), 0
    while found and (more := sum(key >= found for key in hidden)) > passed:
        passed = more
        found = reads.at_rank(connection, index, first + rank + passed)
    return reads.position(*found) if found and found > low else None


def ranks(
    connection: "Connection", listing: Listing, positions: Sequence[Position], without: Collection[int] = ()
) -> list[Rank]:
    """The ranks of positions among the archived articles of a listing without bounds."""
    if listing.decay:
        return gravity.ranks(connection, listing, positions, without)
    index = reads.index(connection, plain_name(listing))
    if not index:
        return [Rank(above=0, next=None)] * len(positions)
    hidden = [place.key for place in reads.places_of(connection, index, without)]
    return [_rank(connection, index, reads.key_of(each), hidden) for each in positions]


def feed_page(
    connection: "Connection",
    usernames: Sequence[str],
    window: Window,
    floor: Position | None,
    without: Collection[int] = (),
) -> Pull:
    """
    The part of a feed page that the archive holds: articles of some users by time, above the position `floor` up to
    which the viewer has seen them (None: all).

    Two or three statements: one reads the next article of each user; a second one reads more of the users whose
    articles are next; on a later page a third one asks whether any are before it.
    """
    ids = [index.id for index in _timelines(connection, usernames)]
    bottom = reads.key_of(floor) if floor else reads.EARLIEST
    beyond = reads.key_of(window.beyond) if window.beyond else None
    low, high = bottom, reads.LATEST
    if beyond and window.upwards:
        low = max(low, beyond)
    elif beyond:
        high = min(high, beyond)
    found = _nearest(connection, [Range(id, low, high) for id in ids], window.count, without, upwards=window.upwards)
    behind = False
    if beyond:  # the position itself is on the other side, too
        edge = reads.nudged(beyond, window.upwards)
        other_low, other_high = (bottom, edge) if window.upwards else (max(bottom, edge), reads.LATEST)
        behind = _has_any(connection, [Range(id, other_low, other_high) for id in ids], without)
    return Pull([reads.position(*key) for key in found], behind)


def newest_of(connection: "Connection", username: str, without: Collection[int] = ()) -> Position | None:
    """The newest article of a user."""
    found = feed_page(connection, [username], Window(count=1), floor=None, without=without).positions
    return found[0] if found else None


def greatest(connection: "Connection", names: Sequence[str]) -> list[float | None]:
    """
    The greatest value of each listing, given by its name in the archive (`plain_name`); None if it is empty. By GRAVITY
    it is the greatest number of votes.
    """
    by_gravity, by_votes = Order.GRAVITY.value, Order.VOTES.value
    stored = [f"{name.removesuffix(by_gravity)}{by_votes}" if name.endswith(by_gravity) else name for name in names]
    first = {
        index.name: reads.places(connection, Range(index.id, LOWEST, HIGHEST), count=1, upwards=False)
        for index in reads.indexes(connection, set(stored))
    }
    return [first[name][0].value if first.get(name) else None for name in stored]


def _page(
    connection: "Connection", index: Index, listing: Listing, window: Window, without: Collection[int]
) -> PartitionPage:
    """The part of a page of a listing whose values are stored in one index."""
    low, high = ends(listing)
    hidden = [place.key for place in reads.places_of(connection, index, without) if low < place.key < high]
    start, end = low, high
    if window.beyond:
        key = reads.key_of(window.beyond)
        start, end = (max(low, key), high) if window.upwards else (low, min(high, key))
    part = Range(index.id, start, end)
    places = reads.places(connection, part, window.count + len(hidden), upwards=window.upwards)
    shown = [place.key for place in places if place.key not in hidden][: window.count]
    if window.upwards:
        shown.reverse()
    outside = reads.rank(connection, index, reads.before(high)) if high < HIGHEST else 0  # places above the listing
    total = reads.rank(connection, index, low) - outside - len(hidden)
    # the places above this key are before the page
    first = (shown[0] if shown else high) if window.upwards else max(low, reads.before(end))
    above = 0
    if first < reads.before(high):
        above = reads.rank(connection, index, first) - outside - sum(key > first for key in hidden)
    return PartitionPage(above, max(total, 0), tuple(reads.position(*key) for key in shown))


def ends(listing: Listing) -> tuple[Key, Key]:
    """The keys between which the values of a listing are, both excluded."""
    low = _end(listing.lowest, excluding=LAST_NUMBER, including=-1)
    return low, _end(listing.highest, excluding=-1, including=LAST_NUMBER)


def _end(bound: str, excluding: int, including: int) -> Key:
    """
    The key at a bound of values, such as "5", "(5" or "-inf". As for ZRANGE, "(" excludes the bound itself: then the
    number of the key is `excluding`, else `including`, which is below or above the numbers of all articles.
    """
    value = float(bound.removeprefix("("))
    return value, excluding if bound.startswith("(") else including


def _rank(connection: "Connection", index: Index, key: Key, hidden: Sequence[Key]) -> Rank:
    above = reads.rank(connection, index, key) - sum(each > key for each in hidden)
    nearest = reads.places(connection, Range(index.id, key, HIGHEST), 1 + len(hidden), upwards=True)
    shown = [place.key for place in nearest if place.key not in hidden]
    return Rank(above, reads.position(*shown[0]) if shown else None)


def _timelines(connection: "Connection", usernames: Sequence[str]) -> list[Index]:
    return reads.indexes(connection, {f"timeline:{username.lower()}" for username in usernames})


def _nearest(
    connection: "Connection", parts: Sequence[Range], count: int, without: Collection[int], *, upwards: bool
) -> list[Key]:
    """The first articles of many ranges by time, nearest first."""
    wanted = count + len(without)
    if len(parts) > wanted:
        first = reads.places_of_many(connection, parts, count=1, upwards=upwards)
        nearest = [(places[0].key, part) for places, part in zip(first, parts, strict=True) if places]
        parts = [part for _, part in sorted(nearest, reverse=not upwards)[:wanted]]
    found = [
        place.key for places in reads.places_of_many(connection, parts, wanted, upwards=upwards) for place in places
    ]
    return sorted((key for key in found if key[1] not in without), reverse=not upwards)[:count]


def _has_any(connection: "Connection", parts: Sequence[Range], without: Collection[int]) -> bool:
    """Whether any range has articles. Reads few ranges at first, as most ranges have some."""
    start, size = 0, 4
    while some := parts[start : start + size]:
        if _nearest(connection, some, count=1, without=without, upwards=False):
            return True
        start, size = start + size, 8 * size
    return False
