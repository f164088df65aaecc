"""
Pages of listings as Relay connections: cursors, connections, and pinned pages.

A listing is sorted by value; the position of an entry is its value and its member, which is the number of an article or
a username. A place is such a position on a page. A pinned page shows a listing as it was at an instant: a pin is a copy
of the first places, which the store keeps for some minutes.
"""

import re
from abc import ABC, abstractmethod
from asyncio import gather
from base64 import b64decode
from binascii import b2a_base64
from bisect import bisect_left, bisect_right
from collections.abc import Awaitable, Callable, Hashable, Iterable, Sequence
from contextlib import suppress
from dataclasses import replace
from itertools import chain, islice, repeat, starmap
from math import inf, isfinite
from sys import getsizeof
from typing import Any, Generic, NamedTuple, Protocol, TypeVar

from caches import POOL, Cache, Hashed, memo
from resolvers.arguments import BadInput, PageArguments, for_each
from resolvers.context import Context
from store import feeds, records
from store.errors import Invalid
from store.listings import Listing, Page, Window
from store.queries import MAX_CACHED_VOTERS
from store.ranking import snapshots
from store.ranking.formulas import PAGE_SIZE
from store.ranking.snapshots import PinStatus
from store.records import INSTANTS, Article, Position, User, make_tuple

NUMBER = re.compile(r"-?[0-9]{1,20}(\.[0-9]{1,20})?(e[+-][0-9]{1,3})?")  # a value, as Python writes it
ARTICLE = re.compile(r"[0-9]{16}")  # an article's number, as sorted sets hold it
PINNED = "pinned"  # the last part of the cursors of a pinned page
URL_SAFE = bytes.maketrans(b"+/", b"-_")
MAX_CURSOR = 500  # characters
MAX_MEMOISED_NAME = 60  # characters of a listing's name
PLACE_BYTES = 400  # of a place on a cached page, with its number and its edge
PAGE_BYTES = 2_500  # of a cached page without its places
PAGES: Cache[Hashable, Any] = POOL.cache("pages", microseconds=100)  # the time that making an entry takes

L = TypeVar("L")
T = TypeVar("T")
W = TypeVar("W")


class CursorFormat(NamedTuple):
    """The cursors of a listing: a pattern for members, and whether values are instants or change with age."""

    member: re.Pattern[str] = ARTICLE
    by_time: bool = False
    decays: bool = False


ARTICLE_CURSOR = CursorFormat()
ARTICLE_TIME_CURSOR = CursorFormat(by_time=True)
DECAYING_ARTICLE_CURSOR = CursorFormat(decays=True)
USER_TIME_CURSOR = CursorFormat(member=records.NAME, by_time=True)


class CursorPosition(NamedTuple):
    """Where a cursor points. `at` is the instant of its page, if values change with age or the page is pinned."""

    position: Position
    at: int | None
    is_pinned: bool


def _has_short_name(listing: str, position: tuple[object, ...]) -> bool:
    return len(listing) <= MAX_MEMOISED_NAME


@memo(entry_bytes=700, call_microseconds=2, when=_has_short_name)
def encode_cursor(listing: str, position: tuple[object, ...]) -> str:
    """An opaque text for a position in a listing."""
    text = "|".join([listing, *map(str, position)])
    return b2a_base64(text.encode(), newline=False).translate(URL_SAFE, b"=").decode()


def decode_cursor(listing: str, cursor: str) -> list[str]:
    """
    The parts of the position that `encode_cursor` was given.

    Raises:
        BadInput: the text is not a cursor, or belongs to another listing.
    """
    if len(cursor) > MAX_CURSOR:
        raise BadInput("this is not a valid cursor")
    try:
        name, *parts = b64decode(cursor + "=" * (-len(cursor) % 4), b"-_", validate=True).decode().split("|")
    except ValueError as error:
        raise BadInput("this is not a valid cursor") from error
    if name != listing:
        raise BadInput("this cursor belongs to another listing")
    return parts


def decode_name(listing: str, cursor: str, pattern: re.Pattern[str]) -> str:
    """The name in a cursor of a listing that is sorted by name."""
    parts = decode_cursor(listing, cursor)
    if len(parts) != 1 or not pattern.fullmatch(parts[0]):
        raise BadInput("this is not a valid cursor")
    return parts[0]


def decode_position(listing: str, cursor: str, format: CursorFormat) -> CursorPosition:
    """The position in a cursor of a listing. Raises BadInput if it has another format, or is one of another listing."""
    try:
        value, member, *more = decode_cursor(listing, cursor)  # `more`: nothing, an instant, or an instant and PINNED
        position = Position(_value(value, format), member)
        at = _instant(more[0]) if more else None
    except ValueError as error:
        raise BadInput("this is not a valid cursor") from error
    is_pinned = more[1:] == [PINNED]
    has_due_parts = is_pinned or len(more) == format.decays  # an instant where values change with age, else none
    if not format.member.fullmatch(member) or not has_due_parts:
        raise BadInput("this is not a valid cursor")
    return CursorPosition(position, at, is_pinned)


def marked_position(name: str, through: str) -> Position:
    """
    The position in the cursor `through`, an input: up to there a listing by time is marked as seen. Raises Invalid if
    the cursor belongs to another listing.
    """
    try:
        return decode_position(name, through, ARTICLE_TIME_CURSOR).position
    except BadInput as error:
        raise Invalid(str(error), "through") from error


def _value(text: str, format: CursorFormat) -> float:
    value = float(text) if NUMBER.fullmatch(text) else inf
    if not isfinite(value) or (format.by_time and not (value.is_integer() and int(value) in INSTANTS)):
        raise ValueError("not a value of this listing")
    return value


def _instant(text: str) -> int:
    if not text.isdecimal() or not text.isascii() or len(text) > len(str(INSTANTS[-1])) or int(text) not in INSTANTS:
        raise ValueError("not an instant")
    return int(text)


def article_window(listing: Listing, paging: PageArguments, default_size: int = PAGE_SIZE) -> Window:
    """The part of a listing of articles that the arguments ask for."""
    if listing.decay:
        return window(listing.name, paging, DECAYING_ARTICLE_CURSOR, default_size)
    return window(listing.name, paging, ARTICLE_TIME_CURSOR if listing.by_time else ARTICLE_CURSOR, default_size)


def _has_short_cursors(listing: str, paging: PageArguments, *_: object) -> bool:
    return len(listing) + len(paging.after or "") + len(paging.before or "") <= MAX_CURSOR


@memo(entry_bytes=1_800, call_microseconds=5, when=_has_short_cursors)
def window(listing: str, paging: PageArguments, format: CursorFormat, default_size: int = PAGE_SIZE) -> Window:
    """The part of a listing that the arguments ask for."""
    paging.check()
    size = paging.size(default_size)
    skip = size * (paging.page - 1) if paging.page else 0
    if paging.cursor is None:
        return Window(size, upwards=paging.last is not None, skip=skip)
    position, at, is_pinned = decode_position(listing, paging.cursor, format)
    return Window(size, paging.last is not None, beyond=position, skip=skip, at=at, is_pinned=is_pinned)


class LateTotal(ABC):
    """A total that is counted only if a client asks for it, as that costs a round trip. Equal ones count the same."""

    __slots__ = ()

    @abstractmethod
    async def count(self, context: Context) -> int: ...


Total = int | LateTotal


class Edge(NamedTuple, Generic[T]):
    """
    An entry of a page. `position` has the value and the member of the entry, or a name in a listing by name. Where
    values change with age or the page is pinned, the instant of the page follows. The cursor, which has the same, is
    encoded only if a client asks for it.
    """

    listing: str
    position: tuple[object, ...]
    node: T

    @property
    def cursor(self) -> str:
        return encode_cursor(self.listing, self.position)


class HasCursor(Protocol):
    """An edge of any connection."""

    @property
    def cursor(self) -> str: ...


class PageInfo(NamedTuple):
    """Where a page is in its listing. `first` and `last` are its edges at both ends."""

    has_next_page: bool
    has_previous_page: bool
    first: HasCursor | None
    last: HasCursor | None

    @property
    def start_cursor(self) -> str | None:
        return self.first.cursor if self.first else None

    @property
    def end_cursor(self) -> str | None:
        return self.last.cursor if self.last else None


class Connection(NamedTuple, Generic[T]):
    """
    A page of a listing, as in the Relay specification. `is_cacheable` says that this object, of `held_bytes`, is in a
    cache, so that its JSON may be cached, too.
    """

    edges: Sequence[Edge[T]]
    page_info: PageInfo
    total: Total
    is_cacheable: bool = False
    held_bytes: int = 0

    @property
    def nodes(self) -> list[T]:
        return [edge.node for edge in self.edges]


async def total_count(connections: Sequence[Connection[Any]], context: Context) -> list[int]:
    totals = [each.total for each in connections]
    return [await total.count(context) if isinstance(total, LateTotal) else total for total in totals]


async def article_connections(
    context: Context,
    listings: Sequence[Listing],
    paging: PageArguments,
    default_size: int = PAGE_SIZE,
    *,
    pinned: bool = False,
) -> list[Connection[Article] | BadInput]:
    """
    The same page of each listing: two round trips for all of them, one for the places and one for the articles.

    With `pinned` a first page is pinned. A cursor of a pinned page continues in the pin, also without `pinned`. Each
    listing that the cursor does not belong to gets an error.
    """
    windows = _article_windows(listings, paging, default_size)
    selected = valid_windows(listings, windows)
    is_pinned = pinned if paging.cursor is None else any(window.is_pinned for _, window in selected)
    if is_pinned:
        pages = list(await gather(*(_pinned_page(context, listing, window) for listing, window in selected)))
    else:
        pages = await context.reads.pages(selected)
    named = [(listing.name, page, page.total) for (listing, _), page in zip(selected, pages, strict=True)]
    return with_errors(windows, await connections_of_pages(context, named))


def _article_windows(
    listings: Sequence[Listing], paging: PageArguments, default_size: int
) -> Sequence[Window | BadInput]:
    """The window of each listing. Without a cursor all listings have the same."""
    if listings and paging.cursor is None:
        with suppress(BadInput):  # below, each listing gets the error
            return [article_window(listings[0], paging, default_size)] * len(listings)
    return for_each(listings, lambda listing: article_window(listing, paging, default_size))


async def article_connection(
    context: Context, listing: Listing, paging: PageArguments, default_size: int = PAGE_SIZE, *, pinned: bool = False
) -> Connection[Article]:
    """
    A page of one listing, as `article_connections`.

    Raises:
        BadInput: an argument is wrong.
    """
    window = article_window(listing, paging, default_size)
    is_pinned = pinned if paging.cursor is None else window.is_pinned
    page = await (_pinned_page(context, listing, window) if is_pinned else context.reads.page(listing, window))
    return await connection_of_page(context, listing.name, page, page.total)


async def user_connections(
    context: Context, listings: Sequence[Listing], paging: PageArguments
) -> list[Connection[User] | BadInput]:
    """The same page of each listing of users, in one round trip. Cursors as in `article_connections`."""
    windows = for_each(listings, lambda listing: window(listing.name, paging, USER_TIME_CURSOR))
    selected = valid_windows(listings, windows)
    pages = zip(selected, await context.reads.pages(selected), strict=True)
    return with_errors(windows, [_user_connection(listing.name, page) for (listing, _), page in pages])


def name_connection(
    listing: str, names: Sequence[str], paging: PageArguments, pattern: re.Pattern[str], node: Callable[[str], T]
) -> Connection[T]:
    """A page of names, which are sorted in lower case and match a pattern. It is cached if there are few names."""
    if len(names) > MAX_CACHED_VOTERS:
        return _name_connection(listing, names, paging, pattern, node)
    key = Hashed(listing, tuple(names), paging, pattern, node)
    cached: Connection[T] | None = PAGES.get(key)
    if cached is None:
        size = PAGE_BYTES + sum(map(getsizeof, names)) + PLACE_BYTES * len(names) + getsizeof(paging.cursor)
        connection = _name_connection(listing, names, paging, pattern, node)
        cached = connection._replace(is_cacheable=True, held_bytes=size)
        PAGES.put(key, cached, size)
    return cached


def _name_connection(
    listing: str, names: Sequence[str], paging: PageArguments, pattern: re.Pattern[str], node: Callable[[str], T]
) -> Connection[T]:
    paging.check()
    size, start, end = paging.size(), 0, len(names)
    if paging.cursor is not None:
        beyond = decode_name(listing, paging.cursor, pattern).lower()
        if paging.last is None:
            start = bisect_right(names, beyond, key=str.lower)
        else:
            end = bisect_left(names, beyond, key=str.lower)
    shown = range(max(start, end - size), end) if paging.last is not None else range(start, min(start + size, end))
    edges = [Edge(listing, (names[index],), node(names[index])) for index in shown]
    return Connection(edges, page_info(edges, shown.start > 0, shown.stop < len(names)), len(names))


def _user_connection(name: str, page: Page) -> Connection[User]:
    edges = [Edge(name, position, records.user(position.member)) for position in page.positions]
    return Connection(edges, page_info(edges, page.above > 0, page.below > 0), page.total)


def valid_windows(listings: Sequence[L], windows: Sequence[W | BadInput]) -> list[tuple[L, W]]:
    """Each listing that has a window, with it. Those with an error in its place are left out: see `with_errors`."""
    pairs: Any = zip(listings, windows, strict=True)
    if any(map(isinstance, windows, repeat(BadInput))):
        return [(listing, window) for listing, window in pairs if not isinstance(window, BadInput)]
    return [*pairs]


def with_errors(windows: Sequence[object], connections: Sequence[T]) -> list[T | BadInput]:
    """The connections of the listings with a window, and the errors of the others, in their order."""
    if len(connections) == len(windows):
        return [*connections]
    remaining = iter(connections)
    return [window if isinstance(window, BadInput) else next(remaining) for window in windows]


class Nodes(NamedTuple):
    """How the records of pages are read, articles or comments, and how much memory they take."""

    read: Callable[[Context, Iterable[int]], Awaitable[Sequence[Any]]]
    bytes_of: Callable[[Sequence[Any]], int]


class CachedPage(NamedTuple):
    """A page and its connection, which is valid as long as the page and its records are equal to these."""

    page: Page
    numbers: Sequence[int]
    records: Sequence[Any]
    connection: Connection[Any]


def read_articles(context: Context, numbers: Iterable[int]) -> Awaitable[list[Article | None]]:
    return context.reads.articles(numbers)


ARTICLE_NODES = Nodes(read_articles, records.size_of)


async def connection_by_time(
    context: Context, listing: Listing, paging: PageArguments, nodes: Nodes
) -> Connection[Any]:
    """A page of a listing by time: two round trips, one for the places and one for the records."""
    page = await context.reads.page(listing, window(listing.name, paging, ARTICLE_TIME_CURSOR))
    return await connection_of_page(context, listing.name, page, page.total, nodes)


async def connection_oldest_first(
    context: Context, listing: Listing, paging: PageArguments, nodes: Nodes
) -> Connection[Any]:
    """As `connection_by_time`, the oldest first: the same listing, read from its other end."""
    asked = window(listing.name, paging, ARTICLE_TIME_CURSOR)
    page = await context.reads.page(listing, replace(asked, upwards=not asked.upwards))
    turned = page._replace(positions=page.positions[::-1], above=page.below, below=page.above)
    return await connection_of_page(context, listing.name, turned, page.total, nodes)


async def connections_of_pages(
    context: Context, pages: Sequence[tuple[str, Page, Total]], nodes: Nodes = ARTICLE_NODES
) -> list[Connection[Any]]:
    """
    The connections of pages, each with the name of its listing and its total: one round trip for the records of all.

    Connections are cached by page.
    """
    cached: list[CachedPage | None] = list(map(PAGES.get, starmap(_page_key, pages)))
    numbers = [
        known.numbers if known and known.page == page else [position.number for position in page.positions]
        for known, (_, page, _) in zip(cached, pages, strict=True)
    ]
    found = iter(await nodes.read(context, chain.from_iterable(numbers)))
    return [
        _cached_connection(each, known, own, list(islice(found, len(own))), nodes)
        for each, known, own in zip(pages, cached, numbers, strict=True)
    ]


async def connection_of_page(
    context: Context, name: str, page: Page, total: Total, nodes: Nodes = ARTICLE_NODES
) -> Connection[Any]:
    """As `connections_of_pages`, of one page."""
    cached: CachedPage | None = PAGES.get(_page_key(name, page, total))
    is_known = cached is not None and cached.page == page
    numbers = cached.numbers if cached and is_known else [position.number for position in page.positions]
    found = [*await nodes.read(context, numbers)]
    return _cached_connection((name, page, total), cached, numbers, found, nodes)


def _page_key(name: str, page: Page, total: Total) -> tuple[object, ...]:
    """
    The key of a page in the cache. It is not the whole page: hashing and comparing all its places takes as long as
    making its connection.
    """
    return name, total, page.positions[:1], len(page.positions)


def _cached_connection(
    named: tuple[str, Page, Total], cached: CachedPage | None, numbers: Sequence[int], found: list[Any], nodes: Nodes
) -> Connection[Any]:
    """
    The connection of a page, cached by its places. Only a page from the cache `is_cacheable`, so that a page that is
    read once leaves no JSON in memory.
    """
    if cached and cached.numbers is numbers and cached.records == found:
        return cached.connection
    name, page, total = named
    connection = _connection(name, page, total, found)
    if all([record.is_cacheable for record in found if record]):
        size = PAGE_BYTES + PLACE_BYTES * len(numbers) + nodes.bytes_of(found)
        cacheable = connection._replace(is_cacheable=True, held_bytes=size)
        PAGES.put(_page_key(*named), CachedPage(page, numbers, found, cacheable), size)
    return connection


def _connection(name: str, page: Page, total: Total, found: Sequence[Any]) -> Connection[Any]:
    """
    The connection of a page without the records that were deleted after their places were read or pinned.

    If all of them were deleted, `pageInfo` has the cursors of the first and last place, so that clients can continue.
    """
    more = () if page.at is None else (page.at, PINNED) if page.is_pinned else (page.at,)  # as in `decode_position`
    placed = zip(page.positions, found, strict=True)
    # `make_tuple` is `Edge(...)` without a call of Python code
    edges = [make_tuple(Edge, (name, position + more, record)) for position, record in placed if record]
    ends = edges or [make_tuple(Edge, (name, position + more, None)) for position in page.positions]
    return Connection(edges, page_info(ends, page.above > 0, page.below > 0), total)


def page_info(ends: Sequence[HasCursor], has_previous: bool, has_next: bool) -> PageInfo:
    return PageInfo(has_next, has_previous, *((ends[0], ends[-1]) if ends else (None, None)))


async def _pinned_page(context: Context, listing: Listing, window: Window) -> Page:
    """
    A page of a pin. The first request of a second pins the listing, for all who begin to read it in that second.

    One round trip; for a first page, one more to see whether there is a pin, or three to pin. A viewer who has just
    posted gets a new pin that contains the new article. If a pin has expired, or the store is read-only and accepts no
    pins, the current listing continues from the position, and `extensions` of the response says so.
    """
    at = snapshots.shared_instant(context.now) if window.at is None else window.at
    pinned, status = snapshots.pinned_listing(context.store.site, listing, at), None
    is_first = not window.beyond
    if is_first and not await context.reads.load(snapshots.exists(pinned)):
        status = await _pin(context, listing, at)
    elif is_first and (viewer := await context.viewer()):
        # both in one round trip; `context.reads` keeps the page, which is taken below
        _, posted_at = await gather(context.reads.page(pinned, window), _last_post(context, viewer))
        if posted_at is not None and snapshots.may_lack(at, posted_at):
            at, status = await _own_pin(context, listing)
            pinned = snapshots.pinned_listing(context.store.site, listing, at)
    page = await context.reads.page(pinned, window)
    if page.total or (is_first and status != "refused"):  # a first page may be empty, as the listing is
        return page._replace(at=at, is_pinned=True)
    context.note_expired_pin(listing.name)
    return await context.reads.page(snapshots.as_of(listing, at), window)


async def _last_post(context: Context, username: str) -> float | None:
    """The time of a user's newest article (unix milliseconds). One round trip."""
    (times,) = await context.reads.load_all(feeds.last_posts(context.store.site, [username]))
    return times.get(username)


async def _pin(context: Context, listing: Listing, at: int) -> PinStatus:
    """
    Pin the first positions of a listing. Two round trips. Returns "known" if there is a pin of this instant already,
    and "refused" if the store accepts none.
    """
    first = await context.reads.page(snapshots.as_of(listing, at), Window(snapshots.MAX_POSITIONS))
    return await snapshots.pin(context.store.site, snapshots.pinned_listing(context.store.site, listing, at), first)


async def _own_pin(context: Context, listing: Listing) -> tuple[int, PinStatus]:
    """Pin a listing at the first instant from now that has no pin yet."""
    at = context.now
    while (status := await _pin(context, listing, at)) == "known":
        at += 1
    return at, status
