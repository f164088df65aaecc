"""
The field `Article.thread`: pages of threads, and the cursors of their places. A thread has the comments of an article,
or those below one of them, in pre-order: each comment before its replies.

Public functions whose first argument is a sequence are batch resolvers: they return a value for each element, in order.
A place is where a comment is in a thread. A pinned walk goes through all pages of a thread in the order of one instant.
"""

from asyncio import gather
from base64 import b64decode, urlsafe_b64encode
from collections.abc import Awaitable, Sequence
from dataclasses import replace
from itertools import islice
from math import isfinite
from operator import methodcaller
from struct import Struct
from typing import NamedTuple

from caches import Hashed
from resolvers import arguments
from resolvers.arguments import BadInput, PageArguments, for_each, paginated
from resolvers.comments import read_comments, shown_in_threads
from resolvers.context import Context
from resolvers.pagination import PAGE_BYTES, PAGES, PLACE_BYTES, PageInfo, page_info, valid_windows, with_errors
from store import keys, threads
from store.numbering import HIGHEST_NUMBER
from store.ranking.formulas import PAGE_SIZE
from store.records import Article, Comment, Position
from store.threads import (
    INNER_LEVELS,
    MAX_PLACES,
    OUTER_LEVELS,
    CommentOrder,
    ThreadLevel,
    ThreadPage,
    ThreadPlace,
    ThreadPosition,
    ThreadWindow,
)

MAX_DEPTH = 10  # by default
CURSOR_VERSION = b"\x01"  # no cursor of a listing, which is text, begins with this byte
ORDERS = {order: order.value[:1].encode() for order in CommentOrder}
# The beginning of a cursor: version, order, article, comment above (0: none), greatest depth, and then `moves` and
# `newest` of a `ThreadPosition`. `moves` is the number of the last vote when the first page was read; `newest` is the
# highest number of a comment that a pinned walk shows, 0 without a pin.
THREAD = Struct(">ccQQIQQ")
LEVEL = Struct(">IdQ")  # the depth, the value by the order and the number of an ancestor, or of the comment itself
# characters: base64 writes three bytes as four
MAX_CURSOR = 4 * (THREAD.size + (OUTER_LEVELS + INNER_LEVELS) * LEVEL.size + 2) // 3
NO_PAGE = PageInfo(has_next_page=False, has_previous_page=False, first=None, last=None)
MAX_CACHED_PLACES = 100  # of a page


class Thread(NamedTuple):
    """The thread of an article or below one of its comments, down to a depth."""

    article: int
    order: CommentOrder
    under: int | None
    max_depth: int


class ThreadEdge(NamedTuple):
    """A place with its comment; None for a comment that was deleted after the places were read."""

    thread: Thread
    place: ThreadPlace
    node: Comment | None

    @property
    def cursor(self) -> str:
        return encode_cursor(self.thread, self.place.position)

    @property
    def hidden_reply_count(self) -> int:
        return self.place.hidden


class ThreadConnection(NamedTuple):
    """
    A page of a thread. `article` is None if the thread is asked for below a comment of another article.

    `is_cacheable` says that this object is in a cache itself, so that its JSON may be cached with it.
    """

    thread: Thread
    article: Article | None
    edges: Sequence[ThreadEdge]
    page_info: PageInfo
    is_cacheable: bool = False
    held_bytes: int = 0

    @property
    def nodes(self) -> list[Comment | None]:
        return [edge.node for edge in self.edges]


@paginated
async def thread(
    articles: Sequence[Article],
    context: Context,
    order: CommentOrder | None = CommentOrder.BEST,
    under: str | None = None,
    max_depth: int | None = MAX_DEPTH,
    *,
    paging: PageArguments,
    pinned: bool | None = False,
) -> list[ThreadConnection | BadInput]:
    """
    The same page of the thread of each article. Two round trips for all: one for the places, one for the comments.

    With `pinned` a first page begins a pinned walk: all its pages show the comments in the order of that instant. This
    takes one more round trip. A cursor of a pinned page goes on with the walk, also without `pinned`. If the pin has
    expired, or the store accepts no pins, the page is of the present thread, and `extensions` of the response says so.

    A thread below a comment that does not exist, or belongs to another article, is empty.
    """
    order, depth = order or CommentOrder.BEST, MAX_DEPTH if max_depth is None else max_depth
    above = None if under is None else arguments.comment_number(under)
    if depth < 0:
        raise BadInput(f"maxDepth is at least 0, not {depth}")
    wanted = [Thread(article.number, order, above, depth) for article in articles]
    windows = for_each(wanted, lambda thread: thread_window(thread, paging))
    selected = valid_windows(list(zip(articles, wanted, strict=True)), windows)
    wanted_pages = [(thread, window) for (_, thread), window in selected]
    if pinned and paging.cursor is None:
        wanted_pages = list(await gather(*(_pinned(context, *each) for each in wanted_pages)))
    pages = await _pages(context, wanted_pages)
    comments = iter(await read_comments(context, [place.number for page in pages if page for place in page.places]))
    connections = [
        _connection(article, thread, page, list(islice(comments, len(page.places))))
        if page
        else ThreadConnection(thread, article=None, edges=(), page_info=NO_PAGE)
        for ((article, thread), _), page in zip(selected, pages, strict=True)
    ]
    return with_errors(windows, connections)


async def total_count(connections: Sequence[ThreadConnection], context: Context) -> list[int]:
    """The number of all visible comments of each thread, also of those that are too deep to be shown."""
    above = [(each.thread.article, each.thread.under) for each in connections if each.article and each.thread.under]
    counts = await context.reads.descendant_counts(above)
    return [
        0 if each.article is None else counts[each.thread.under] if each.thread.under else each.article.comment_count
        for each in connections
    ]


def thread_window(thread: Thread, paging: PageArguments) -> ThreadWindow:
    """The part of a thread that the arguments ask for."""
    paging.check()
    size = paging.size(PAGE_SIZE, MAX_PLACES)
    beyond = None if paging.cursor is None else decode_cursor(thread, paging.cursor)
    return ThreadWindow(size, upwards=paging.last is not None, beyond=beyond)


def encode_cursor(thread: Thread, position: ThreadPosition) -> str:
    """An opaque text for a position in a thread: at most 1,800 characters, some 100 at a usual depth."""
    levels = [LEVEL.pack(depth, place.value, place.number) for depth, place in position.levels]
    return (
        urlsafe_b64encode(b"".join([_header(thread, position.moves, position.newest), *levels])).rstrip(b"=").decode()
    )


def decode_cursor(thread: Thread, cursor: str) -> ThreadPosition:
    """
    The position that `encode_cursor` was given.

    Raises:
        BadInput: the text is not a cursor, or belongs to another thread, order, comment above or greatest depth.
    """
    if len(cursor) > MAX_CURSOR:
        raise BadInput("this is not a valid cursor")
    try:
        data = b64decode(cursor + "=" * (-len(cursor) % 4), b"-_", validate=True)
    except ValueError as error:
        raise BadInput("this is not a valid cursor") from error
    if data[:1] != CURSOR_VERSION and b"|" in data:  # as in cursors of listings
        raise BadInput("this cursor belongs to another listing")
    header, levels = data[: THREAD.size], data[THREAD.size :]
    if data[:1] != CURSOR_VERSION or not levels or len(levels) % LEVEL.size:
        raise BadInput("this is not a valid cursor")
    *_, moves, newest = THREAD.unpack(header)
    if header != _header(thread, moves, newest):
        raise BadInput("this cursor belongs to another listing")
    position = ThreadPosition(
        tuple(
            ThreadLevel(depth, Position(value, keys.member(number)))
            for depth, value, number in LEVEL.iter_unpack(levels)
        ),
        moves,
        newest or None,
    )
    if not _is_possible(thread, position):
        raise BadInput("this is not a valid cursor")
    return position


def _header(thread: Thread, moves: int, newest: int | None) -> bytes:
    about = ORDERS[thread.order], thread.article, thread.under or 0, thread.max_depth
    return THREAD.pack(CURSOR_VERSION, *about, moves, newest or 0)


def _is_possible(thread: Thread, position: ThreadPosition) -> bool:
    """Whether the levels of a position are those of a comment of the thread, as far as can be seen without reading."""
    depths = [level.depth for level in position.levels]
    return (
        depths == sorted(set(depths))
        and depths[-1] <= thread.max_depth
        and len(depths) <= OUTER_LEVELS + INNER_LEVELS
        and max(position.moves, position.newest or 0) <= HIGHEST_NUMBER
        and all(isfinite(level.position.value) for level in position.levels)
        and all(_may_be_of(level.position.number, thread.article) for level in position.levels)
    )


def _may_be_of(number: int, article: int) -> bool:
    """Whether a comment with this number may belong to an article: both have the slot, a hash, of its poster."""
    return 0 < number <= HIGHEST_NUMBER and number % keys.SLOTS == article % keys.SLOTS


async def _pinned(context: Context, thread: Thread, window: ThreadWindow) -> tuple[Thread, ThreadWindow]:
    """The window of the first page of a pinned walk."""
    archived = await context.reads.archived_conversation(thread.article)
    start = archived.pinned() if archived else await threads.pin(context.store.site, thread.article, thread.order)
    if start is None:
        _note_unpinned(context, thread)
    return thread, replace(window, beyond=start)


def _note_unpinned(context: Context, thread: Thread) -> None:
    context.note_expired_pin(f"thread:{thread.article}:{thread.order.value}")


async def _pages(context: Context, wanted: Sequence[tuple[Thread, ThreadWindow]]) -> list[ThreadPage | None]:
    """
    The pages of threads; None for a thread below a comment that its article does not have. One round trip, which also
    counts the descendants of these comments: `context.reads` keeps the counts for `totalCount`.
    """
    possible = [each for each in wanted if each[0].under is None or _may_be_of(each[0].under, each[0].article)]
    above = [(thread.article, thread.under) for thread, _ in possible if thread.under is not None]
    pages, comments, _ = await gather(
        _read(context, possible),
        shown_in_threads(context, [number for _, number in above]),
        context.reads.descendant_counts(above),
    )
    for (thread, window), page in zip(possible, pages, strict=True):
        if window.beyond and window.beyond.newest is not None and not page.is_pinned:
            _note_unpinned(context, thread)
    articles = {comment.number: comment.article for comment in comments if comment}
    found = {
        thread: page
        for (thread, _), page in zip(possible, pages, strict=True)
        if thread.under is None or articles.get(thread.under) == thread.article
    }
    return [found.get(thread) for thread, _ in wanted]


def _read(context: Context, wanted: Sequence[tuple[Thread, ThreadWindow]]) -> Awaitable[list[ThreadPage]]:
    """The pages of threads: from Redis or, if they are archived, from the database. One round trip for all in Redis."""
    site = context.store.site
    return context.reads.of_conversations(
        [
            (
                article,
                threads.page(site, article, order, window, under=under, max_depth=max_depth),
                methodcaller("page", order, window, under=under, max_depth=max_depth),
            )
            for (article, order, under, max_depth), window in wanted
        ]
    )


class CachedThread(NamedTuple):
    """The connection of a page, which is valid as long as the article and the comments are equal to these."""

    records: Sequence[Article | Comment | None]
    connection: ThreadConnection


def _connection(article: Article, thread: Thread, page: ThreadPage, comments: list[Comment | None]) -> ThreadConnection:
    """
    The connection of a page, cached by its places. Only a connection from the cache `is_cacheable`, as in
    `resolvers.pagination`.
    """
    key, used = Hashed(thread, page), [article, *comments]
    cached: CachedThread | None = PAGES.get(key)
    if cached and cached.records == used:
        return cached.connection
    places = [ThreadEdge(thread, *pair) for pair in zip(page.places, comments, strict=True)]
    edges = [edge for edge in places if edge.node]
    connection = ThreadConnection(thread, article, edges, page_info(edges or places, page.has_before, page.has_after))
    if len(places) <= MAX_CACHED_PLACES and all([record.is_cacheable for record in used if record]):
        size = PAGE_BYTES + PLACE_BYTES * len(places) + sum([record.held_bytes for record in used if record])
        PAGES.put(key, CachedThread(used, connection._replace(is_cacheable=True, held_bytes=size)), size)
    return connection
