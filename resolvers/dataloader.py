"""
The data loader of a request: what is read in one tick of the event loop is sent as one pipeline, each command once.

Values by id are looked up in three places: what this request has read, the client-side cache, and the store. What is
archived, which means in the database only, is read from there if the store does not have it.
"""

from asyncio import Event, Future, get_running_loop
from collections.abc import Awaitable, Callable, Coroutine, Iterable, Mapping, Sequence
from functools import partial
from itertools import filterfalse
from operator import methodcaller
from time import monotonic
from typing import Any, TypeVar

from archive.conversations import Conversation
from archive.reads import ArchiveReads
from database.database import Database
from store import feeds, hidden, home, listings, queries, threads
from store.client.client import RedisClient
from store.errors import StoreUnavailable
from store.feeds import Pull
from store.home import HomeListing
from store.listings import Listing, Page, Window
from store.moderation_records import ModerationAction
from store.queries import Read, RecordType
from store.ranking import standings
from store.ranking.standings import Rank
from store.records import (
    HIDDEN,
    ArchivedConversation,
    Article,
    Comment,
    ContentState,
    GroupDescription,
    Position,
    Profile,
    Vote,
)
from store.site import Login
from store.store import Store

K = TypeVar("K")
T = TypeVar("T")


class Reads:
    """
    Reads of the store for one request. Results have the order of the ids; what does not exist is None. A place or a
    position is where an entry is in a listing: its value and its member.

    `load` and `load_all` send any reads of the modules of the store. The other methods combine several reads, or return
    values by id that this request or the client-side cache has.

    Each request, each event and each write starts with a new instance, so that nothing older is returned.
    """

    def __init__(self, store: Store, login: Read[Login | None] | None, database: Database | None = None) -> None:
        """
        `login` reads the session of the request. It is sent with the first pipeline, as most requests need it.
        `database` has the archived articles.
        """
        self.site = site = store.site
        self._store = store
        self._login_read = login
        self._login: Login | None = None
        self._loader = Loader(site.redis)
        self._started = monotonic()
        self._records: dict[RecordType[Any], dict[Any, Any]] = {}
        # for each voter, votes by the number of the article or comment; None until a vote was read
        self._votes: dict[str, dict[int, Vote | None]] = {}
        self._voters: dict[int, tuple[str, ...]] = {}  # usernames, by number of the article
        self._archive: ArchiveReads | None = None  # if the store has archived articles
        if site.rankings.archive is not None:
            self._archive = ArchiveReads(site, database, self.load_all)

    def set_login(self, login: Login) -> None:
        """Set the session as it is stored now, after it was opened or extended."""
        if self._login_read:
            self._login = login
            self._loader.prime(self._login_read, login)

    def set_checked_login(self, username: str) -> None:
        """
        Set the login after a write that has checked the session, which need not be read again, but has not read when
        it ends.
        """
        if self._login_read:
            self._login = self._store.sessions.new_login(username)

    def prime_vote(self, number: int, voter: str, vote: Vote) -> None:
        """Set a vote that was just written."""
        self._votes.setdefault(voter, {})[number] = vote

    @property
    def known_login(self) -> Login | None:
        """The session, if it was read or set already."""
        if self._login_read and self._login is None:
            load = self._loader.completed(self._login_read)  # a pipeline that was sent has read it, too
            self._login = load.result if load and load.error is None else None
        return self._login

    async def login(self) -> Login | None:
        if self._login_read and self.known_login is None:
            self._login = await self.load(self._login_read)
        return self._login

    async def stored_login(self) -> Login | None:
        """The session as it is stored. One round trip, unless it was read before."""
        return await self.load(self._login_read) if self._login_read else None

    def has_ended(self, now: int) -> bool:
        """Whether the session of the request was read, and had ended by `now` (unix milliseconds). No round trip."""
        load = self._loader.completed(self._login_read) if self._login_read else None
        if load is None:
            return False
        login: Login | None = self._login or load.result
        return login.expires_at < now if login else load.error is None  # read, and not there

    async def load(self, read: Read[T]) -> T:
        """The result of a read. At most one round trip, which all reads of a tick share."""
        (result,) = await self.load_all([read])
        return result

    def load_all(self, reads: Iterable[Read[T]]) -> Coroutine[Any, Any, list[T]]:
        """The results of reads. At most one round trip, which all reads of a tick share."""
        return self._loader.load(reads, None if self._login else self._login_read)

    async def articles(self, numbers: Iterable[int]) -> list[Article | None]:
        """What everybody may read: None also for an article that is not visible."""
        found = await self.articles_of_any_state(numbers)
        if HIDDEN.isdisjoint(map(type, found)):
            return found
        return [None if type(article) in HIDDEN else article for article in found]

    async def articles_of_any_state(self, numbers: Iterable[int]) -> list[Article | None]:
        """Articles, whether visible or not. Only for readers whose rights are checked: see `Context.articles`."""
        return await self._records_of(queries.ARTICLES, list(numbers))

    async def comments(self, numbers: Iterable[int]) -> list[Comment | None]:
        """
        Comments as everybody may read them; None for those whose article is not visible, too.

        One round trip; one more for their articles, unless this request has read them.
        """
        stored = await self.stored_comments(numbers)
        return [
            comment.as_shown if comment and article and article.state is ContentState.VISIBLE else None
            for comment, article in stored
        ]

    async def stored_comments(self, numbers: Iterable[int]) -> list[tuple[Comment | None, Article | None]]:
        """
        Each comment with its article, both as they are stored, whatever their state. Both are None if the article does
        not exist: it may have been deleted, as its comments are removed a little later. Nobody may be shown what this
        returns unless `resolvers.comments` says so. Round trips as those of `comments`.
        """
        comments = await self._records_of(queries.COMMENTS, list(numbers))
        needed = list({comment.article for comment in comments if comment})
        stored = await self.articles_of_any_state(needed) if needed else []
        articles = dict(zip(needed, stored, strict=True))
        found = [(comment, articles[comment.article]) if comment else (None, None) for comment in comments]
        return [(comment if article else None, article) for comment, article in found]

    async def of_conversations(self, wanted: Sequence[tuple[int, Read[T], Callable[[Conversation], T]]]) -> list[T]:
        """
        The results of reads of conversations (the comments of an article). Each item of `wanted` has the number of the
        article, the read from Redis, and the function that computes the same from an archived conversation. One round
        trip; `ArchiveReads.of_conversations` says what archived ones take.
        """
        if self._archive is None or not self.site.rankings.has_archived_conversations:
            return await self.load_all([read for _, read, _ in wanted])
        articles = await self.articles_of_any_state(dict.fromkeys(article for article, *_ in wanted))
        return await self._archive.of_conversations(articles, wanted)

    async def archived_conversation(self, article: int) -> Conversation | None:
        """The conversation of an article if it is archived, which means that both have left Redis; else None."""
        if self._archive is None or not self.site.rankings.has_archived_conversations:
            return None
        (found,) = await self.articles_of_any_state([article])
        return await self._archive.conversation(article) if isinstance(found, ArchivedConversation) else None

    async def ancestors(self, comments: Sequence[Comment]) -> list[tuple[int, ...]]:
        """The numbers of the comments above each comment, the outermost first. One round trip for all."""
        return await self.of_conversations(
            [
                (each.article, threads.ancestors(self.site, each.number), methodcaller("ancestors", each.number))
                for each in comments
            ]
        )

    async def descendant_counts(self, comments: Iterable[tuple[int, int]]) -> dict[int, int]:
        """
        How many visible comments are below each comment. Each is given as the number of its article and its own. One
        command per partition; if the site has archived conversations, one per article.
        """
        site, numbers_of = self.site, dict[int, list[int]]()  # of comments, by the article or else by the partition
        are_by_article = self._archive is not None and site.rankings.has_archived_conversations
        for article, number in dict.fromkeys(comments):
            numbers_of.setdefault(article if are_by_article else site.partition_of_article(number), []).append(number)
        if not are_by_article:
            return _merged(
                await self.load_all(
                    [threads.descendant_counts(site, partition, part) for partition, part in numbers_of.items()]
                )
            )
        wanted = [
            (
                article,
                threads.descendant_counts(site, site.partition_of_article(article), part),
                methodcaller("descendant_counts", part),
            )
            for article, part in numbers_of.items()
        ]
        return _merged(await self.of_conversations(wanted))

    async def profiles(self, usernames: Iterable[str]) -> list[Profile | None]:
        return await self._records_of(queries.PROFILES, list(usernames))

    async def actions(self, numbers: Iterable[int]) -> list[ModerationAction | None]:
        return await self._records_of(queries.ACTIONS, list(numbers))

    async def group_descriptions(self, groups: Iterable[str]) -> list[GroupDescription | None]:
        """What was written about groups; None for each about which nothing was."""
        return await self._records_of(queries.GROUP_DESCRIPTIONS, list(groups))

    async def voters(self, numbers: Iterable[int]) -> list[tuple[str, ...]]:
        cached = partial(queries.cached_voters, self.site, since=self._started)
        return await self._by_id(list(numbers), self._voters, cached, self._stored_voters)

    async def _stored_voters(self, numbers: Sequence[int]) -> dict[int, tuple[str, ...]]:
        names = await self.load_all([queries.voters(self.site, number) for number in numbers])
        return dict(zip(numbers, names, strict=True))

    async def votes(self, numbers: Sequence[int], voter: str) -> list[Vote]:
        """One command per partition."""
        found = self.known_or_read_votes(numbers, voter)
        return found if isinstance(found, list) else await found

    def known_or_read_votes(self, numbers: Sequence[int], voter: str) -> list[Vote] | Awaitable[list[Vote]]:
        """As `votes`, without waiting if this request or the client-side cache has all of them."""
        read = self._votes.setdefault(voter, {})
        known: Any = list(map(read.get, numbers)) if read else []
        if known and all(known):  # every vote is true, also NONE
            return known  # type: ignore[no-any-return]  # a `cast` is a call
        found: Any = queries.cached_votes(self.site, numbers, voter, since=self._started)
        if known:
            found = [vote or cached for vote, cached in zip(known, found, strict=True)]
        read.update(zip(numbers, found, strict=True))
        return found if all(found) else self._with_stored_votes(numbers, voter)

    async def _with_stored_votes(self, numbers: Sequence[int], voter: str) -> list[Vote]:
        read: dict[int, Any] = self._votes[voter]
        unread = [number for number in numbers if read[number] is None]
        read |= _merged(await self.load_all(queries.votes(self.site, unread, voter)))
        return list(map(read.__getitem__, numbers))

    async def home_page(self, listing: HomeListing, window: Window) -> Page:
        """
        A page of a home, the front page of a user: its counts say only whether there is more on each side. Usually one
        round trip.
        """
        if self._archive:
            return await self._archive.home_page(listing, window)
        return await home.page(self.site, self.load_all, listing, window)

    async def hidden(self, username: str, numbers: Sequence[int]) -> set[int]:
        """Which of some articles a user hides. One command for each partition."""
        found = _merged(await self.load_all(hidden.among(self.site, username, numbers)))
        return {number for number, is_hidden in found.items() if is_hidden}

    async def pages(self, wanted: Sequence[tuple[Listing, Window]]) -> list[Page]:
        """Pages of listings. One round trip for all, a few more for deep pages where values change with age."""
        if self._archive:
            return await self._archive.pages(wanted)
        parts = [listings.partition_pages(listing, window) for listing, window in wanted]
        pages = iter(await self._load_to_end([read for part in parts for read in part]))
        return [
            listings.merge([next(pages) for _ in part], window) for part, (_, window) in zip(parts, wanted, strict=True)
        ]

    async def page(self, listing: Listing, window: Window) -> Page:
        if self._archive:
            return (await self._archive.pages([(listing, window)]))[0]
        return listings.merge(await self._load_to_end(listings.partition_pages(listing, window)), window)

    async def ranks(self, listing: Listing, positions: Sequence[Position]) -> list[Rank]:
        """The ranks of positions in a listing. One round trip, a few more for deep ones if values change with age."""
        if not positions:
            return []
        if self._archive:
            return await self._archive.ranks(listing, positions)
        return standings.merge(listing, await self._load_to_end(standings.ranks(listing, positions)))

    async def pull(self, last_posts: Mapping[str, float], window: Window, floor: Position | None) -> Pull:
        """
        A page of the articles of users, only of those above the position `floor` if it is given; and whether these
        users have articles behind the page, on the side from which the client comes. `last_posts` has the time (unix
        milliseconds) of the newest article of each user, by name.

        One round trip.
        """
        window = feeds.clamp_to_floor(window, floor)
        selection = feeds.select_posters(last_posts, window, floor)
        if self._archive:
            pull = await self._archive.pull(selection.usernames, window, floor)
        else:
            pull = feeds.merge(await self.load_all(feeds.pulls(self.site, selection.usernames, window, floor)), window)
        return Pull(pull.positions, pull.behind or selection.behind)

    async def count(self, usernames: Iterable[str]) -> int:
        """How many articles users have posted together."""
        names = list(usernames)
        if self._archive:
            return await self._archive.count(names)
        return sum(await self.load_all(feeds.counts(self.site, names)))

    async def _records_of(self, type: RecordType[T], ids: Sequence[Any]) -> list[T | None]:
        read = self._records.setdefault(type, {})
        return await self._by_id(ids, read, partial(self._cached_records, type), partial(self._stored_records, type))

    def _cached_records(self, type: RecordType[T], ids: Sequence[Any]) -> list[T | None]:
        return queries.cached(self.site, type, ids, since=self._started)

    async def _stored_records(self, type: RecordType[T], ids: Sequence[Any]) -> dict[Any, T | None]:
        """Records that neither this request nor the cache had: from the store or, if archived, from the database."""
        if await self._has_refreshed_cache(type, ids) and all(known := self._cached_records(type, ids)):
            return dict(zip(ids, known, strict=True))
        hashes = await self.load_all([queries.hash_of(self.site, type, id) for id in ids])
        # While this call waited, another one, of this request or of another, may have decoded the same records.
        known = self._cached_records(type, ids)
        read, found = self._records[type], zip(ids, known, hashes, strict=True)
        records = {id: record or read.get(id) or type.decode(id, fields) for id, record, fields in found}
        if self._archive and type in (queries.ARTICLES, queries.COMMENTS):
            absent = [id for id, record in records.items() if record is None]
            find: Any = self._archive.articles if type is queries.ARTICLES else self._archive.comments
            records.update(await find(absent) if absent else {})
        return records

    async def _has_refreshed_cache(self, type: RecordType[Any], ids: Sequence[Any]) -> bool:
        """
        Bring the client-side cache up to date by reading the login, if that can replace the read of each record. False
        if it cannot.

        Redis sends invalidations before later replies on the same connection. So the cache is known to be up to date
        after any reply since the request started.
        """
        is_useful = self._login_read and not self._login and self.site.redis.has_one_server
        if not is_useful or not all(queries.cached(self.site, type, ids)):
            return False
        await self.login()
        return True

    async def _by_id(
        self,
        ids: Sequence[Any],
        read: dict[Any, T],
        cached: Callable[[Sequence[Any]], list[T | None]],
        stored: Callable[[Sequence[Any]], Awaitable[Mapping[Any, T]]],
    ) -> list[T]:
        """The values of ids: from `read`, which this request has read already, from the cache, or from the store."""
        unread = list(filterfalse(read.__contains__, ids)) if read else ids
        values = cached(unread) if unread else []
        if unread is ids and all(values):  # the usual case
            known: Any = values
            read.update(zip(ids, known, strict=True))
            return known  # type: ignore[no-any-return]  # a `cast` is a call
        found = dict(zip(unread, values, strict=True))
        if not all(values):
            found.update(await stored([id for id, value in found.items() if value is None]))
        read.update(found)
        return list(map(read.__getitem__, ids))

    async def _load_to_end(self, reads: Sequence[Read[Any]]) -> list[Any]:
        """The results of reads. A result that is itself a read is sent as well, until none is left."""
        results = await self.load_all(reads)
        while further := [result for result in results if isinstance(result, Read)]:
            found = iter(await self.load_all(further))
            results = [next(found) if isinstance(result, Read) else result for result in results]
        return results


class Loader:
    """
    Sends the reads of one tick as one pipeline, and keeps the results as long as it lives.

    It is not Strawberry's `DataLoader`, which has a task for each batch and futures for the calls: with it varied pages
    take 1.19 times the CPU, and feeds 1.45 times (bench/RESULTS.md). Here the first call of a tick sends the batch. If
    that call is cancelled, another one that waits sends it.
    """

    def __init__(self, redis: RedisClient) -> None:
        self._redis = redis
        self._loads: dict[Read[Any], Load] = {}
        self._unsent: ReadBatch | None = None

    async def load(self, reads: Iterable[Read[T]], login: Read[Any] | None) -> list[T]:
        """
        The results of reads; `login` is read as well if anything is sent. At most one round trip.

        Raises the error of the first read that failed. It does not affect the other reads of the pipeline.
        """
        loads = [self._loads.get(read) or self._add(read) for read in reads]
        if self._unsent is not None:
            if login is not None and login not in self._loads:
                self._add(login)
            if not self._unsent.has_sender:
                await self._send(self._unsent)
        for load in loads:
            while load.batch is not None:
                await self._wait(load.batch)
            if load.error is not None:
                raise load.error
        return [load.result for load in loads]

    def prime(self, read: Read[Any], result: object) -> None:
        """Set the result of a read, as it was just written."""
        self._loads[read] = load = Load(read)
        load.result = result

    def completed(self, read: Read[Any]) -> "Load | None":
        """A read with its result or error; None if it has none yet."""
        load = self._loads.get(read)
        return load if load is not None and load.batch is None else None

    def _add(self, read: Read[Any]) -> "Load":
        batch = self._unsent
        if batch is None:
            batch = self._unsent = ReadBatch()
        load = self._loads[read] = Load(read, batch)
        batch.loads.append(load)
        return load

    async def _send(self, batch: "ReadBatch") -> None:
        """Send a batch in this call. A new batch first waits for the reads that other calls of this tick add."""
        batch.has_sender = True
        try:
            if batch is self._unsent:
                await two_ticks()
                self._unsent = None
            batch.complete(await self._redis.replies([load.read.command for load in batch.loads]))
        except Exception as error:
            batch.fail(error)
        finally:
            batch.release()

    async def _wait(self, batch: "ReadBatch") -> None:
        """Wait for the call that sends a batch. If it was cancelled, send the batch in this call."""
        if batch.has_sender:
            await batch.released()
        else:
            await self._send(batch)


class Load:
    """A read, and its result or error once its batch is complete; until then `batch` is set."""

    __slots__ = ("batch", "error", "read", "result")

    def __init__(self, read: Read[Any], batch: "ReadBatch | None" = None) -> None:
        self.read = read
        self.batch = batch
        self.result: Any = None
        self.error: Exception | None = None

    def complete(self, reply: Any) -> None:
        """A reply that is an error or cannot be decoded is the error of this read only."""
        self.batch = None
        if type(reply) is StoreUnavailable:
            self.error = reply
            return
        try:
            self.result = self.read.result(reply)
        except Exception as error:
            self.error = error


class ReadBatch:
    """Reads that are sent together. One call sends them, the others wait for it."""

    __slots__ = ("_released", "has_sender", "loads")

    def __init__(self) -> None:
        self.loads: list[Load] = []
        self.has_sender = False
        self._released: Event | None = None

    def complete(self, replies: Sequence[Any]) -> None:
        for load, reply in zip(self.loads, replies, strict=True):
            load.complete(reply)

    def fail(self, error: Exception) -> None:
        for load in self.loads:
            load.batch, load.error = None, error

    def release(self) -> None:
        """Wake the waiting calls: the batch is complete, or its sender was cancelled."""
        self.has_sender = False
        if self._released is not None:
            self._released.set()
            self._released = None

    async def released(self) -> None:
        if self._released is None:
            self._released = Event()
        await self._released.wait()


def two_ticks() -> "Future[None]":
    """
    Two ticks of the event loop, in which other calls may add reads to a batch. Not `sleep(0)` twice: each of them would
    resume the task, which is some twenty nested coroutines, from the request to this read.
    """
    loop = get_running_loop()
    over: Future[None] = loop.create_future()
    loop.call_soon(_end, over)  # the waiting task goes on in the tick after that
    return over


def _end(wait: "Future[None]") -> None:
    if not wait.done():  # a cancelled request has cancelled it
        wait.set_result(None)


def _merged(parts: Iterable[dict[K, T]]) -> dict[K, T]:
    return {key: value for part in parts for key, value in part.items()}
