"""Pages as Relay connections."""

import re
from asyncio import gather
from bisect import bisect_left, bisect_right
from collections.abc import Awaitable, Callable, Sequence
from itertools import chain, islice
from sys import getsizeof
from typing import Any, Generic, NamedTuple, TypeVar

from caches import Hashed, shared_cache
from resolvers import pages, pins
from resolvers.context import Context
from resolvers.errors import BadInput, of_each
from resolvers.pages import Asked
from store import records
from store.caching import FEW
from store.listings import Listing, Page, Window
from store.ranking import PAGE_SIZE
from store.records import Article, User, new

PLACE = 400  # bytes of a place on a page that is cached, with its number and its edge
PAGE = 2_500  # bytes of a page beside its places
PAGES = shared_cache("pages")

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
    held_bytes: int = 0

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
    shown = [_shown(*each) for each in found]
    articles = iter(await context.reads.articles(chain.from_iterable([each.numbers for each in shown])))
    return [each.connection(list(islice(articles, len(each.numbers)))) for each in shown]


class Shown:
    """
    A page of a listing, and the connection that was made of it, as long as its articles are as they were.

    `size` is what it holds in bytes, in the cache that it is found in by its key.
    """

    __slots__ = ("_key", "_known", "numbers", "size")

    def __init__(self, key: Hashed) -> None:
        self._key = key
        page: Page = key.value[1]
        self.numbers = [place.number for place in page.places]
        self.size = PAGE + PLACE * len(self.numbers)
        self._known: tuple[list[Article | None], Connection[Article]] | None = None

    def connection(self, articles: list[Article | None]) -> Connection[Article]:
        """It is kept once it is asked for a second time, if that takes little room."""
        if self._known and self._known[0] == articles:
            connection = self._known[1]
            if connection.is_kept:
                return connection
            connection = connection._replace(is_kept=True, held_bytes=self.size)
            self._known = articles, connection
            return connection
        name, page, total = self._key.value
        connection = _connection(name, page, articles, total)
        if all([article.is_short for article in articles if article]):
            self._keep(articles, connection)
        return connection

    def _keep(self, articles: list[Article | None], connection: Connection[Article]) -> None:
        self._known = articles, connection
        size = PAGE + PLACE * len(self.numbers) + records.size_of(articles)
        PAGES.grow(self._key, self, size - self.size)
        self.size = size


def _shown(name: str, page: Page, total: Total) -> Shown:
    """Most pages come again as they were."""
    key = Hashed(name, page, total)
    known: Shown | None = PAGES.get(key)
    if known is None:
        known = Shown(key)
        PAGES.put(key, known, known.size)
    return known


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
    key = Hashed(listing, tuple(names), asked, pattern, node)
    known: Connection[T] | None = PAGES.get(key)
    if known is None:
        size = PAGE + sum(map(getsizeof, names)) + PLACE * len(names) + getsizeof(asked.cursor)
        known = _of_names(listing, names, asked, pattern, node)._replace(is_kept=True, held_bytes=size)
        PAGES.put(key, known, size)
    return known


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
