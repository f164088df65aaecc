"""
Comments by time, of the whole site, of a group or of a user. Redis lists the newest: those after an instant, the floor.
Older ones are read from the database. Without a database the list ends at the floor.

A place is the position of a comment in the list: its time and its number. A window, the part of the list that a page
shows, is `upwards` if it is read from the oldest to the newest, as for the arguments `last` and `before`.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from typing import NamedTuple

from database import recent_comments as rows
from database.database import Database, DatabaseUnavailable
from database.recent_comments import CommentRange, PlaceInTime
from resolvers.context import Context
from resolvers.pagination import LateTotal
from store import comment_lists, keys, listings, moving, numbering, recent_comments
from store.listings import Listing, Page, Window
from store.queries import Read
from store.records import INSTANTS, Position
from store.site import Site


class StoredPage(NamedTuple):
    """
    A page of what Redis lists, and the floor (unix milliseconds), 0 if Redis lists all. Redis may still list some
    comments below the floor, but not all.
    """

    page: Page
    floor: int

    def is_whole(self, window: Window) -> bool:
        """Whether a page of all comments, also of those that Redis does not list, would be the same."""
        if not self.floor:
            return True
        if window.upwards:
            return window.beyond is not None and window.beyond.value > self.floor
        return len(self.page.positions) == window.count and self.page.positions[-1].value > self.floor


@dataclass(frozen=True, slots=True)
class CommentsByTime(LateTotal):
    """
    The comments of a group or of a poster, or else of the site. As a `LateTotal` it counts them, which a connection
    does only if a client asks for `totalCount`.
    """

    group: str | None = None
    poster: str | None = None

    def listing(self, site: Site) -> Listing:
        """The listing of those that are in Redis."""
        if self.poster is not None:
            return listings.comments(site, self.poster)
        return recent_comments.listing(site, self.group)

    def until(self, floor: int) -> CommentRange:
        """The range of those up to a floor, which are read from the database."""
        return CommentRange(floor, self.group, self.poster)

    async def count(self, context: Context) -> int:
        """One round trip; if Redis does not list all, another one and a query. More while the floor rises."""
        site, indexes = context.store.site, self.listing(context.store.site).indexes
        floor = 0
        while True:  # the loader sends equal reads once: a new number makes these differ from those before
            counts = [Read(("ZCOUNT", each, f"({floor}", "+inf"), _count, (moving.new_call(),)) for each in indexes]
            found = await context.reads.load_all([*counts, *self.floors(site)])
            count_above, latest_floor = sum(found[: len(counts)]), self.highest(context, found[len(counts) :])
            if latest_floor == floor:
                break
            floor = latest_floor
        if not floor or context.database is None:
            return count_above
        return count_above + await context.database.search(rows.size, self.until(floor))

    async def page(self, context: Context, window: Window) -> Page:
        """
        Places, whether or not they are shown. `above` and `below` say only whether there are more. One round trip, and
        a query where Redis does not list all of the page.
        """
        stored = await self.stored_page(context, window)
        if stored.is_whole(window):
            page = stored.page
            return page._replace(below=page.below or int(stored.floor > 0 and not window.upwards))
        if context.database is None:
            return await self._above_floor(context, window, stored)
        older = await self._older(context, context.database, window, stored.floor)
        return _merged(stored.page, older, window)

    async def stored_page(self, context: Context, window: Window) -> StoredPage:
        """One round trip."""
        site = context.store.site
        reads = listings.partition_pages(self.listing(site), window)
        parts = await context.reads.load_all([*reads, *self.floors(site)])
        return StoredPage(listings.merge(parts[: len(reads)], window), self.highest(context, parts[len(reads) :]))

    def floors(self, site: Site) -> list[Read[int]]:
        """The reads of the floors of all parts of the list."""
        if self.poster is not None:
            return [comment_lists.floor(site, self.poster)]
        return recent_comments.floors(site, self.group)

    def highest(self, context: Context, floors: Iterable[int]) -> int:
        """
        The floor of the list, which is the highest floor of its parts. While the indexes of recent comments are
        filled for the first time, any comment may be missing in Redis: then it is the latest instant.
        """
        is_complete = context.store.site.rankings.has_recent_comments or self.poster or context.database is None
        return max(floors) if is_complete else INSTANTS[-1]

    async def _above_floor(self, context: Context, window: Window, stored: StoredPage) -> Page:
        """The page of a list that ends at the floor."""
        if window.upwards:
            top = Position(stored.floor, keys.member(numbering.HIGHEST_NUMBER))
            above = await self.stored_page(context, replace(window, beyond=top))
            return above.page._replace(below=int(window.beyond is not None))
        shown = tuple(each for each in stored.page.positions if each.value > stored.floor)
        return stored.page._replace(positions=shown, below=0)

    async def _older(self, context: Context, database: Database, window: Window, floor: int) -> list[Position]:
        """
        Places that the database has, nearest first.

        Raises:
            DatabaseUnavailable: it does not answer, or lacks comments that Redis does not list any more.
        """
        await _require_complete(context, database, floor)
        read: Callable[..., list[PlaceInTime]] = rows.oldest if window.upwards else rows.newest
        beyond = (round(window.beyond.value), window.beyond.number) if window.beyond else None
        found = await database.run(read, self.until(floor), beyond, window.count)
        return [Position(time, keys.member(number)) for time, number in found]


def _merged(page: Page, older: list[Position], window: Window) -> Page:
    """One page of what Redis lists and of what the database has. Some comments may be in both."""
    found = sorted({*page.positions, *older}, reverse=True)
    is_more = len(found) > window.count or len(older) == window.count
    behind = int(window.beyond is not None)  # on the side from which the client comes
    if window.upwards:
        return Page(tuple(found[-window.count :]), above=page.above or int(is_more), below=behind)
    return Page(tuple(found[: window.count]), above=behind, below=page.below or int(is_more))


def _count(call: int, reply: int) -> int:
    """The result of a read whose context is `call`, a number that is not used."""
    return reply


async def _require_complete(context: Context, database: Database, until: int) -> None:
    """Raise DatabaseUnavailable if the database lacks comments up to an instant (unix milliseconds)."""
    site = context.store.site
    lag = await database.lag(site)
    if site.rankings.has_recent_comments and until > site.clock() - lag.seconds * 1000:
        raise DatabaseUnavailable("the database does not have all older comments yet: try again")
