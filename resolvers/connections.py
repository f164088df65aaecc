"""Pages as Relay connections."""

import re
from asyncio import gather
from bisect import bisect_left, bisect_right
from collections.abc import Awaitable, Callable, Sequence
from functools import lru_cache
from itertools import chain, islice
from typing import Any, Generic, NamedTuple, TypeVar

from resolvers import pages, pins
from resolvers.context import Context
from resolvers.errors import BadInput, of_each
from resolvers.pages import Asked
from store import records
from store.caching import FEW
from store.listings import Listing, Page, Window
from store.ranking import PAGE_SIZE
from store.records import Article, User, new

T = TypeVar("T")
Total = int | Callable[[Context], Awaitable[int]]  # counted when it is asked for, where that costs something


class Edge(NamedTuple, Generic[T]):
    """Its cursor is made of what follows the listing's name, and only when somebody asks for it."""

    listing: str
    position: tuple[object, ...]
    node: T

    @property
    def cursor(self) -> str:
        return pages.cursor(self.listing, self.position)


class PageInfo(NamedTuple):
    has_next_page: bool
    has_previous_page: bool
    first: Edge[Any] | None
    last: Edge[Any] | None

    @property
    def start_cursor(self) -> str | None:
        return self.first.cursor if self.first else None

    @property
    def end_cursor(self) -> str | None:
        return self.last.cursor if self.last else None


class Connection(NamedTuple, Generic[T]):
    edges: Sequence[Edge[T]]
    page_info: PageInfo
    total: Total
    is_kept: bool = False  # whether it will come again as long as it is true

    @property
    def nodes(self) -> list[T]:
        return [edge.node for edge in self.edges]


async def total_count(connections: Sequence[Connection[Any]], context: Context) -> list[int]:
    return [each.total if isinstance(each.total, int) else await each.total(context) for each in connections]


async def of_articles(
    context: Context, listings: Sequence[Listing], asked: Asked, usual: int = PAGE_SIZE, *, pinned: bool = False
) -> list[Connection[Article] | BadInput]:
    """
    The same page of each listing: two round trips for all of them, one for the places and one for the articles.

    With `pinned` a first page pins them; cursors of pinned pages go on there, whatever is asked. A cursor is an error
    for each listing that it does not belong to.
    """
    windows = of_each(listings, lambda listing: pages.of_articles(listing, asked, usual))
    wanted = _wanted(listings, windows)
    if any(window.is_pinned for _, window in wanted) or (pinned and asked.cursor is None):
        found = list(await gather(*(pins.page(context, listing, window) for listing, window in wanted)))
    else:
        found = await context.reads.pages(wanted)
    named = [(listing.name, page, page.total) for (listing, _), page in zip(wanted, found, strict=True)]
    return _beside_errors(windows, await connect(context, named))


async def page_of_articles(
    context: Context, listing: Listing, asked: Asked, usual: int = PAGE_SIZE, *, pinned: bool = False
) -> Connection[Article]:
    """
    A page of one listing, as `of_articles`.

    Raises:
        BadInput: the page cannot be asked for.
    """
    (found,) = await of_articles(context, [listing], asked, usual, pinned=pinned)
    if isinstance(found, BadInput):
        raise found
    return found


async def connect(context: Context, found: Sequence[tuple[str, Page, Total]]) -> list[Connection[Article]]:
    """
    The connections of pages of named listings, with their totals: one round trip for the articles of all.

    They are kept, and so are totals: one that is counted is equal to another that counts the same.
    """
    shown = [_kept(*each) for each in found]
    articles = iter(await context.reads.articles(chain.from_iterable([each.numbers for each in shown])))
    return [each.connection(list(islice(articles, len(each.numbers)))) for each in shown]


class Shown:
    """A page of a listing, and the connection that was made of it, as long as its articles are as they were."""

    __slots__ = ("_known", "_name", "_page", "_total", "numbers")

    def __init__(self, name: str, page: Page, total: Total) -> None:
        self._name, self._page, self._total = name, page, total
        self.numbers = [place.number for place in page.places]
        self._known: tuple[list[Article | None], Connection[Article]] | None = None

    def connection(self, articles: list[Article | None]) -> Connection[Article]:
        """It is kept once it is asked for a second time, if that takes little room."""
        if self._known and self._known[0] == articles:
            connection = self._known[1]
            if connection.is_kept:
                return connection
            connection = connection._replace(is_kept=True)
        else:
            connection = _connection(self._name, self._page, articles, self._total)
        if all(article.is_short for article in articles if article):
            self._known = articles, connection
        return connection


_kept = lru_cache(maxsize=512)(Shown)  # most pages come again as they were


async def of_users(context: Context, listings: Sequence[Listing], asked: Asked) -> list[Connection[User] | BadInput]:
    """The same page of each listing of users: one round trip for all of them. Cursors as in `of_articles`."""
    windows = of_each(listings, lambda listing: pages.window(listing.name, asked, pages.USERS_BY_TIME))
    wanted = _wanted(listings, windows)
    found = zip(wanted, await context.reads.pages(wanted), strict=True)
    return _beside_errors(windows, [_user_connection(listing.name, page) for (listing, _), page in found])


def _wanted(listings: Sequence[Listing], windows: Sequence[Window | BadInput]) -> list[tuple[Listing, Window]]:
    pairs = zip(listings, windows, strict=True)
    return [(listing, window) for listing, window in pairs if not isinstance(window, BadInput)]


def _beside_errors(windows: Sequence[Window | BadInput], connections: Sequence[T]) -> list[T | BadInput]:
    """The connections of the listings that have a window, each in its place."""
    found = iter(connections)
    return [window if isinstance(window, BadInput) else next(found) for window in windows]


def of_names(
    listing: str, names: Sequence[str], asked: Asked, pattern: re.Pattern[str], node: Callable[[str], T]
) -> Connection[T]:
    """A page of names, which are in the order of their lower case and all of a pattern. One of few is kept."""
    if len(names) > FEW:
        return _of_names(listing, names, asked, pattern, node)
    return _of_few_names(listing, tuple(names), asked, pattern, node)


@lru_cache(maxsize=1_024)
def _of_few_names(
    listing: str, names: tuple[str, ...], asked: Asked, pattern: re.Pattern[str], node: Callable[[str], T]
) -> Connection[T]:
    return _of_names(listing, names, asked, pattern, node)._replace(is_kept=True)


def _of_names(
    listing: str, names: Sequence[str], asked: Asked, pattern: re.Pattern[str], node: Callable[[str], T]
) -> Connection[T]:
    asked.check()
    size, start, end = asked.size(), 0, len(names)
    if asked.cursor is not None:
        beyond = pages.name(listing, asked.cursor, pattern).lower()
        if asked.last is None:
            start = bisect_right(names, beyond, key=str.lower)
        else:
            end = bisect_left(names, beyond, key=str.lower)
    shown = range(max(start, end - size), end) if asked.last is not None else range(start, min(start + size, end))
    edges = [Edge(listing, (names[place],), node(names[place])) for place in shown]
    return Connection(edges, _page_info(edges, shown.start > 0, shown.stop < len(names)), len(names))


def _connection(name: str, page: Page, articles: Sequence[Article | None], total: Total) -> Connection[Article]:
    """
    An article that was deleted since its place was read, or pinned, is left out.

    Where that is all of a page, its first and last place have the cursors from which to go on.
    """
    mark = () if page.at is None else (page.at, pages.PINNED) if page.is_pinned else (page.at,)
    placed = zip(page.places, articles, strict=True)
    edges = [new(Edge, (name, place + mark, article)) for place, article in placed if article]
    ends = edges or [new(Edge, (name, place + mark, None)) for place in page.places]
    return Connection(edges, _page_info(ends, page.above > 0, page.below > 0), total)


def _user_connection(name: str, page: Page) -> Connection[User]:
    edges = [Edge(name, place, records.user(place.member)) for place in page.places]
    return Connection(edges, _page_info(edges, page.above > 0, page.below > 0), page.total)


def _page_info(ends: Sequence[Edge[Any]], previous: bool, following: bool) -> PageInfo:
    return PageInfo(following, previous, *((ends[0], ends[-1]) if ends else (None, None)))
