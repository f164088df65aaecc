"""
Reads of a store that has archived articles, which are in the SQL database only: they merge what Redis has with what the
database has.

A listing, such as the site by SCORE, is merged from partitions, which are shares of the data in Redis; for listings the
archive is one more partition. Redis has a summary of the archive, so the database is asked only if an archived article
can be on the page, or before it. The results are of one moment, which means that no article has left Redis or come back
between the reads (see `moments`). Articles that are between Redis and the database are marked as moving, and each
partition counts how often articles were marked: if the count is the same before and after a query, the database has not
changed what the query has read.

Values that change with the age of articles, as by GRAVITY, are said to decay: pages of them take further reads.
"""

from asyncio import gather
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import replace
from functools import partial
from itertools import chain
from typing import Any, TypeVar

from archive import homes, moments, mover, places, summaries
from archive.conversations import Conversation, conversation
from archive.moments import MOVED, Load, Moments, load_again, of_one_moment
from archive.summaries import Summary
from caches import POOL
from database import article_places, conversations
from database.database import Database, DatabaseUnavailable
from store import feeds, keys, listings, moving, queries
from store.errors import StoreUnavailable
from store.feeds import Pull
from store.home import HomeListing
from store.listings import Listing, Page, Window
from store.queries import Read
from store.ranking import standings
from store.ranking.standings import Rank
from store.records import IN_REDIS, ArchivedConversation, Article, Comment, PartitionPage, Position
from store.site import Site
from store.store import Store

T = TypeVar("T")

# by the id of the archive and an article's number: the version and the conversation; microseconds to make one
CONVERSATIONS = POOL.cache("conversations", microseconds=2_000)
CONVERSATION_BYTES, PLACE_BYTES = 1_000, 700  # memory of a conversation, and of each of its comments
SKIPPED_ENTRIES = 200  # how many entries before a page may be read and left out


class ArchiveUnavailable(StoreUnavailable):
    """The database, which alone has the archived articles, does not answer, or is that of another store."""


class ArchiveReads:
    """The reads of one request. `load` sends reads of the store and returns their results."""

    def __init__(self, site: Site, database: Database | None, load: Load) -> None:
        self._site = site
        self._database = database
        self._load = load
        self._moments = Moments(site, load)

    async def pages(self, wanted: Sequence[tuple[Listing, Window]]) -> list[Page]:
        """
        One page of each listing.

        One round trip for all, and a few more where values decay. A page that archived articles can be on costs two
        more round trips and a query. All is read again if articles move meanwhile.
        """
        site, call = self._site, moving.new_call()  # a call makes reads unequal to those that were sent before
        page_reads = [
            listings.partition_pages(
                listing, window, is_whole=not listing.may_be_archived or _skips_by_rank(listing, window)
            )
            for listing, window in wanted
        ]
        archived = [listing if listing.may_be_archived else None for listing, _ in wanted]
        summary_reads = [summaries.summary(site, listing, call) if listing else [] for listing in archived]
        partitions = {
            partition for listing in archived if listing for partition in summaries.partitions_of(site, listing)
        }
        moment = await self._moments.read(
            sorted(partitions), list(chain.from_iterable(page_reads)), list(chain.from_iterable(summary_reads))
        )
        results, values = iter(moment.results), iter(moment.known)
        parts: list[list[PartitionPage]] = [[next(results) for _ in reads] for reads in page_reads]
        merged = [summaries.merged([next(values) for _ in reads]) if reads else None for reads in summary_reads]
        return await gather(
            *(
                self._page(listing, window, found, summary)
                for (listing, window), found, summary in zip(wanted, parts, merged, strict=True)
            )
        )

    async def articles(self, numbers: Sequence[int]) -> dict[int, Article | None]:
        """
        Articles that Redis did not have a moment ago. One round trip, and one query; one more round trip if there is no
        such article.
        """
        found: dict[int, Article | None] = {}
        partitions, missing = sorted(set(map(self._site.partition_of_article, numbers))), list(numbers)
        for _ in range(moments.TRIES):
            results = await self._load([*summaries.marks(partitions), *moving.states(self._site, missing)])
            marks, parts = results[: len(partitions)], results[len(partitions) :]
            states = {number: state for part in parts for number, state in part.items()}
            absent = [number for number, state in states.items() if state.may_be_archived]
            archived = dict(zip(absent, await self.records(absent), strict=True))
            found |= {number: archived.get(number) or state.article for number, state in states.items()}
            missing = [number for number in absent if archived[number] is None]
            if not missing or await self._marks(partitions) == marks:
                return found
        raise ArchiveUnavailable(MOVED)

    async def comments(self, numbers: Sequence[int]) -> dict[int, Comment]:
        """
        Of some comments that Redis did not have a moment ago, those that are archived with their articles or have come
        back, by number. One query; a round trip if there are any, and one more if one has come back.
        """
        if not numbers or not self._site.rankings.has_archived_conversations:
            return {}
        archived = await self.ask(partial(conversations.archived, numbers=numbers))
        articles = list({each.article for each in archived})
        states = await moving.states_of(self._site, articles) if articles else {}
        found = {each.number: each for each in archived if states[each.article].may_be_archived}
        if back := [each.number for each in archived if not states[each.article].may_be_archived]:
            hashes = await load_again(
                self._site, [queries.hash_of(self._site, queries.COMMENTS, each) for each in back]
            )
            pairs = zip(back, map(queries.COMMENTS.decode, back, hashes), strict=True)
            found |= {number: comment for number, comment in pairs if comment}
        return found

    async def of_conversations(
        self, articles: Sequence[Article | None], wanted: Sequence[tuple[int, Read[T], Callable[[Conversation], T]]]
    ) -> list[T]:
        """
        The results of reads about conversations, in order; a conversation is all comments of an article. Each item of
        `wanted` has the number of an article, the read that asks Redis, and the function that computes the same result
        from an archived conversation. `articles` are the articles of these numbers, as they were read before.

        One round trip for those in Redis, and a query for each that is archived, also if it leaves Redis meanwhile.
        """
        archived = {each.number for each in articles if isinstance(each, ArchivedConversation)}
        latest = self._site.clock() - self._site.policy.voting_ms
        # those in Redis that may leave it meanwhile, as their voting has closed
        old = {each.number for each in articles if each and type(each) in IN_REDIS and each.posted_at < latest}
        load, results = self._load, dict[int, T]()  # results by the index in `wanted`
        for _ in range(moments.TRIES):
            unread = [
                index for index, (article, *_) in enumerate(wanted) if article not in archived and index not in results
            ]
            # An article leaves before its comments are removed: if it is still there after the reads, they found all.
            checked = sorted({wanted[index][0] for index in unread} & old)
            call, partition_of = moving.new_call(), self._site.partition_of_article
            exist_reads = [
                Read(("EXISTS", keys.article(partition_of(each), each)), _exists, (call,)) for each in checked
            ]
            found = await load([*(wanted[index][1] for index in unread), *exist_reads]) if unread else []
            gone = {each for each, is_there in zip(checked, found[len(unread) :], strict=True) if not is_there}
            results |= {index: each for index, each in zip(unread, found, strict=False) if wanted[index][0] not in gone}
            if not gone:
                break
            now = await self.articles(sorted(gone))
            archived |= {number for number in gone if isinstance(now[number], ArchivedConversation)}
            old -= {number for number in gone if type(now[number]) not in IN_REDIS}  # or deleted, or without comments
            load = partial(load_again, self._site)
        else:
            raise ArchiveUnavailable(MOVED)
        read = {number: await self.conversation(number) for number in {article for article, *_ in wanted} & archived}
        return [
            results[index] if index in results else compute(read[article])
            for index, (article, _, compute) in enumerate(wanted)
        ]

    async def conversation(self, article: int) -> Conversation:
        """The conversation of an archived article. A query, of all of its comments if this process does not have it."""
        key = self._site.rankings.archive, article
        known: tuple[int | None, Conversation] | None = CONVERSATIONS.get(key)
        version, found = await self.ask(
            partial(_conversation, article=article, known=known, best_z=self._site.policy.best_z)
        )
        if version is not None and (known is None or known[1] is not found):
            CONVERSATIONS.put(key, (version, found), CONVERSATION_BYTES + PLACE_BYTES * len(found.comments))
        return found

    async def ranks(self, listing: Listing, positions: Sequence[Position]) -> list[Rank]:
        """
        The ranks of positions in a listing.

        One round trip, or a few where values decay; two more and a query if archived articles can be above a position.
        """
        partitions = summaries.partitions_of(self._site, listing)
        known = summaries.summary(self._site, listing, moving.new_call())
        reads = standings.ranks(listing, positions)
        moment = await self._moments.read(partitions, reads, known)
        if summaries.is_above_all(listing, min(positions), summaries.merged(moment.known)):
            return standings.merge(listing, moment.results)
        found, archived = await self._with_archived(
            partitions, reads, partial(places.ranks, listing=listing, positions=positions)
        )
        return [_merged_rank(*pair) for pair in zip(standings.merge(listing, found), archived, strict=True)]

    async def pull(self, usernames: Sequence[str], window: Window, floor: Position | None) -> Pull:
        """
        The articles of some users in a window, above the position `floor` up to which the viewer has seen them. One
        round trip; two more and a query if archived ones can be among them.
        """
        if not usernames:
            return feeds.merge([], window)
        partitions = self._partitions_of(usernames)
        reads = feeds.pulls(self._site, usernames, window, floor)
        moment = await self._moments.read(partitions, reads, summaries.newest(partitions))
        pulled = feeds.merge(moment.results, window)
        if summaries.is_feed_page_whole(pulled, window, floor, max(moment.known)):
            return pulled
        parts, archived = await self._with_archived(
            partitions, reads, partial(places.feed_page, usernames=usernames, window=window, floor=floor)
        )
        pulled = feeds.merge(parts, window)
        known = set(pulled.positions)
        others = [position for position in archived.positions if position not in known]
        return feeds.merge([pulled, Pull(others, archived.behind)], window)

    async def home_page(self, listing: HomeListing, window: Window) -> Page:
        """A page of a user's front page. Three round trips, and a query if archived places can be on it."""
        return await homes.page(self._site, self, listing, window)

    async def count(self, usernames: Sequence[str]) -> int:
        """How many articles users have posted together. One round trip."""
        reads, known = feeds.counts(self._site, usernames), summaries.counts(self._site, usernames)
        moment = await self._moments.read(self._partitions_of(usernames), reads, known)
        total: int = sum(moment.results) + sum(moment.known)
        return total

    async def records(self, numbers: Sequence[int]) -> list[Article | None]:
        """The articles of these numbers that are archived, as the database has them; None for others. One query."""
        return await self.ask(partial(article_places.records, numbers=numbers)) if numbers else []

    async def _page(
        self,
        listing: Listing,
        window: Window,
        parts: list[PartitionPage],
        summary: Summary | None,
    ) -> Page:
        """A page, from the parts that Redis has. `summary` is None for listings that are never archived."""
        if summary is None:
            return listings.merge(parts, window)
        by_rank = _skips_by_rank(listing, window)
        shown = replace(window, skip=0) if by_rank else window
        part = summaries.part_without_database(listing, shown, parts, summary)
        if part is not None:
            return listings.merge([*parts, part], shown)
        return await (self._numbered_page if by_rank else self._whole_page)(listing, window)

    async def _whole_page(self, listing: Listing, window: Window) -> Page:
        """A page of Redis and the database. Two round trips and a query; more where values decay."""
        partitions = summaries.partitions_of(self._site, listing)
        reads = listings.partition_pages(listing, window, is_whole=False)
        parts, found = await self._with_archived(
            partitions, reads, partial(places.page, listing=listing, window=window)
        )
        return listings.merge([*parts, summaries.without_known(found, parts)], window)

    async def _numbered_page(self, listing: Listing, window: Window) -> Page:
        """
        A page that is selected by its number. The position of the last entry before the page is searched for, and the
        page beyond that position is read. 4 queries if only newer articles are above, at most about 25.

        While articles move, the search may find a position near that of the last entry. Then more entries are read,
        from further above, and those that do not belong to the page are left out.
        """
        for turn in range(moments.TRIES):
            margin = turn * SKIPPED_ENTRIES
            beyond = await self._position_at(listing, max(window.skip - margin, 0))
            found = await self._whole_page(
                listing, replace(window, count=window.count + 2 * margin, skip=0, beyond=beyond)
            )
            if page := _after(found, window.skip - found.above, window.count):
                return page
        raise ArchiveUnavailable(MOVED)

    async def _position_at(self, listing: Listing, rank: int) -> Position | None:
        """
        The position of the last of the first `rank` entries of a listing, or one near it while articles move. None if
        there are no such entries.
        """
        if rank == 0:
            return None
        marked_reads = moving.numbers(summaries.partitions_of(self._site, listing))
        # a listing that is skipped by rank has a single index, so a single part (`_skips_by_rank`)
        page_reads = listings.partition_pages(listing, Window(count=1))
        *marked, part = await load_again(self._site, [*marked_reads, *page_reads])
        archived, last = await self._archived_before(listing, rank, part.total, _union(marked))
        stored = min(rank - archived, part.total)
        reads = listings.partition_pages(listing, Window(count=1, skip=stored - 1)) if stored else []
        found = [position for part in await load_again(self._site, reads) for position in part.positions]
        return min([*found, *([last] if last else [])], default=None)

    async def _archived_before(
        self, listing: Listing, skip: int, stored: int, without: Collection[int]
    ) -> tuple[int, Position | None]:
        """
        How many of the first `skip` entries of a listing are archived, and the position of the last of these.

        `stored` is the number of the listing's entries in Redis. `without` are the moving articles, which the database
        does not count. This is a binary search: the archived entry number `middle` is among the first `skip` entries if
        fewer than `skip` entries, archived and in Redis, are above it.
        """
        low = max(skip - stored, 0)
        high = min(skip, await self.ask(partial(places.total, listing=listing, without=without)))
        middle = low + 1  # the likeliest answer is `low`: all entries in Redis are above the archived ones
        while low < high:
            position = await self.ask(partial(places.at_rank, listing=listing, rank=middle - 1, without=without))
            if position and middle - 1 + await self._stored_above(listing, position) < skip:
                low = middle
            else:
                high = middle - 1
            middle = (low + high + 1) // 2
        last = partial(places.at_rank, listing=listing, rank=high - 1, without=without)
        return high, await self.ask(last) if high else None

    async def _stored_above(self, listing: Listing, position: Position) -> int:
        """How many entries of a listing Redis has above the position of an archived entry."""
        parts = await load_again(self._site, listings.partition_pages(listing, Window(count=1, beyond=position)))
        return sum(part.above for part in parts)

    async def _with_archived(
        self, partitions: Sequence[int], reads: Sequence[Read[Any]], query: Callable[..., T]
    ) -> tuple[list[Any], T]:
        """
        The results of reads and of a query, of one moment. The query gets a connection, and in `without` the articles
        that are moving: it ignores their places in the database.

        The database changes only articles that are marked as moving. So if no article was marked between the reads and
        the end of the query, its result is that of the moment of the reads. Else all is read again.

        Two round trips and one query; more where values decay, or while articles move.

        Raises:
            ArchiveUnavailable: articles were marked during each of `TRIES` tries.
        """
        reads = [*summaries.marks(partitions), *moving.numbers(partitions), *reads]
        for _ in range(moments.TRIES):
            results, _known = await of_one_moment(self._site, partitions, reads, summaries.serials(partitions))
            marks, marked = results[: len(partitions)], results[len(partitions) : 2 * len(partitions)]
            found = await self.ask(partial(query, without=_union(marked)))
            if await self._marks(partitions) == marks:
                return results[2 * len(partitions) :], found
        raise ArchiveUnavailable(MOVED)

    async def _marks(self, partitions: Sequence[int]) -> list[str | None]:
        """How often articles were marked as moving, as text, for each partition, read now. One round trip."""
        return await load_again(self._site, summaries.marks(partitions))

    def _partitions_of(self, usernames: Iterable[str]) -> list[int]:
        return sorted(set(map(self._site.partition_of_user, usernames)))

    async def ask(self, query: Callable[[Any], T]) -> T:
        return await ask(self._site, self._database, query)


async def ask(site: Site, database: Database | None, query: Callable[[Any], T]) -> T:
    """
    The result of a query in the database of a store. The query gets a connection.

    Raises:
        ArchiveUnavailable: there is no database, it does not answer, or it is that of another store.
    """
    if database is None:
        raise ArchiveUnavailable("old articles are in the database, and UPVOTE_DATABASE_URL is none")
    try:
        return await database.run(_checked, site.rankings.archive or "", query)
    except DatabaseUnavailable as error:
        raise ArchiveUnavailable(str(error)) from error


async def find(store: Store, database: Database | None, number: int) -> Article | None:
    """
    An article that Redis did not have a moment ago, if it is archived or has come back. One round trip, and one query;
    one more round trip if there is no such article.
    """
    if store.site.rankings.archive is None:
        return None
    reads = ArchiveReads(store.site, database, partial(load_again, store.site))
    return (await reads.articles([number]))[number]


async def find_comment(store: Store, database: Database | None, number: int) -> Comment | None:
    """A comment that Redis did not have a moment ago, if it is archived or has come back. As `find_comments`."""
    return (await find_comments(store, database, [number])).get(number)


async def find_comments(store: Store, database: Database | None, numbers: Sequence[int]) -> dict[int, Comment]:
    """As `ArchiveReads.comments`, for a command instead of a request."""
    if store.site.rankings.archive is None:
        return {}
    return await ArchiveReads(store.site, database, partial(load_again, store.site)).comments(numbers)


def _exists(call: int, reply: int) -> bool:
    """Decodes the reply to EXISTS. `call` only makes the read unequal to earlier ones (`moving.new_call`)."""
    return bool(reply)


def _conversation(
    connection: Any, article: int, known: tuple[int | None, Conversation] | None, best_z: float
) -> tuple[int | None, Conversation]:
    """The version and the conversation of an article: the `known` one if its version is current, else a new one."""
    version = conversations.version(connection, article)
    if known and version is not None and known[0] == version and known[1].best_z == best_z:
        return known
    return version, conversation(article, conversations.places(connection, article), best_z)


def _skips_by_rank(listing: Listing, window: Window) -> bool:
    """Whether a page is found by the rank of the entry before it. Otherwise all entries before the page are read."""
    return window.skip > SKIPPED_ENTRIES and len(listing.indexes) == 1 and not listing.decay and not listing.since


def _after(found: Page, passed: int, count: int) -> Page | None:
    """The page without its first `passed` entries, and with `count` at most; None if `found` does not reach so far."""
    if passed < 0 or (found.below and passed + count > len(found.positions)):
        return None
    above, shown = found.above + min(passed, len(found.positions)), found.positions[passed : passed + count]
    return Page(shown, above, found.total - above - len(shown), found.at)


def _union(parts: Iterable[frozenset[int]]) -> frozenset[int]:
    return frozenset().union(*parts)


def _checked(connection: Any, identity: str, query: Callable[[Any], T]) -> T:
    """Run a query, once the database is found to have the archive of the store."""
    mover.check_identity(connection, identity)
    return query(connection)


def _merged_rank(found: Rank, archived: Rank) -> Rank:
    return Rank(found.above + archived.above, min((each.next for each in (found, archived) if each.next), default=None))
