"""Pages as Relay connections."""

from bisect import bisect_left, bisect_right
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Generic, TypeVar

from resolvers import pages
from resolvers.context import Context
from resolvers.pages import Asked
from store.listings import Listing, Page
from store.ranking import PAGE_SIZE
from store.records import Article

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class PageInfo:
    has_next_page: bool
    has_previous_page: bool
    start_cursor: str | None
    end_cursor: str | None


@dataclass(frozen=True, slots=True)
class Edge(Generic[T]):
    cursor: str
    node: T


@dataclass(frozen=True, slots=True)
class Connection(Generic[T]):
    edges: Sequence[Edge[T]]
    page_info: PageInfo
    total_count: int

    @property
    def nodes(self) -> list[T]:
        return [edge.node for edge in self.edges]


async def of_articles(
    context: Context, listings: Sequence[Listing], asked: Asked, usual: int = PAGE_SIZE
) -> list[Connection[Article]]:
    """The same page of each listing: two round trips for all of them, one for the places and one for the articles."""
    windows = [pages.window(listing.name, asked, usual) for listing in listings]
    found = await context.reads.pages(list(zip(listings, windows, strict=True)))
    numbers = list(dict.fromkeys(place.number for page in found for place in page.places))
    articles = dict(zip(numbers, await context.reads.articles(numbers), strict=True))
    return [_connection(listing, page, articles) for listing, page in zip(listings, found, strict=True)]


def of_names(listing: str, names: Sequence[str], asked: Asked, node: Callable[[str], T]) -> Connection[T]:
    """A page of names, which are in the order of their lower case."""
    asked.check()
    size, start, end = asked.size(), 0, len(names)
    if asked.cursor is not None:
        beyond = "".join(pages.position(listing, asked.cursor)).lower()
        if asked.last is None:
            start = bisect_right(names, beyond, key=str.lower)
        else:
            end = bisect_left(names, beyond, key=str.lower)
    shown = range(max(start, end - size), end) if asked.last is not None else range(start, min(start + size, end))
    edges = [Edge(pages.cursor(listing, names[place]), node(names[place])) for place in shown]
    return Connection(edges, _page_info(edges, shown.start > 0, shown.stop < len(names)), len(names))


def _connection(listing: Listing, page: Page, articles: dict[int, Article | None]) -> Connection[Article]:
    """An article that was deleted between the two round trips is left out."""
    edges = [
        Edge(pages.cursor(listing.name, place.value, place.number), article)
        for place in page.places
        if (article := articles[place.number])
    ]
    return Connection(edges, _page_info(edges, page.above > 0, page.below > 0), page.total)


def _page_info(edges: Sequence[Edge[T]], previous: bool, following: bool) -> PageInfo:
    start, end = (edges[0].cursor, edges[-1].cursor) if edges else (None, None)
    return PageInfo(following, previous, start, end)
