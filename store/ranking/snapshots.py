"""Listings that stand still: the first positions as they are at an instant, shared by all who begin to read then."""

from dataclasses import replace
from typing import Literal

from store import keys
from store.client.commands import Argument
from store.errors import StoreUnavailable
from store.listings import Listing, Page
from store.queries import Read
from store.scripts.registry import PIN
from store.site import Site

MAX_POSITIONS = 1_000
LIFETIME = 10 * 60 * 1000  # milliseconds
MAX_PINS = 500  # pins of one process that live at once: each takes some 100 kB of the store
SHARING_PERIOD = 1000  # milliseconds: who begins within the same second reads the same
POSTING_TIME = 5000  # milliseconds that a post may take from its time until it is there

PinStatus = Literal["pinned", "known", "refused"]


def shared_instant(now: int) -> int:
    """The instant of the pin that who begins to read now shares."""
    return now // SHARING_PERIOD * SHARING_PERIOD


def pinned_listing(site: Site, listing: Listing, at: int) -> Listing:
    """The listing as it was pinned, in a key of its own."""
    p = keys.slot(listing.name) % site.partitions
    return Listing(listing.name, (keys.pin(p, listing.name, at),))


def exists(pinned: Listing) -> Read[bool]:
    return Read(("EXISTS", *pinned.indexes), bool)


def may_lack(at: int, posted: float) -> bool:
    """Whether a shared pin may have been made before what was posted at a time."""
    return posted >= at - POSTING_TIME


def as_of(listing: Listing, at: int) -> Listing:
    """The same listing; where its values decay, by those of an instant."""
    return listing._replace(decay=replace(listing.decay, at=at)) if listing.decay else listing


async def pin(site: Site, pinned: Listing, page: Page) -> PinStatus:
    """
    Pin the positions of a page, unless that pin exists: then it stays. A store that can only be read keeps none,
    and a process makes no more than `MAX_PINS` pins that live at once.

    One round trip; nothing at all for an empty page.
    """
    flat: list[Argument] = [
        text for position in page.positions for text in (repr(float(position.value)), position.member)
    ]
    if not flat:
        return "pinned"
    if _is_full(site):
        return "refused"
    try:
        (status,) = await site.redis.run(PIN.command(pinned.indexes, LIFETIME, *flat))
    except StoreUnavailable:
        return "refused"
    if status == "known":
        return "known"
    site.pin_expiries.append(site.clock() + LIFETIME)
    return "pinned"


def _is_full(site: Site) -> bool:
    while site.pin_expiries and site.pin_expiries[0] <= site.clock():
        site.pin_expiries.popleft()
    return len(site.pin_expiries) >= MAX_PINS
