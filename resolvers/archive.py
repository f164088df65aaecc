"""
Adds what the archive has to what Redis has. To a listing the archive is one more partition; the database is asked only
if archived places can be on a page or before it.
"""

from asyncio import gather
from collections.abc import Awaitable, Callable, Collection, Iterable, Sequence
from dataclasses import replace
from functools import partial
from itertools import chain
from typing import Any, TypeVar

from database.database import Database, DatabaseUnavailable
from store import archive, feeds, listings
from store.archive import Summary
from store.errors import Forbidden, NotFound, StoreUnavailable
from store.feeds import Pull
from store.listings import Listing, Page, Window
from store.queries import Read
from store.ranking import standings
from store.ranking.standings import Rank
from store.records import Article, PartitionPage, Position
from store.sessions import Actor, Session
from store.site import Site
from store.store import Store

T = TypeVar("T")
Load = Callable[[Sequence[Read[Any]]], Awaitable[list[Any]]]

SKIPPED_ENTRIES = 200  # before a page, that are read and left out
MAX_TRIES = 20  # to write an article back while others of its poster are archived


def places() -> Any:
    """The module of the places of archived articles, which is slow to import and not needed without an archive."""
    from database import places

    return places


def articles() -> Any:
    """Likewise that of their records."""
    from database import archive

    return archive


class ArchiveUnavailable(StoreUnavailable):
    """The database, which alone has the archived articles, does not answer, or is that of another store."""


class ArchiveReads:
    """Reads for one request, of a store that has archived articles. `load` results in those of the store."""

    def __init__(self, site: Site, database: Database | None, load: Load) -> None:
        self._site = site
        self._database = database
        self._load = load

    async def pages(self, wanted: Sequence[tuple[Listing, Window]]) -> list[Page]:
        """
        One round trip, a few more where values decay, and one query for each page that archived places can be on.
        """
        site = self._site
        parts = [
            listings.partition_pages(
                listing, window, is_whole=not listing.may_be_archived or _skips_by_rank(listing, window)
            )
            for listing, window in wanted
        ]
        known = [archive.summary(site, listing) if listing.may_be_archived else [] for listing, _ in wanted]
        results = iter(await self._load([*chain.from_iterable(parts), *chain.from_iterable(known)]))
        pages: list[list[PartitionPage]] = [[next(results) for _ in part] for part in parts]
        summaries = [archive.merged([next(results) for _ in part]) if part else None for part in known]
        return await gather(
            *(
                self._page(listing, window, found, summary)
                for (listing, window), found, summary in zip(wanted, pages, summaries, strict=True)
            )
        )

    async def articles(self, numbers: Sequence[int]) -> dict[int, Article | None]:
        """Articles that Redis did not have a moment ago. One round trip, and one query."""
        parts = await self._load(archive.states(self._site, numbers))
        states = {number: state for part in parts for number, state in part.items()}
        absent = [number for number, state in states.items() if state.may_be_archived]
        archived = dict(zip(absent, await self.records(absent), strict=True))
        return {number: archived.get(number) or state.article for number, state in states.items()}

    async def ranks(self, listing: Listing, positions: Sequence[Position]) -> list[Rank]:
        known, reads = archive.summary(self._site, listing), standings.ranks(listing, positions)
        results = await self._load([*known, *reads])
        summary, found = archive.merged(results[: len(known)]), results[len(known) :]
        if archive.is_above_all(listing, min(positions), summary):
            return standings.merge(listing, found)
        found, without = await self._with_moving(found, reads)
        archived = await self._ask(lambda connection: places().ranks(connection, listing, positions, without))
        return [_merged_rank(*pair) for pair in zip(standings.merge(listing, found), archived, strict=True)]

    async def pull(self, usernames: Sequence[str], window: Window, floor: Position | None) -> Pull:
        """The articles of users in a window above `floor`. One round trip and at most one query."""
        newest, reads = archive.newest(self._site), feeds.pulls(self._site, usernames, window, floor)
        results = await self._load([*newest, *reads])
        greatest, parts = max(results[: len(newest)]), results[len(newest) :]
        pulled = feeds.merge(parts, window)
        if not usernames or archive.is_feed_page_whole(pulled, window, floor, greatest):
            return pulled
        parts, without = await self._with_moving(parts, reads)
        pulled = feeds.merge(parts, window)
        archived = await self._ask(lambda connection: places().feed_page(connection, usernames, window, floor, without))
        known = set(pulled.positions)
        others = [position for position in archived.positions if position not in known]
        return feeds.merge([pulled, Pull(others, archived.behind)], window)

    async def records(self, numbers: Sequence[int]) -> list[Article | None]:
        """What the database has of articles as archived. One query."""
        return await self._ask(lambda connection: articles().records(connection, numbers)) if numbers else []

    async def _page(
        self,
        listing: Listing,
        window: Window,
        parts: list[PartitionPage],
        summary: Summary | None,
    ) -> Page:
        if summary is None:
            return listings.merge(parts, window)
        if _skips_by_rank(listing, window):
            return await self._numbered_page(listing, window, parts, summary)
        part = archive.part_without_database(listing, window, parts, summary)
        if part is None:
            parts, without = await self._with_moving(parts, listings.partition_pages(listing, window, is_whole=False))
            found = await self._ask(lambda connection: places().page(connection, listing, window, without))
            part = archive.without_known(found, parts)
        return listings.merge([*parts, part], window)

    async def _numbered_page(
        self,
        listing: Listing,
        window: Window,
        parts: list[PartitionPage],
        summary: Summary,
    ) -> Page:
        """A page after many others. In the archive it takes 4 queries if newer articles are above, at most about 25."""
        page = replace(window, skip=0)
        part = archive.part_without_database(listing, page, parts, summary)
        if part is None:
            without = _union(await self._load(archive.moving(self._site)))
            stored = sum(part.total for part in parts)
            archived, beyond = await self._archived_before(listing, window.skip, stored, without)
            rest = replace(window, skip=window.skip - archived)
            parts = await self._load(listings.partition_pages(listing, rest))
            start = replace(page, beyond=beyond)
            found = await self._ask(lambda connection: places().page(connection, listing, start, without))
            part = archive.without_known(found, parts)
        return listings.merge([*parts, part], page)

    async def _archived_before(
        self, listing: Listing, skip: int, stored: int, without: Collection[int]
    ) -> tuple[int, Position | None]:
        """
        How many of the first `skip` entries of a listing are archived, and the last of these. `stored` entries of the
        listing are in Redis.
        """
        low = max(skip - stored, 0)
        high = min(skip, await self._ask(lambda connection: places().total(connection, listing, without)))
        middle = low + 1  # most often nothing in Redis is below these
        while low < high:
            position = await self._ask(partial(_at_rank, listing, middle - 1, without))
            if position and middle - 1 + await self._hot_above(listing, position) < skip:
                low = middle
            else:
                high = middle - 1
            middle = (low + high + 1) // 2
        return high, await self._ask(partial(_at_rank, listing, high - 1, without)) if high else None

    async def _hot_above(self, listing: Listing, position: Position) -> int:
        """How many entries of a listing Redis has above the position of an archived one."""
        parts = await self._load(listings.partition_pages(listing, Window(1, beyond=position)))
        return sum(part.above for part in parts)

    async def _with_moving(self, found: list[T], reads: Sequence[Read[Any]]) -> tuple[list[T], frozenset[int]]:
        """
        What was read from Redis, and the articles whose places in the database do not count. One round trip.

        If there are any, two more: Redis is read again, and these are the articles that were moving before and after.
        One that began to move in between is found in Redis, or was archived then; one that was archived in between has
        places that count.
        """
        before = _union(await self._load(archive.moving(self._site)))
        if not before:
            return found, before
        found = await load_again(self._site, reads)
        return found, before & _union(await self._load(archive.moving(self._site)))

    async def _ask(self, query: Callable[[Any], T]) -> T:
        return await ask(self._site, self._database, query)


async def ask(site: Site, database: Database | None, query: Callable[[Any], T]) -> T:
    """
    The result of a query, which gets a connection, for what the store has archived.

    Raises:
        ArchiveUnavailable: there is no database, it does not answer, or it is that of another store.
    """
    if database is None:
        raise ArchiveUnavailable("old articles are in the database, and UPVOTE_DATABASE_URL is none")
    try:
        return await database.run(_checked, site.rankings.archive or "", query)
    except DatabaseUnavailable as error:
        raise ArchiveUnavailable(str(error)) from error


async def changed(
    store: Store, database: Database | None, number: int, actor: Actor, command: Callable[[], Awaitable[T]]
) -> T:
    """
    Run a command on an article, which is written back to Redis before if it is archived.

    That takes four round trips and two queries. An article of somebody else stays archived.

    Raises:
        Forbidden: it is archived, and somebody else's.
    """
    try:
        return await command()
    except NotFound:
        archived = await find(store, database, number)
        if archived is None:
            raise
        username = await store.sessions.username(actor) if isinstance(actor, Session) else actor
        if archived.poster != username:
            raise Forbidden(f"article:{number} is somebody else's", "articleId") from None
        if not await _bring_back(store, database, archived):
            raise
        return await command()


async def answered(
    store: Store, database: Database | None, number: int, parent: int | None, command: Callable[[], Awaitable[T]]
) -> T:
    """
    Run a command that answers an article, or a comment of it. The article is written back to Redis before if it is
    archived, whoever posted it.

    That takes four round trips and two queries.

    Raises:
        NotFound: the article is archived, and so it has no comments.
    """
    try:
        return await command()
    except NotFound as refusal:
        archived = await find(store, database, number) if refusal.field == ("articleId",) else None
        if archived is None:
            raise
        if parent is not None:
            raise NotFound(f"article:{number} has no comment:{parent}", "parentId") from None
        if not await _bring_back(store, database, archived):
            raise
        return await command()


async def find(store: Store, database: Database | None, number: int) -> Article | None:
    """An article that Redis did not have a moment ago, if it is archived. One round trip, and one query."""
    if store.site.rankings.archive is None:
        return None
    reads = ArchiveReads(store.site, database, partial(load_again, store.site))
    return (await reads.articles([number]))[number]


async def bring_back(store: Store, database: Database | None, number: int) -> bool:
    """
    Write an article back to Redis, whoever posted it; False if it is not archived.

    Four round trips and two queries. Without an archive it costs nothing.
    """
    archived = await find(store, database, number)
    return archived is not None and await _bring_back(store, database, archived)


async def _bring_back(store: Store, database: Database | None, archived: Article) -> bool:
    """Write an archived article back to Redis; False if it does not exist any more."""
    number = archived.number
    for _ in range(MAX_TRIES):
        state = await archive.poster_state(store.site, number, archived.poster)
        others = frozenset({number}) | state.moving
        found, newest = await ask(store.site, database, partial(_record_and_newest, archived, others))
        if found is None:
            return False
        status = await archive.unarchive(store.site, found, state, newest)
        if status != "changed":
            return status == "unarchived"
    raise ArchiveUnavailable("articles of this poster are being archived: try again")


async def load_again(site: Site, reads: Sequence[Read[Any]]) -> list[Any]:
    """The results of reads, also of those that were sent before, and of the further reads that they result in."""
    replies = await site.redis.pipeline([read.command for read in reads])
    results = [read.result(reply) for read, reply in zip(reads, replies, strict=True)]
    while further := [result for result in results if isinstance(result, Read)]:
        found = iter(await load_again(site, further))
        results = [next(found) if isinstance(result, Read) else result for result in results]
    return results


def _record_and_newest(
    archived: Article, without: Collection[int], connection: Any
) -> tuple[Article | None, Position | None]:
    (found,) = articles().records(connection, [archived.number])
    return found, places().newest_of(connection, archived.poster, without)


def _skips_by_rank(listing: Listing, window: Window) -> bool:
    """Whether the server can skip the entries before a page. Otherwise they are read, as with several partitions."""
    return window.skip > SKIPPED_ENTRIES and len(listing.indexes) == 1 and not listing.decay and not listing.since


def _at_rank(listing: Listing, rank: int, without: Collection[int], connection: Any) -> Position | None:
    position: Position | None = places().at_rank(connection, listing, rank, without)
    return position


def _union(parts: Iterable[frozenset[int]]) -> frozenset[int]:
    return frozenset().union(*parts)


def _checked(connection: Any, identity: str, query: Callable[[Any], T]) -> T:
    from database import archiver  # slow, and not needed without an archive

    archiver.check_identity(connection, identity)
    return query(connection)


def _merged_rank(found: Rank, archived: Rank) -> Rank:
    return Rank(found.above + archived.above, min((each.next for each in (found, archived) if each.next), default=None))
