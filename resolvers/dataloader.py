"""
The data loader of a request: what is read in one tick of the event loop is sent as one pipeline, each command once.

Values by id are looked up in three places: what this request has read, the client-side cache, and the store.
"""

from asyncio import Event, sleep
from collections.abc import Awaitable, Callable, Coroutine, Iterable, Mapping, Sequence
from functools import partial
from time import monotonic
from typing import Any, NamedTuple, TypeVar

from database.database import Database
from resolvers.archive import ArchiveReads
from store import archive, feeds, inboxes, listings, log, queries, threads
from store.client.client import RedisClient
from store.errors import StoreUnavailable
from store.feeds import Pull
from store.inboxes import InboxPage
from store.listings import Listing, Page, Window
from store.queries import Read, RecordType
from store.ranking import snapshots, standings
from store.ranking.standings import Rank
from store.records import Article, Comment, Notification, Position, Profile, Vote
from store.sessions import Login
from store.store import Store
from store.threads import CommentOrder, ThreadPage, ThreadWindow

K = TypeVar("K")
T = TypeVar("T")

TICKS = 2  # of the event loop, in which other calls may add reads to a batch


class Replies(NamedTuple):
    """The replies to a comment of an article, or to the article itself if `parent` is its number."""

    article: int
    parent: int
    order: CommentOrder


class Thread(NamedTuple):
    """The thread of an article or below one of its comments, down to a depth."""

    article: int
    order: CommentOrder
    under: int | None
    max_depth: int


class Reads:
    """
    Reads of the store. Results have the order of the keys; what does not exist is None.

    Each request, each event and each write starts with a new instance, so that nothing older is returned.
    """

    def __init__(self, store: Store, login: Read[Login | None] | None, database: Database | None = None) -> None:
        """
        `login` reads the session of the request. It is sent with the first pipeline, as most requests need it.
        `database` has the archived articles.
        """
        self._store = store
        self._login_read = login
        self._login: Login | None = None
        self._loader = Loader(store.site.redis)
        self._started = monotonic()
        self._records: dict[RecordType[Any], dict[Any, Any]] = {}
        self._votes: dict[str, dict[int, Vote]] = {}  # by voter, by number
        self._voters: dict[int, tuple[str, ...]] = {}
        self._archive: ArchiveReads | None = None  # if the store has archived articles
        if store.site.rankings.archive is not None:
            self._archive = ArchiveReads(store.site, database, self._load_to_end)

    def set_login(self, login: Login) -> None:
        """Set the session as it is stored now, after it was opened or extended."""
        if self._login_read:
            self._login = login
            self._loader.prime(self._login_read, login)

    def prime_login(self, username: str) -> None:
        """Set the login after a write that has checked the session, but has not read when it ends."""
        if self._login_read:
            self._login = self._store.sessions.login(username)

    def prime_vote(self, number: int, voter: str, vote: Vote) -> None:
        """Set a vote that was just written."""
        self._votes.setdefault(voter, {})[number] = vote

    async def login(self) -> Login | None:
        if self._login_read and self._login is None:
            self._login = await self._load_one(self._login_read)
        return self._login

    async def stored_login(self) -> Login | None:
        """The session as it is stored. One round trip, unless it was read before."""
        return await self._load_one(self._login_read) if self._login_read else None

    def has_ended(self, now: int) -> bool:
        """Whether the session of the request was read, and had ended by `now` (unix milliseconds). No round trip."""
        load = self._loader.completed(self._login_read) if self._login_read else None
        if load is None:
            return False
        login: Login | None = self._login or load.result
        return login.expires_at < now if login else load.error is None

    async def articles(self, numbers: Iterable[int]) -> list[Article | None]:
        return await self._records_of(queries.ARTICLES, list(numbers))

    async def comments(self, numbers: Iterable[int]) -> list[Comment | None]:
        """
        Comments whose articles exist: the comments of a deleted article are removed after it.

        One round trip; one more for their articles, unless this request has read them.
        """
        comments = await self._records_of(queries.COMMENTS, list(numbers))
        needed = {comment.article for comment in comments if comment}
        articles = dict(zip(needed, await self.articles(needed), strict=True)) if needed else {}
        return [comment if comment and articles[comment.article] else None for comment in comments]

    async def replies(self, wanted: Sequence[tuple[Replies, Window]]) -> list[Page]:
        """Pages of the replies to comments or to articles. One round trip for all."""
        site = self._store.site
        parts = await self._load([threads.siblings_page(site, *replies, window) for replies, window in wanted])
        return [listings.merge([part], window) for part, (_, window) in zip(parts, wanted, strict=True)]

    async def threads(self, wanted: Sequence[tuple[Thread, ThreadWindow]]) -> list[ThreadPage]:
        """Pages of threads. One round trip for all."""
        site = self._store.site
        return await self._load(
            [
                threads.page(site, article, order, window, under=under, max_depth=max_depth)
                for (article, order, under, max_depth), window in wanted
            ]
        )

    async def ancestors(self, numbers: Sequence[int]) -> list[list[Comment]]:
        """The comments above each comment, the outermost first. Two round trips for all."""
        above = await self._load([threads.ancestors(self._store.site, number) for number in numbers])
        comments = iter(await self.comments([each for ancestors in above for each in ancestors]))
        return [[comment for _ in ancestors if (comment := next(comments))] for ancestors in above]

    async def descendant_counts(self, numbers: Sequence[int]) -> list[int]:
        """How many visible comments are below each comment. One command per partition."""
        site, homes = self._store.site, dict[int, list[int]]()
        for number in dict.fromkeys(numbers):
            homes.setdefault(site.home_of_article(number), []).append(number)
        counts = _merged(await self._load([threads.descendant_counts(site, p, part) for p, part in homes.items()]))
        return [counts[number] for number in numbers]

    async def are_under(self, above: int, numbers: Sequence[int]) -> list[bool]:
        """Which comments, of the article of the comment `above`, are its descendants. One round trip."""
        found = await self._load_one(threads.are_under(self._store.site, above, numbers))
        return [found[number] == 1 for number in numbers]

    async def highest_comment(self, article: int) -> int:
        """A number that all comments of an article which are posted later exceed."""
        return await self._load_one(threads.highest_number(self._store.site, article))

    async def deleted_comment(self, number: int, entry: str) -> Comment | None:
        """A comment that is gone, as the log has it in the entry of its deletion, if it has."""
        return await self._load_one(log.deleted_comment(self._store.site, number, entry))

    async def profiles(self, usernames: Iterable[str]) -> list[Profile | None]:
        return await self._records_of(queries.PROFILES, list(usernames))

    async def voters(self, numbers: Iterable[int]) -> list[tuple[str, ...]]:
        site = self._store.site
        return await self._by_id(
            list(numbers),
            self._voters,
            lambda missing: queries.cached_voters(site, missing, self._started),
            self._stored_voters,
        )

    async def _stored_voters(self, numbers: Sequence[int]) -> dict[int, tuple[str, ...]]:
        names = await self._load([queries.voters(self._store.site, number) for number in numbers])
        return dict(zip(numbers, names, strict=True))

    async def votes(self, numbers: Sequence[int], voter: str) -> list[Vote]:
        """One command per partition."""
        site = self._store.site
        return await self._by_id(
            numbers,
            self._votes.setdefault(voter, {}),
            lambda missing: queries.cached_votes(site, missing, voter, self._started),
            partial(self._stored_votes, voter),
        )

    async def _stored_votes(self, voter: str, numbers: Sequence[int]) -> dict[int, Vote]:
        return _merged(await self._load(queries.votes(self._store.site, numbers, voter)))

    async def groups(self) -> list[str]:
        """The names of all groups that have articles."""
        names = await self._load(queries.groups(p) for p in range(self._store.site.partitions))
        return sorted({name for part in names for name in part})

    async def pages(self, wanted: Sequence[tuple[Listing, Window]]) -> list[Page]:
        if self._archive:
            return await self._archive.pages(wanted)
        parts = [listings.partition_pages(listing, window) for listing, window in wanted]
        pages = iter(await self._load_to_end([read for part in parts for read in part]))
        return [
            listings.merge([next(pages) for _ in part], window) for part, (_, window) in zip(parts, wanted, strict=True)
        ]

    async def ranks(self, listing: Listing, positions: Sequence[Position]) -> list[Rank]:
        """One round trip, or a few more where values decay and the positions are deep."""
        if not positions:
            return []
        if self._archive:
            return await self._archive.ranks(listing, positions)
        return standings.merge(listing, await self._load_to_end(standings.ranks(listing, positions)))

    async def has_pin(self, pinned: Listing) -> bool:
        return await self._load_one(snapshots.exists(pinned))

    async def follows(self, follower: str, usernames: Iterable[str]) -> list[bool]:
        return await self._load(feeds.follows(self._store.site, follower, username) for username in usernames)

    async def seen(self, username: str) -> Position | None:
        """The mark in a user's feed."""
        (profile,) = await self.profiles([username])
        return profile.seen if profile else None

    async def inbox(self, username: str, window: Window, unseen_only: bool = False) -> InboxPage:
        """A page of a user's inbox. One round trip."""
        return await self._load_one(inboxes.page(self._store.site, username, window, unseen_only=unseen_only))

    async def notifications(self, username: str, numbers: Sequence[int]) -> dict[int, Notification]:
        """A user's notifications by number, without those that do not exist. One round trip."""
        return await self._load_one(inboxes.find(self._store.site, username, numbers)) if numbers else {}

    async def last_post(self, username: str) -> float | None:
        """The time of a user's newest article."""
        return _merged(await self._load(feeds.last_posts(self._store.site, [username]))).get(username)

    async def posters_of_feed(self, username: str, floor: Position | None) -> dict[str, float]:
        """
        The user and everyone they follow, with the time of each one's newest article.

        One or two round trips. With a floor only those who posted after it are read, unless they are too many.
        """
        site = self._store.site
        own = feeds.last_posts(site, [username])
        if floor:
            recent = _merged(await self._load([*feeds.posters_since(site, floor), *own]))
            if len(recent) <= feeds.MAX_RECENT_POSTERS:
                follows = zip(recent, await self.follows(username, recent), strict=True)
                return {name: recent[name] for name, is_followed in follows if is_followed or name == username}
        if site.partitions == 1:
            return _merged(await self._load([feeds.followed_posters(site, username), *own]))
        names = await self._load_one(feeds.following(site, username))
        return _merged(await self._load(feeds.last_posts(site, [*names, username])))

    async def pull(self, last_posts: Mapping[str, float], window: Window, floor: Position | None) -> Pull:
        """The newest articles of users, whose newest ones have these times. One round trip."""
        window = feeds.clamp_to_floor(window, floor)
        selection = feeds.select_posters(last_posts, window, floor)
        if self._archive:
            pull = await self._archive.pull(selection.usernames, window, floor)
        else:
            pull = feeds.merge(
                await self._load(feeds.pulls(self._store.site, selection.usernames, window, floor)), window
            )
        return Pull(pull.positions, pull.behind or selection.behind)

    async def count(self, usernames: Iterable[str]) -> int:
        """How many articles users have posted together."""
        site, names = self._store.site, list(usernames)
        archived = archive.counts(site, names) if self._archive else []
        return sum(await self._load([*feeds.counts(site, names), *archived]))

    async def _records_of(self, type: RecordType[T], ids: Sequence[Any]) -> list[T | None]:
        read = self._records.setdefault(type, {})
        return await self._by_id(ids, read, partial(self._cached_records, type), partial(self._stored_records, type))

    def _cached_records(self, type: RecordType[T], ids: Sequence[Any]) -> list[T | None]:
        return queries.cached(self._store.site, type, ids, self._started)

    async def _stored_records(self, type: RecordType[T], ids: Sequence[Any]) -> dict[Any, T | None]:
        if await self._can_refresh_cache(type, ids) and all(known := self._cached_records(type, ids)):
            return dict(zip(ids, known, strict=True))
        hashes = await self._load([queries.hash_of(self._store.site, type, id) for id in ids])
        known = self._cached_records(type, ids)  # another request may have decoded them
        found = zip(ids, known, hashes, strict=True)
        records = {id: record or type.decode(id, fields) for id, record, fields in found}
        if self._archive and type is queries.ARTICLES:
            absent = [id for id, record in records.items() if record is None]
            archived: Any = await self._archive.articles(absent) if absent else {}
            records.update(archived)
        return records

    async def _can_refresh_cache(self, type: RecordType[Any], ids: Sequence[Any]) -> bool:
        """
        Bring the client-side cache up to date by reading the login, if that can replace the read of each record.

        Redis sends invalidations before later replies on the same connection. So the cache is known to be up to date
        after any reply since the request started.
        """
        is_useful = self._login_read and not self._login and self._store.site.redis.has_one_server
        if not is_useful or not all(queries.cached(self._store.site, type, ids)):
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
        unread = [id for id in ids if id not in read] if read else ids
        values = cached(unread) if unread else []
        found = dict(zip(unread, values, strict=True))
        if not all(values):
            found.update(await stored([id for id, value in found.items() if value is None]))
        read.update(found)
        return list(map(read.__getitem__, ids))

    async def _load_one(self, read: Read[T]) -> T:
        (result,) = await self._load([read])
        return result

    async def _load_to_end(self, reads: Sequence[Read[Any]]) -> list[Any]:
        """The results of reads, some of which are replaced by a further read."""
        results = await self._load(reads)
        while further := [result for result in results if isinstance(result, Read)]:
            found = iter(await self._load(further))
            results = [next(found) if isinstance(result, Read) else result for result in results]
        return results

    def _load(self, reads: Iterable[Read[T]]) -> Coroutine[Any, Any, list[T]]:
        return self._loader.load(reads, None if self._login else self._login_read)


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
        self._unsent: Batch | None = None

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
        if self._unsent is None:
            self._unsent = Batch()
        load = self._loads[read] = Load(read, self._unsent)
        self._unsent.loads.append(load)
        return load

    async def _send(self, batch: "Batch") -> None:
        batch.has_sender = True
        try:
            if batch is self._unsent:
                for _ in range(TICKS):
                    await sleep(0)
                self._unsent = None
            batch.complete(await self._redis.replies([load.read.command for load in batch.loads]))
        except Exception as error:
            batch.fail(error)
        finally:
            batch.release()

    async def _wait(self, batch: "Batch") -> None:
        """Wait for the call that sends a batch. If it was cancelled, send the batch in this call."""
        if batch.has_sender:
            await batch.released()
        else:
            await self._send(batch)


class Load:
    """A read, and its result or error once its batch is complete; until then `batch` is set."""

    __slots__ = ("batch", "error", "read", "result")

    def __init__(self, read: Read[Any], batch: "Batch | None" = None) -> None:
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


class Batch:
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


def _merged(parts: Iterable[dict[K, T]]) -> dict[K, T]:
    return {key: value for part in parts for key, value in part.items()}
