"""
Pages of listings as Relay connections: the arguments that ask for one, cursors, and pages that are pinned.
"""

import re
from asyncio import gather
from base64 import b64decode
from binascii import b2a_base64
from bisect import bisect_left, bisect_right
from collections.abc import Awaitable, Callable, Sequence
from itertools import chain, islice
from math import inf, isfinite
from sys import getsizeof
from typing import Any, Generic, NamedTuple, TypeVar

from caches import Hashed, memo, shared_cache
from resolvers.context import Context
from resolvers.errors import BadInput, of_each
from store import records, validation
from store.client.tracking_cache import MAX_CACHED_VOTERS
from store.listings import Listing, Page, Window
from store.ranking import snapshots
from store.ranking.formulas import PAGE_SIZE
from store.ranking.snapshots import PinStatus
from store.records import INSTANTS, Article, Position, User, make_tuple

SIZES = range(1, 101)
NUMBER = re.compile(r"-?[0-9]{1,20}(\.[0-9]{1,20})?(e[+-][0-9]{1,3})?")  # a value, as Python writes it
ARTICLE = re.compile(r"[0-9]{16}")  # an article's number, as sorted sets hold it
HIGHEST_PAGE = 2**31 - 1
PINNED = "pinned"
LONGEST = 500  # characters of a cursor
SHORT = 60  # characters of a listing's name for which cursors are memoised
URL_SAFE = bytes.maketrans(b"+/", b"-_")


class Positions(NamedTuple):
    """What the cursors of a listing hold: what stands there, and whether its values are instants or change with age."""

    member: re.Pattern[str] = ARTICLE
    by_time: bool = False
    decays: bool = False


ARTICLES, ARTICLES_BY_TIME, DECAYING_ARTICLES = Positions(), Positions(by_time=True), Positions(decays=True)
USERS_BY_TIME = Positions(validation.USERNAME, by_time=True)


class Asked(NamedTuple):
    """The paging arguments of a connection."""

    first: int | None = None
    after: str | None = None
    last: int | None = None
    before: str | None = None
    page: int | None = None

    def size(self, usual: int = PAGE_SIZE) -> int:
        for name, value in (("first", self.first), ("last", self.last)):
            if value is not None and value not in SIZES:
                raise BadInput(f"{name} is 1 to 100, not {value}")
        return self.first or self.last or usual

    def check(self) -> None:
        """Refuse arguments that exclude each other."""
        if self.first is not None and self.last is not None:
            raise BadInput("first and last exclude each other")
        if self.after is not None and self.last is not None:
            raise BadInput("after goes with first; last goes with before")
        if self.before is not None and self.last is None:
            raise BadInput("before goes with last")
        if self.page is not None and (self.after is not None or self.last is not None):
            raise BadInput("page excludes after, before and last")
        if self.page is not None and not 1 <= self.page <= HIGHEST_PAGE:
            raise BadInput(f"page counts from 1, not {self.page}")

    @property
    def cursor(self) -> str | None:
        return self.before if self.last is not None else self.after


def window_of_articles(listing: Listing, asked: Asked, usual: int = PAGE_SIZE) -> Window:
    """The part of a listing of articles that is asked for."""
    if listing.decay:
        return window(listing.name, asked, DECAYING_ARTICLES, usual)
    return window(listing.name, asked, ARTICLES_BY_TIME if listing.by_time else ARTICLES, usual)


def window(listing: str, asked: Asked, positions: Positions, usual: int = PAGE_SIZE) -> Window:
    """The part of a listing that is asked for."""
    is_small = len(listing) + len(asked.after or "") + len(asked.before or "") <= LONGEST
    return (_window if is_small else _new_window)(listing, asked, positions, usual)


def _new_window(listing: str, asked: Asked, positions: Positions, usual: int) -> Window:
    asked.check()
    size = asked.size(usual)
    skip = size * (asked.page - 1) if asked.page else 0
    if asked.cursor is None:
        return Window(size, asked.last is not None, skip=skip)
    found, at, is_pinned = mark(listing, asked.cursor, positions)
    return Window(size, asked.last is not None, found, skip, at, is_pinned)


_window = memo(1_024, 2_000)(_new_window)


def cursor(listing: str, position: tuple[object, ...]) -> str:
    """An opaque text for a position in a listing."""
    return (_cursor if len(listing) <= SHORT else _new_cursor)(listing, position)


def _new_cursor(listing: str, position: tuple[object, ...]) -> str:
    text = "|".join([listing, *map(str, position)])
    return b2a_base64(text.encode(), newline=False).translate(URL_SAFE, b"=").decode()


_cursor = memo(4_096, 900)(_new_cursor)


def cursor_fields(listing: str, text: str) -> list[str]:
    """
    What `cursor` was made of.

    Raises:
        BadInput: this is no cursor, or one of another listing.
    """
    if len(text) > LONGEST:
        raise BadInput("this is no cursor")
    try:
        name, *parts = b64decode(text + "=" * (-len(text) % 4), b"-_", validate=True).decode().split("|")
    except ValueError as error:
        raise BadInput("this is no cursor") from error
    if name != listing:
        raise BadInput("this cursor belongs to another listing")
    return parts


def name(listing: str, text: str, names: re.Pattern[str]) -> str:
    """The name of a cursor of a listing by name."""
    found = cursor_fields(listing, text)
    if len(found) != 1 or not names.fullmatch(found[0]):
        raise BadInput("this is no cursor")
    return found[0]


def cursor_position(listing: str, text: str, positions: Positions) -> Position:
    return mark(listing, text, positions)[0]


def mark(listing: str, text: str, positions: Positions) -> tuple[Position, int | None, bool]:
    """The place of a cursor, the instant that it is of where values decay, and whether the listing stands still."""
    try:
        value, member, *more = cursor_fields(listing, text)
        found = Position(_value(value, positions), member)
        at = _instant(more[0]) if more else None
    except ValueError as error:
        raise BadInput("this is no cursor") from error
    is_pinned = more[1:] == [PINNED]
    is_of_an_instant = is_pinned or len(more) == positions.decays
    if not positions.member.fullmatch(member) or not is_of_an_instant:
        raise BadInput("this is no cursor")
    return found, at, is_pinned


def _value(text: str, positions: Positions) -> float:
    value = float(text) if NUMBER.fullmatch(text) else inf
    if not isfinite(value) or (positions.by_time and not (value.is_integer() and int(value) in INSTANTS)):
        raise ValueError("no value that anything can have there")
    return value


def _instant(text: str) -> int:
    if not text.isdecimal() or not text.isascii() or len(text) > len(str(INSTANTS[-1])) or int(text) not in INSTANTS:
        raise ValueError("no instant")
    return int(text)


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
        return cursor(self.listing, self.position)


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
    windows = of_each(listings, lambda listing: window_of_articles(listing, asked, usual))
    wanted = _wanted(listings, windows)
    if any(window.is_pinned for _, window in wanted) or (pinned and asked.cursor is None):
        found = list(await gather(*(page(context, listing, window) for listing, window in wanted)))
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
        self.numbers = [position.number for position in page.positions]
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
        if all([article.is_cacheable for article in articles if article]):
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
    windows = of_each(listings, lambda listing: window(listing.name, asked, USERS_BY_TIME))
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
    if len(names) > MAX_CACHED_VOTERS:
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
        beyond = name(listing, asked.cursor, pattern).lower()
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
    mark = () if page.at is None else (page.at, PINNED) if page.is_pinned else (page.at,)
    placed = zip(page.positions, articles, strict=True)
    edges = [make_tuple(Edge, (name, position + mark, article)) for position, article in placed if article]
    ends = edges or [make_tuple(Edge, (name, position + mark, None)) for position in page.positions]
    return Connection(edges, _page_info(ends, page.above > 0, page.below > 0), total)


def _user_connection(name: str, page: Page) -> Connection[User]:
    edges = [Edge(name, position, records.user(position.member)) for position in page.positions]
    return Connection(edges, _page_info(edges, page.above > 0, page.below > 0), page.total)


def _page_info(ends: Sequence[Edge[Any]], previous: bool, following: bool) -> PageInfo:
    return PageInfo(following, previous, *((ends[0], ends[-1]) if ends else (None, None)))


async def page(context: Context, listing: Listing, window: Window) -> Page:
    """
    A page of a listing as it was pinned; the first that anybody reads in a second pins it.

    One round trip, and for a first page one more to see whether there is a pin, or three to pin it. Who has just posted
    gets a pin of their own, so that it has what they posted. Where a pin has expired, or the store can only be read and
    keeps none, the listing as it now stands goes on from the position, and a note of the answer says so.
    """
    at = snapshots.shared_instant(context.now) if window.at is None else window.at
    pinned, kept = snapshots.pinned_listing(context.store.site, listing, at), None
    is_first = not window.beyond
    if is_first and not await context.reads.has_pin(pinned):
        kept = await _pin(context, listing, at)
    elif is_first and (viewer := await context.viewer()):
        (found,), posted = await gather(context.reads.pages([(pinned, window)]), context.reads.last_post(viewer))
        if posted is not None and snapshots.may_lack(at, posted):
            at, kept = await _own_pin(context, listing)
            pinned = snapshots.pinned_listing(context.store.site, listing, at)
    (found,) = await context.reads.pages([(pinned, window)])
    if found.total or (is_first and kept != "refused"):
        return found._replace(at=at, is_pinned=True)
    context.note_expired_pin(listing.name)
    (found,) = await context.reads.pages([(snapshots.as_of(listing, at), window)])
    return found


async def _pin(context: Context, listing: Listing, at: int) -> PinStatus:
    """Two round trips."""
    (first,) = await context.reads.pages([(snapshots.as_of(listing, at), Window(snapshots.MAX_POSITIONS))])
    return await snapshots.pin(context.store.site, snapshots.pinned_listing(context.store.site, listing, at), first)


async def _own_pin(context: Context, listing: Listing) -> tuple[int, PinStatus]:
    """Pin a listing at the first instant from now of which there is no pin yet."""
    at = context.now
    while (kept := await _pin(context, listing, at)) == "known":
        at += 1
    return at, kept
