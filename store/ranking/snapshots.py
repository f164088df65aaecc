"""
Pinned listings: the first positions (values and members of an index) as they are at an instant, for readers who page
through them. All who begin to read in the same second share a pin.
"""

from dataclasses import replace
from typing import Literal

from store import keys
from store.client import Argument
from store.errors import StoreUnavailable
from store.listings import Listing, Page
from store.queries import Read
from store.scripts.registry import Script
from store.site import Site

PIN = Script("pin")

MAX_POSITIONS = 1_000  # of a pin
LIFETIME = 10 * 60 * 1000  # milliseconds
MAX_PINS = 500  # unexpired pins of one process: each takes about 100 kB of the store
SHARING_PERIOD = 1000  # milliseconds in which readers share a pin
POSTING_TIME = 5000  # milliseconds from the time of a post until it is stored, at most

PinStatus = Literal["pinned", "known", "refused"]


def shared_instant(now: int) -> int:
    """The instant of the shared pin for reads that begin now (unix milliseconds)."""
    return now // SHARING_PERIOD * SHARING_PERIOD


def pinned_listing(site: Site, listing: Listing, at: int) -> Listing:
    """The pin of a listing at an instant, as a listing."""
    partition = keys.slot(listing.name) % site.partitions
    return Listing(listing.name, (keys.pin(partition, listing.name, at),), may_be_archived=False)


def exists(pinned: Listing) -> Read[bool]:
    return Read(("EXISTS", *pinned.indexes), bool)


def may_lack(at: int, posted: float) -> bool:
    """Whether a pin of the instant `at` may lack an article posted at `posted` (unix milliseconds)."""
    return posted >= at - POSTING_TIME


def as_of(listing: Listing, at: int) -> Listing:
    """The same listing, by its values at an instant if they decay."""
    return listing._replace(decay=replace(listing.decay, at=at)) if listing.decay else listing


async def pin(site: Site, pinned: Listing, page: Page) -> PinStatus:
    """
    Store the positions of a page as a pin, unless it exists ("known").

    "refused" if the store takes no writes, or if this process has `MAX_PINS` unexpired pins. One round trip; none for
    an empty page.
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
