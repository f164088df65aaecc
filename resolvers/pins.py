"""Pages of listings that stand still while somebody reads on."""

from resolvers.context import Context
from store import pins
from store.listings import Listing, Page, Window


async def page(context: Context, listing: Listing, window: Window) -> Page:
    """
    A page of a listing as it was pinned; the first that anybody reads in a second pins it.

    One round trip, and for a first page one more to see whether there is a pin, or three to pin it. Where a pin has
    expired, or the store can only be read and keeps none, the listing as it now stands goes on from the position, and a
    note of the answer says so.
    """
    at = pins.instant(context.now) if window.at is None else window.at
    pinned, live = pins.pinned(context.store.site, listing, at), pins.as_of(listing, at)
    is_kept = True
    if not window.beyond and not await context.reads.has_pin(pinned):
        (first,) = await context.reads.pages([(live, Window(pins.PLACES))])
        is_kept = await pins.keep(context.store.site, pinned, first)
    (found,) = await context.reads.pages([(pinned, window)])
    if found.total or (is_kept and not window.beyond):
        return found._replace(at=at, is_pinned=True)
    context.note_expired_pin(listing.name)
    (found,) = await context.reads.pages([(live, window)])
    return found
