"""
Full pages of listings. Some of their entries are not shown, because they were deleted or hidden: more entries are read
until a page is full. A place is where an entry is in a listing: its value and its number.
"""

from collections.abc import Awaitable, Callable
from functools import partial
from typing import Any, NamedTuple, Self

from resolvers import pagination
from resolvers.arguments import PageArguments
from resolvers.context import Context
from resolvers.pagination import ARTICLE_TIME_CURSOR, Connection, Nodes, Total, connection_of_page
from store.listings import Listing, Page, Window
from store.records import Position

MOST_PLACES = 500  # of one read; each further read for the same page has twice as many as the one before, up to this


class Source(NamedTuple):
    """
    Where the places of a listing by time come from: `page` reads those of a window. Without a `total`, the total of
    the page that is read first is taken.
    """

    name: str
    page: Callable[[Window], Awaitable[Page]]
    total: Total | None = None

    @classmethod
    def of_listing(cls, context: Context, listing: Listing) -> Self:
        return cls(listing.name, partial(context.reads.page, listing))


async def full_connection(context: Context, source: Source, paging: PageArguments, nodes: Nodes) -> Connection[Any]:
    """
    A page that is full if enough entries are shown, and that says whether more of them follow. The total may count
    places that are not shown, and so may the page on the side from which the client comes.

    Two round trips, one for the places and one for the records, and as many for each further read.
    """
    window = pagination.window(source.name, paging, ARTICLE_TIME_CURSOR)
    page, place_count = await _full_page(context, source, window, nodes)
    total = place_count if source.total is None else source.total
    return await connection_of_page(context, source.name, page, total, nodes)


async def _full_page(context: Context, source: Source, window: Window, nodes: Nodes) -> tuple[Page, int]:
    """The page, and how many places the listing has."""
    found: list[Position] = []
    first, beyond, size = None, window.beyond, window.count + 1
    while True:
        page = await source.page(Window(size, window.upwards, beyond))
        first = first or page
        records = await nodes.read(context, [position.number for position in page.positions])
        shown = [position for position, record in zip(page.positions, records, strict=True) if record]
        found = [*shown, *found] if window.upwards else [*found, *shown]
        is_more = page.above if window.upwards else page.below
        if len(found) > window.count or not is_more or not page.positions:
            return _cut(found, window, first), first.total
        beyond, size = page.positions[0 if window.upwards else -1], min(2 * size, MOST_PLACES)


def _cut(found: list[Position], window: Window, first: Page) -> Page:
    """The page of what was found, which may have more than the page. `first` is what was read first."""
    more = max(len(found) - window.count, 0)
    if window.upwards:
        return Page(tuple(found[more:]), above=more, below=first.below)
    return Page(tuple(found[: window.count]), above=first.above, below=more)
