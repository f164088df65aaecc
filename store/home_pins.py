"""
Pinned homes: the first places of a home, the front page of a user, as they are at an instant, while the user pages
through it. A user has one pin of each order, in their partition (a share of the data); the next one takes its place.
"""

from collections.abc import Sequence

from store.errors import StoreUnavailable
from store.home import HomeListing
from store.keys import ORDER, USERNAME
from store.kinds import Kind
from store.queries import Read
from store.records import Position, parse_positions
from store.site import Site

MAX_PLACES = 200  # of a pin
LIFETIME = 10 * 60 * 1000  # milliseconds
PINNED_HOME = Kind(
    "homepin",
    "string",
    parts=(USERNAME, ORDER),
    holds="the first 200 places of a user's home at an instant, for the next pages: the name of the listing, the "
    "instant, then members and values",
    lifetime="10 minutes",
    written_by="reading a pinned home",
    rebuilt_from="a home",
)


async def pin(site: Site, listing: HomeListing, at: int, places: Sequence[Position]) -> bool:
    """Pin places at an instant (unix milliseconds). False if the store takes no writes. One round trip."""
    words = [listing.name, str(at), *(text for place in places for text in (place.member, repr(float(place.value))))]
    try:
        await site.redis.run(("SET", _key(site, listing), " ".join(words), "PX", LIFETIME))
    except StoreUnavailable:
        return False
    return True


def pinned(site: Site, listing: HomeListing, at: int) -> Read[list[Position] | None]:
    """The places that were pinned at an instant; None if they are not there any more."""
    return Read(("GET", _key(site, listing)), _places, (listing.name, str(at)))


def _key(site: Site, listing: HomeListing) -> str:
    username = listing.choices.username
    return PINNED_HOME(site.partition_of_user(username), username, listing.order.value)


def _places(name: str, at: str, text: str | None) -> list[Position] | None:
    found, time, *flat = (text or "- -").split(" ")  # no listing has the name "-"
    return list(parse_positions(flat)) if (found, time) == (name, at) else None
