"""Pages of listings: one range read per partition, merged by (value, number), highest first."""

import heapq
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from sys import getsizeof
from typing import Any, NamedTuple

from caches import memo, shared_cache
from store import keys
from store.client.commands import packed
from store.queries import Read
from store.ranking import gravity
from store.ranking.formulas import Order
from store.ranking.gravity import Decay, Share
from store.records import Place, places
from store.scripts.registry import LISTING_PAGE
from store.site import Site

DAY_MS = 86_400_000
SHORT = 5_000  # characters of a reply about a page
FEW = 16  # partitions, for which the keys of a listing are memoised
LONGEST_NAME = 60  # characters of what a listing is named by, if it is memoised
PLACE = 8  # bytes that a character of a reply takes as part of a place
PLACES = shared_cache("places")


class Listing(NamedTuple):
    """What is ranked together, and by what: `by_time` where values are instants. Bounds are as ZCOUNT takes them."""

    name: str
    indexes: tuple[str, ...]
    lowest: str = "-inf"
    highest: str = "+inf"
    decay: Decay | None = None
    by_time: bool = False


@dataclass(frozen=True, slots=True)
class Window:
    """
    The part of a listing that a page shows: the first or, upwards, the last `count` beyond a position.

    Where values decay, or the listing stands still, `at` is the instant that the position is of.
    """

    count: int
    upwards: bool = False
    beyond: Place | None = None
    skip: int = 0
    at: int | None = None
    is_pinned: bool = False


class Page(NamedTuple):
    """`above` and `below` are how many places the listing has before and after these, `at` when, where that matters."""

    places: tuple[Place, ...]
    above: int
    below: int
    at: int | None = None
    is_pinned: bool = False

    @property
    def total(self) -> int:
        return self.above + len(self.places) + self.below


def whole(site: Site, order: Order) -> Listing:
    return _ranked(site, order, None)


def group(site: Site, name: str, order: Order) -> Listing:
    return _ranked(site, order, name)


def timeline(site: Site, username: str) -> Listing:
    return _of_user("timeline", keys.timeline, site.home_of_user(username), username)


def following(site: Site, username: str) -> Listing:
    return _of_user("following", keys.following, site.home_of_user(username), username)


def followers(site: Site, username: str) -> Listing:
    return _of_user("followers", keys.followers, site.home_of_user(username), username)


def front_page(site: Site, day: int | None) -> Listing:
    """Good articles by time, of one UTC day (its first instant in unix milliseconds) if given."""
    indexes = tuple(keys.good(p) for p in range(site.partitions))
    if day is None:
        return Listing("good", indexes, by_time=True)
    return Listing(f"good:{day}", indexes, str(day), f"({day + DAY_MS}", by_time=True)


def shares(listing: Listing, window: Window) -> list[Read[Any]]:
    """
    The reads of a page, one per partition. Where values decay, the result of one may be a further read.

    Places are skipped by the server where it alone knows which.
    """
    if decay := listing.decay:
        at, count = decay.at if window.at is None else window.at, window.skip + window.count
        return [gravity.share(keys, decay, at, window.upwards, count, window.beyond) for keys in decay.keys]
    alone = len(listing.indexes) == 1
    count, skip = (window.count, window.skip) if alone else (window.skip + window.count, 0)
    bounds = (listing.lowest, listing.highest, "up" if window.upwards else "down")
    range_of = _range if len(listing.name) <= LONGEST_NAME else _new_range
    return [range_of(index, *bounds, count, skip, window.beyond) for index in listing.indexes]


def merge(parts: Sequence[Share], window: Window) -> Page:
    """The page that the shares of all partitions make together."""
    first, *others = parts
    if not others and (not window.skip or first.at is None):  # then the server has skipped
        return Page(first.places, first.above, first.total - first.above - len(first.places), first.at)
    places = tuple(heapq.merge(*(part.places for part in parts), reverse=True))
    above, total = sum(part.above for part in parts), sum(part.total for part in parts)
    if window.upwards:
        shown = places[-window.count :]
        above += len(places) - len(shown)
    else:
        shown = places[window.skip : window.skip + window.count]
        above += min(window.skip, len(places))
    return Page(shown, above, total - above - len(shown), first.at)


def _ranked(site: Site, order: Order, group: str | None) -> Listing:
    is_small = site.partitions <= FEW and len(group or "") <= LONGEST_NAME
    lasting_of = _lasting if is_small else _new_lasting
    lasting = lasting_of(site.partitions, group, order.value)
    if not order.decays:
        return lasting
    both = tuple(zip(lasting.indexes, lasting_of(site.partitions, group, Order.VOTES.value).indexes, strict=True))
    policy = site.policy_of(group)
    numbers = (policy.gravity_votes, policy.gravity_age, policy.gravity_delay)
    return lasting._replace(decay=Decay(site.clock(), numbers, both))


def _new_lasting(partitions: int, group: str | None, order: str) -> Listing:
    """What is always the same of the listing of an order, of a group or of the whole site."""
    by_time = order == Order.TIME.value
    if group is None:
        return Listing(order, tuple(keys.index(p, order) for p in range(partitions)), by_time=by_time)
    indexes = tuple(keys.group(p, group, order) for p in range(partitions))
    return Listing(f"group:{group}:{order}", indexes, by_time=by_time)


_lasting = memo(256, 4_000)(_new_lasting)


def _of_user(kind: str, key: Callable[[int, str], str], p: int, username: str) -> Listing:
    return (_user_listing if len(username) <= LONGEST_NAME else _new_user_listing)(kind, key, p, username)


def _new_user_listing(kind: str, key: Callable[[int, str], str], p: int, username: str) -> Listing:
    return Listing(f"{kind}:{username.lower()}", (key(p, username),), by_time=True)


_user_listing = memo(1_024, 1_000)(_new_user_listing)


def _new_range(
    index: str, lowest: str, highest: str, direction: str, count: int, skip: int, beyond: Place | None
) -> Read[Share]:
    position = (repr(beyond.value), beyond.member) if beyond else ("", "")
    return Read(packed(LISTING_PAGE.command([index], lowest, highest, direction, count, skip, *position)), _share)


_range = memo(1_024, 2_500)(_new_range)


def _share(reply: str) -> Share:
    """Most pages come again as they were."""
    if len(reply) > SHORT:
        return _new_share(reply)
    known: Share | None = PLACES.get(reply)
    if known is None:
        known = _new_share(reply)
        PLACES.put(reply, known, getsizeof(reply) + PLACE * len(reply))
    return known


def _new_share(reply: str) -> Share:
    above, total, *flat = reply.split(" ")
    return Share(int(above), int(total), places(flat))
