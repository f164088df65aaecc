"""
Pages of listings some of whose places are not shown, as what is there was deleted or hidden: more places are read until
a page is full.
"""

from typing import Any

from resolvers.arguments import PageArguments
from resolvers.context import Context
from resolvers.pagination import ARTICLE_TIME_CURSOR, Connection, Nodes, Total, connections_of_pages, window
from store.listings import Listing, Page, Window
from store.records import Position

MOST_PLACES = 500  # that one read has


async def full_connection(
    context: Context, listing: Listing, paging: PageArguments, nodes: Nodes, total: Total | None = None
) -> Connection[Any]:
    """
    A page of a listing by time that is full as long as there is more, and knows whether there is. On the side from
    which a client comes, it may count places that are not shown; and so does the total, unless it is given.

    Two round trips, one for the places and one for the records, and as many for each further read.
    """
    placed = window(listing.name, paging, ARTICLE_TIME_CURSOR)
    page, places = await _full_page(context, listing, placed, nodes)
    named = (listing.name, page, places if total is None else total)
    (connection,) = await connections_of_pages(context, [named], nodes)
    return connection


async def _full_page(context: Context, listing: Listing, placed: Window, nodes: Nodes) -> tuple[Page, int]:
    """The page, and how many places the listing has."""
    found: list[Position] = []
    first, beyond, size = None, placed.beyond, placed.count + 1
    while True:
        (page,) = await context.reads.pages([(listing, Window(size, placed.upwards, beyond))])
        first = first or page
        records = await nodes.read(context, [position.number for position in page.positions])
        shown = [position for position, record in zip(page.positions, records, strict=True) if record]
        found = [*shown, *found] if placed.upwards else [*found, *shown]
        if len(found) > placed.count or not (page.above if placed.upwards else page.below):
            return _cut(found, placed, first), first.total
        beyond, size = page.positions[0 if placed.upwards else -1], min(2 * size, MOST_PLACES)


def _cut(found: list[Position], placed: Window, first: Page) -> Page:
    """The page of what was found, which may have one place more or some. `first` is the page that was read first."""
    more = max(len(found) - placed.count, 0)
    if placed.upwards:
        return Page(tuple(found[more:]), above=more, below=first.below)
    return Page(tuple(found[: placed.count]), above=first.above, below=more)
