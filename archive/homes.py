"""
Pages of homes in a store that has archived articles, which only the SQL database has. A home is the front page of one
user: the articles of the groups that they follow, or of the whole site while they follow none, without those that they
hide and those of users whom they block. A place is the position of an article in it. A page has the places of Redis,
and of the database where archived articles can be on it.

All is of one moment: if articles leave Redis or come back between the first read and the last one, all is read again.
Each partition, a share of the store, has counters that show it (`_serials`).
"""

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from functools import partial
from math import inf
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

from archive import moments, places, summaries
from archive.moments import MOVED, load_again
from archive.summaries import Summary
from database.order_index import reads
from database.order_index.reads import Range
from store import hidden, home, keys, moving
from store.errors import StoreUnavailable
from store.home import HomeListing
from store.listings import Page, Window
from store.queries import Read
from store.ranking.formulas import Order
from store.records import Article, Position
from store.site import Site

if TYPE_CHECKING:
    from collections.abc import Callable

    from database.statements import Connection

T = TypeVar("T")

MOST_PLACES = 500  # that one query reads of each group


class Archive(Protocol):
    """Reads of the database: `archive.reads.ArchiveReads`, which calls this module."""

    async def ask(self, query: "Callable[[Any], T]") -> T: ...  # the result of a function of a connection

    async def records(self, numbers: Sequence[int]) -> list[Article | None]: ...  # None if one is not archived


@dataclass(frozen=True, slots=True)
class Part:
    """
    The places of a home that are wanted: `count` beyond a position (None: from the beginning), `upwards` or downwards.
    If values change with age, they are those at the instant `at` (unix milliseconds).

    A home ranks all groups by the weights of the site. `weighted` are the followed groups with a weight of their own in
    this order: their indexes in the archive have values by that weight, so the index of the whole site is read instead.
    """

    listing: HomeListing
    weighted: tuple[str, ...]
    upwards: bool
    count: int
    beyond: Position | None
    at: int | None


async def page(site: Site, archive: Archive, listing: HomeListing, window: Window) -> Page:
    """
    A page of a home. Three round trips, and a query if archived places can be on it.

    Raises:
        StoreUnavailable: articles have moved during each of `TRIES` tries.
    """
    load = partial(load_again, site)
    weighted = _weighted(site, listing)
    ahead = Part(listing, weighted, window.upwards, count=window.count + 1, beyond=window.beyond, at=window.at)
    parts = [ahead]
    if window.beyond is not None:  # one place on the other side of the position shows that there is a page before
        beyond = home.before(window.beyond, window.upwards)
        parts.append(Part(listing, weighted, not window.upwards, count=1, beyond=beyond, at=window.at))
    for _ in range(moments.TRIES):
        first = [*_serials(site), *moving.numbers(range(site.partitions)), *_summaries(site, listing, weighted)]
        replies = await load(first)
        count = site.partitions
        before, marked, tops = replies[:count], replies[count : 2 * count], replies[2 * count :]
        # articles between Redis and the archive: their places in the database do not count
        without, known = frozenset[int]().union(*marked), _merged(tops)
        found = []
        for part in parts:
            stored = await home.places(
                site, load, listing, upwards=part.upwards, count=part.count, beyond=part.beyond, at=part.at
            )
            if _may_have_archived(part, stored, known):
                stored = _union(part, stored, await _archived(site, archive, part, without))
            found.append(stored)
        if await load(_serials(site)) == before:
            return home.page_of(found[0], found[1] if len(found) > 1 else [], listing, window)
    raise StoreUnavailable(MOVED)


async def _archived(site: Site, archive: Archive, part: Part, without: Collection[int]) -> list[Position]:
    """The next archived places that are shown, nearest first."""
    shown: list[Position] = []
    beyond, wanted = part.beyond, part.count
    while True:
        query = partial(_places, part=part, beyond=beyond, count=wanted, without=without)
        found: list[Position] = await archive.ask(query)
        shown += await _shown(site, archive, part.listing, found)
        if len(shown) >= part.count or len(found) < wanted:
            return shown[: part.count]
        beyond, wanted = found[-1], min(2 * wanted, MOST_PLACES)


def _places(
    connection: "Connection", part: Part, beyond: Position | None, count: int, without: Collection[int]
) -> list[Position]:
    """The next archived places, each article once, nearest first."""
    names = _names(part.listing, part.weighted)
    if part.listing.whole.decay or part.listing.whole.since:
        window = Window(count, part.upwards, beyond, at=part.at)
        pages = [places.page(connection, part.listing.whole._replace(name=name), window, without) for name in names]
        found = {position for each in pages for position in each.positions}
    else:
        low, high = places.ends(part.listing.whole)
        if beyond:
            key = reads.key_of(beyond)
            low, high = (max(low, key), high) if part.upwards else (low, min(high, key))
        ranges = [Range(index.id, low, high) for index in reads.indexes(connection, set(names))]
        wanted = count + len(without)
        read = [place for each in ranges for place in reads.places(connection, each, wanted, upwards=part.upwards)]
        if part.weighted and (site_index := reads.index(connection, part.listing.order.value)):
            # the articles of these groups have their values by the site's weights in the index of the whole site
            whole = Range(site_index.id, low, high)
            read += reads.places_in_groups(connection, whole, part.weighted, wanted, part.upwards)
        found = {reads.position(*place.key) for place in read if place.number not in without}
    return sorted(found, reverse=not part.upwards)[:count]


async def _shown(site: Site, archive: Archive, listing: HomeListing, found: Sequence[Position]) -> list[Position]:
    """Places without those that the user hides, and those of users whom they block."""
    choices, names = listing.choices, {name.lower() for name in listing.choices.blocked}
    slots = set(map(keys.slot, names))
    hides: dict[int, bool] = {}
    for part in await load_again(site, hidden.among(site, choices.username, [each.number for each in found])):
        hides |= part
    # the number of an article contains the slot of its poster's name: only these articles can be of blocked users
    suspects = [each.number for each in found if each.number % keys.SLOTS in slots]
    posters = {article.number: article.poster.lower() for article in await archive.records(suspects) if article}
    return [each for each in found if not hides[each.number] and posters.get(each.number) not in names]


def _may_have_archived(part: Part, stored: Sequence[Position], known: Summary) -> bool:
    """
    Whether archived places may be among the wanted ones. `stored` are those that Redis has, `known` is what it knows of
    the values of archived articles.
    """
    whole = part.listing.whole
    if known.newest == -inf or (whole.since and whole.since.at > known.newest):
        return False
    if whole.by_time and float(whole.lowest) > known.newest:
        return False
    greatest = summaries.greatest(whole, known, part.at)
    if part.upwards:
        return part.beyond is None or part.beyond.value <= greatest
    return len(stored) < part.count or stored[-1].value <= greatest


def _union(part: Part, *some: Sequence[Position]) -> list[Position]:
    by_member = {position.member: position for each in some for position in each}
    return sorted(by_member.values(), reverse=not part.upwards)[: part.count]


def _weighted(site: Site, listing: HomeListing) -> tuple[str, ...]:
    """The followed groups with a weight of their own for the order of a home."""
    weight, own = home.WEIGHTED_BY.get(listing.order, ""), site.rankings.weights
    return tuple(group for group in listing.choices.groups if weight in own.get(group, {}))


def _names(listing: HomeListing, weighted: Collection[str]) -> list[str]:
    """The archive's names of the listings of a home, without the listings of `weighted` groups."""
    order, groups = listing.order.value, listing.choices.groups
    return [f"group:{group}:{order}" for group in groups if group not in weighted] if groups else [order]


def _serials(site: Site) -> list[Read[Any]]:
    """Values that change when articles leave Redis, come back, or are marked as moving."""
    call = moving.new_call()  # makes the reads unequal to earlier ones, so that they are sent again
    return [
        Read(("HMGET", keys.archived(partition), "serial", "marks"), _texts, (call,))
        for partition in range(site.partitions)
    ]


def _summaries(site: Site, listing: HomeListing, weighted: Collection[str]) -> list[Read[Any]]:
    """
    The reads of the greatest value, posting time and votes of the archived articles of a home, one for each partition.
    For `weighted` groups the values of the whole site are read, which are no less.
    """
    orders = (listing.order.value, Order.TIME.value, Order.VOTES.value)
    groups = [f"top:group:{group}:" for group in listing.choices.groups if group not in weighted]
    if weighted or not groups:
        groups.append("top:")
    fields = [group + order for order in orders for group in groups]
    call = moving.new_call()  # as in `_serials`
    return [Read(("HMGET", keys.archived(partition), *fields), _tops, (call,)) for partition in range(site.partitions)]


def _tops(call: int, reply: Sequence[str | None]) -> tuple[float, ...]:
    """The greatest value, posting time and number of votes: for each of the three the reply has all groups in a row."""
    values, size = [-inf if text is None else float(text) for text in reply], len(reply) // 3
    return tuple(max(values[start : start + size]) for start in range(0, len(values), size))


def _merged(tops: Sequence[tuple[float, ...]]) -> Summary:
    greatest, newest, most_votes = (max(values) for values in zip(*tops, strict=True))
    return Summary(count=None, greatest=greatest, newest=newest, most_votes=most_votes)


def _texts(call: int, reply: list[str | None]) -> list[str | None]:
    """Decodes the reply to HMGET: as it is."""
    return reply
