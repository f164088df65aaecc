"""
The comments of the whole site, or of a group, the newest first. The index in Redis has those after an instant, the
floor; older ones are read from the database. Without a database the list ends at the floor.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import partial

from database import recent_comments as rows
from database.database import Database, DatabaseUnavailable
from database.recent_comments import CommentRange, PlaceInTime
from resolvers.arguments import PageArguments, group_name, paginated
from resolvers.comments import COMMENTS
from resolvers.context import Context
from resolvers.filling import Source, full_connection
from resolvers.pagination import Connection, LateTotal, Nodes
from store import keys, listings, numbering, recent_comments
from store.listings import Page, Window
from store.queries import Read
from store.records import INSTANTS, Comment, ContentState, Position


@dataclass(frozen=True, slots=True)
class RecentTotal(LateTotal):
    """Counts the comments of the site, or of a group."""

    group: str | None

    async def count(self, context: Context) -> int:
        floor = await _floor(context, self.group)
        indexes = recent_comments.listing(context.store.site, self.group).indexes
        known = sum(await context.reads.load_all(Read(("ZCOUNT", each, f"({floor}", "+inf"), int) for each in indexes))
        if not floor or context.database is None:
            return known
        return known + await context.database.search(rows.size, CommentRange(self.group, floor))


@paginated
async def comments(context: Context, group: str | None = None, *, paging: PageArguments) -> Connection[Comment]:
    """
    Two round trips: one for the places, one for the comments; one more for their articles, and a query where Redis has
    no places. Comments that are not visible, and those that are in other groups by now, are left out.
    """
    name = None if group is None else group_name(group)
    listing = recent_comments.listing(context.store.site, name)
    source = Source(listing.name, partial(_page, context, name), RecentTotal(name))
    return await full_connection(context, source, paging, Nodes(partial(_read, name), COMMENTS.bytes_of))


async def _read(group: str | None, context: Context, numbers: Iterable[int]) -> list[Comment | None]:
    """Comments that are shown where everybody finds them; None for others."""
    wanted = list(numbers)
    await COMMENTS.read(context, wanted)  # and the votes of the viewer on them
    visible = ContentState.VISIBLE
    return [
        comment
        if comment and article and comment.state is article.state is visible and group in (None, *article.groups)
        else None
        for comment, article in await context.reads.stored_comments(wanted)
    ]


async def _page(context: Context, group: str | None, window: Window) -> Page:
    """Places, whether or not they are shown. `above` and `below` say only whether there are more."""
    if window.upwards:
        return await _page_above(context, group, window)
    floor, page = await _stored_page(context, group, window)
    recent = tuple(each for each in page.positions if each.value > floor)
    missing = window.count - len(recent)
    if not floor or not missing:
        return Page(recent, page.above, below=page.below or int(floor > 0))
    below = _in_time(window.beyond) if window.beyond and window.beyond.value <= floor else None
    older = await _rows(context, rows.newest, CommentRange(group, floor), below, missing)
    return Page(recent + older, above=int(window.beyond is not None), below=int(len(older) == missing))


async def _page_above(context: Context, group: str | None, window: Window) -> Page:
    """A page that is read upwards: from the oldest comment, or from a position."""
    floor, page = await _stored_page(context, group, window)
    if not floor or (window.beyond and window.beyond.value > floor):
        return page
    older = await _rows(
        context, rows.oldest, CommentRange(group, floor), window.beyond and _in_time(window.beyond), window.count
    )
    missing, is_below = window.count - len(older), int(window.beyond is not None)
    if not missing:
        return Page(older[::-1], above=1, below=is_below)
    top = Position(floor, keys.member(numbering.HIGHEST_NUMBER))
    _, page = await _stored_page(context, group, Window(missing, upwards=True, beyond=top))
    return Page(page.positions + older[::-1], page.above, is_below)


async def _stored_page(context: Context, group: str | None, window: Window) -> tuple[int, Page]:
    """The floor, up to which Redis does not have all (unix milliseconds), and the page that it has. One round trip."""
    site = context.store.site
    reads = listings.partition_pages(recent_comments.listing(site, group), window)
    parts = await context.reads.load_all([*reads, *recent_comments.floors(site, group)])
    return _highest(context, parts[len(reads) :]), listings.merge(parts[: len(reads)], window)


async def _floor(context: Context, group: str | None) -> int:
    return _highest(context, await context.reads.load_all(recent_comments.floors(context.store.site, group)))


def _highest(context: Context, floors: Iterable[int]) -> int:
    """The time up to which not all comments are in Redis; while its indexes are filled for the first time, any time."""
    is_complete = context.store.site.rankings.has_recent_comments or context.database is None
    return max(floors) if is_complete else INSTANTS[-1]


async def _rows(
    context: Context,
    read: Callable[..., list[PlaceInTime]],
    within: CommentRange,
    place: PlaceInTime | None,
    count: int,
) -> tuple[Position, ...]:
    """
    Places that the database has; none without a database.

    Raises:
        DatabaseUnavailable: it does not answer, or lacks comments that are not in the index of Redis any more.
    """
    if context.database is None:
        return ()
    await _require_complete(context, context.database, within.until)
    found = await context.database.run(read, within, place, count)
    return tuple(Position(time, keys.member(number)) for time, number in found)


async def _require_complete(context: Context, database: Database, until: int) -> None:
    site = context.store.site
    lag = await database.lag(site)
    if site.rankings.has_recent_comments and until > site.clock() - lag.seconds * 1000:
        raise DatabaseUnavailable("the database does not have all older comments yet: try again")


def _in_time(position: Position) -> PlaceInTime:
    return round(position.value), position.number
