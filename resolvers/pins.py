"""Pages of listings that stand still while somebody reads on."""

from asyncio import gather

from resolvers.context import Context
from store import pins
from store.listings import Listing, Page, Window
from store.pins import Kept


async def page(context: Context, listing: Listing, window: Window) -> Page:
    """
    A page of a listing as it was pinned; the first that anybody reads in a second pins it.

    One round trip, and for a first page one more to see whether there is a pin, or three to pin it. Who has just posted
    gets a pin of their own, so that it has what they posted. Where a pin has expired, or the store can only be read and
    keeps none, the listing as it now stands goes on from the position, and a note of the answer says so.
    """
    at = pins.instant(context.now) if window.at is None else window.at
    pinned, kept = pins.pinned(context.store.site, listing, at), None
    is_first = not window.beyond
    if is_first and not await context.reads.has_pin(pinned):
        kept = await _pin(context, listing, at)
    elif is_first and (viewer := await context.viewer()):
        (found,), posted = await gather(context.reads.pages([(pinned, window)]), context.reads.last_post(viewer))
        if posted is not None and pins.may_lack(at, posted):
            at, kept = await _own_pin(context, listing)
            pinned = pins.pinned(context.store.site, listing, at)
    (found,) = await context.reads.pages([(pinned, window)])
    if found.total or (is_first and kept != "refused"):
        return found._replace(at=at, is_pinned=True)
    context.note_expired_pin(listing.name)
    (found,) = await context.reads.pages([(pins.as_of(listing, at), window)])
    return found


async def _pin(context: Context, listing: Listing, at: int) -> Kept:
    """Two round trips."""
    (first,) = await context.reads.pages([(pins.as_of(listing, at), Window(pins.PLACES))])
    return await pins.keep(context.store.site, pins.pinned(context.store.site, listing, at), first)


async def _own_pin(context: Context, listing: Listing) -> tuple[int, Kept]:
    """Pin a listing at the first instant from now of which there is no pin yet."""
    at = context.now
    while (kept := await _pin(context, listing, at)) == "known":
        at += 1
    return at, kept
