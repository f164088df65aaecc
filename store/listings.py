"""Pages of listings: one range read per partition, merged by (value, number), highest first."""

import heapq
from collections.abc import Sequence
from dataclasses import dataclass

from store import keys
from store.connection import RANGE
from store.ranking import Order
from store.reads import Read
from store.records import Place
from store.site import Site

DAY_MS = 86_400_000


@dataclass(frozen=True, slots=True)
class Listing:
    """What is ranked together, and by what. The bounds are values as ZCOUNT takes them."""

    name: str
    indexes: tuple[str, ...]
    lowest: str = "-inf"
    highest: str = "+inf"


@dataclass(frozen=True, slots=True)
class Window:
    """The part of a listing that a page shows: the first or, upwards, the last `count` beyond a position."""

    count: int
    upwards: bool = False
    beyond: Place | None = None
    skip: int = 0


@dataclass(frozen=True, slots=True)
class Page:
    """`above` and `below` are how many places the listing has before and after these."""

    places: Sequence[Place]
    above: int
    below: int

    @property
    def total(self) -> int:
        return self.above + len(self.places) + self.below


@dataclass(frozen=True, slots=True)
class Share:
    """One partition's part of a page."""

    above: int
    total: int
    places: Sequence[Place]


def whole(site: Site, order: Order) -> Listing:
    return Listing(order.value, tuple(keys.index(p, order.value) for p in range(site.partitions)))


def group(site: Site, name: str, order: Order) -> Listing:
    indexes = tuple(keys.group(p, name, order.value) for p in range(site.partitions))
    return Listing(f"group:{name}:{order.value}", indexes)


def timeline(site: Site, username: str) -> Listing:
    return Listing(f"timeline:{username.lower()}", (keys.timeline(site.home_of_user(username), username),))


def following(site: Site, username: str) -> Listing:
    return Listing(f"following:{username.lower()}", (keys.following(site.home_of_user(username), username),))


def followers(site: Site, username: str) -> Listing:
    return Listing(f"followers:{username.lower()}", (keys.followers(site.home_of_user(username), username),))


def front_page(site: Site, day: int | None) -> Listing:
    """Good articles by time, of one UTC day (its first instant in unix milliseconds) if given."""
    indexes = tuple(keys.good(p) for p in range(site.partitions))
    if day is None:
        return Listing("good", indexes)
    return Listing(f"good:{day}", indexes, str(day), f"({day + DAY_MS}")


def shares(listing: Listing, window: Window) -> list[Read[Share]]:
    """The reads of a page, one per partition. Places are skipped by the server where it alone knows which."""
    alone = len(listing.indexes) == 1
    count, skip = (window.count, window.skip) if alone else (window.skip + window.count, 0)
    bounds = (listing.lowest, listing.highest, "up" if window.upwards else "down", count, skip)
    position = (repr(window.beyond.value), window.beyond.member) if window.beyond else ("", "")
    return [Read(RANGE.command([index], *bounds, *position), _share) for index in listing.indexes]


def merge(parts: Sequence[Share], window: Window) -> Page:
    """The page that the shares of all partitions make together."""
    places = list(heapq.merge(*(part.places for part in parts), reverse=True))
    above, total = sum(part.above for part in parts), sum(part.total for part in parts)
    if window.upwards:
        shown = places[-window.count :]
        above += len(places) - len(shown)
    else:
        skipped = window.skip if len(parts) > 1 else 0
        shown = places[skipped : skipped + window.count]
        above += min(skipped, len(places))
    return Page(shown, above, total - above - len(shown))


def places_of(flat: Sequence[str]) -> list[Place]:
    """Places from the flat list of members and values that scripts reply with."""
    return [Place(float(value), member) for member, value in zip(flat[::2], flat[1::2], strict=True)]


def _share(reply: list[str]) -> Share:
    above, total, *flat = reply
    return Share(int(above), int(total), places_of(flat))
