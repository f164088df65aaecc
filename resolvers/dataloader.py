"""The data loader of a request: the reads of one tick leave as one pipeline, each of them once."""

import asyncio
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from time import monotonic
from typing import Any, TypeVar

from store import feeds, listings, queries
from store.client.client import RedisClient
from store.errors import StoreUnavailable
from store.feeds import Pull
from store.listings import Listing, Page, Window
from store.queries import Read, RecordType
from store.ranking import snapshots, standings
from store.ranking.standings import Rank
from store.records import Article, Position, Profile, Vote
from store.sessions import Login
from store.store import Store

TICKS = 2  # of the loop, for all who are on their way to ask


class Question:
    """A read, and its result or its error once it has no batch any more."""

    __slots__ = ("batch", "error", "read", "result")

    def __init__(self, read: Read[Any]) -> None:
        self.read = read
        self.batch: Batch | None = None
        self.result: Any = None
        self.error: Exception | None = None

    def answer(self, reply: Any) -> None:
        """A reply that is an error, or means nothing, is the error of this read alone."""
        self.batch = None
        if type(reply) is StoreUnavailable:
            self.error = reply
            return
        try:
            self.result = self.read.result(reply)
        except Exception as error:
            self.error = error


class Batch:
    """Questions that leave together. Somebody has them answered, the others wait for that."""

    __slots__ = ("_turn", "error", "is_led", "questions")

    def __init__(self) -> None:
        self.questions: list[Question] = []
        self.is_led = True
        self.error: Exception | None = None
        self._turn: asyncio.Event | None = None

    def leave(self, error: Exception | None = None) -> None:
        """Whoever led has the answers or an error, or goes away; then one of the others leads."""
        self.is_led, self.error = False, error
        if self._turn:
            self._turn.set()
            self._turn = None

    async def turn(self) -> None:
        """Wait until nobody leads any more. Raises what selection raised."""
        if self.is_led:
            self._turn = self._turn or asyncio.Event()
            await self._turn.wait()
        if self.error:
            raise self.error


class Loader:
    """
    Results are kept as long as it lives.

    Whoever asks first in a tick sends the pipeline for all: a request that waits for one thing at a time, as most do,
    needs no task and wakes nobody for it.
    """

    def __init__(self, connection: RedisClient) -> None:
        self._connection = connection
        self._questions: dict[Read[Any], Question] = {}
        self._gathering: Batch | None = None

    async def load(self, wanted: Iterable[Read[Any]], beside: Read[Any] | None = None) -> list[Any]:
        """
        The results of reads; if any of them is new, `beside` is read as well. One round trip, or none.

        Raises what the first of them that failed has failed with. Others that left in the same pipeline have results.
        """
        asked, new = [], []
        for read in wanted:
            question = self._questions.get(read)
            if question is None:
                new.append(question := self._question(read))
            asked.append(question)
        if new:
            if beside and beside not in self._questions:
                new.append(self._question(beside))
            is_first = self._gathering is None
            gathering = self._gathering = self._gathering or Batch()
            gathering.questions += new
            for question in new:
                question.batch = gathering
            if is_first:
                await self._lead(gathering)
        for question in asked:
            while batch := question.batch:
                await batch.turn()
                if question.batch and not batch.is_led:
                    await self._lead(batch)
            if question.error:
                raise question.error
        return [question.result for question in asked]

    def _question(self, read: Read[Any]) -> Question:
        question = self._questions[read] = Question(read)
        return question

    async def _lead(self, batch: Batch) -> None:
        batch.is_led = True
        try:
            if batch is self._gathering:
                for _ in range(TICKS):
                    await asyncio.sleep(0)
                self._gathering = None
            replies = await self._connection.replies([question.read.command for question in batch.questions])
            for question, reply in zip(batch.questions, replies, strict=True):
                question.answer(reply)
        except Exception as error:
            batch.leave(error)
            raise
        except asyncio.CancelledError:
            if batch is self._gathering:
                self._gathering = None
            batch.leave()
            raise
        batch.leave()


T = TypeVar("T")


class Reads:
    """Made afresh for every request, every event and after every write. Results in key order, absent is None."""

    def __init__(self, store: Store, login: Read[Login | None] | None) -> None:
        self._store = store
        self._login = login
        self._known_login: Login | None = None
        self._loader = Loader(store.site.redis)
        self._began = monotonic()
        self._seen: dict[RecordType[Any], dict[Any, Any]] = {}
        self._votes: dict[str, dict[int, Vote]] = {}  # by voter, by number
        self._voters: dict[int, tuple[str, ...]] = {}

    async def login(self) -> Login | None:
        if self._login and self._known_login is None:
            self._known_login = await self._one(self._login)
        return self._known_login

    async def articles(self, numbers: Iterable[int]) -> list[Article | None]:
        return await self._records(queries.ARTICLES, numbers)

    async def profiles(self, usernames: Iterable[str]) -> list[Profile | None]:
        return await self._records(queries.PROFILES, usernames)

    async def voters(self, numbers: Iterable[int]) -> list[tuple[str, ...]]:
        return await self._settled(
            self._voters,
            list(numbers),
            lambda new: queries.cached_voters(self._store.site, new, self._began),
            self._named,
        )

    async def groups(self) -> list[str]:
        """The names of all groups that have articles."""
        names = await self._all(queries.groups(p) for p in range(self._store.site.partitions))
        return sorted({name for part in names for name in part})

    async def votes(self, numbers: Sequence[int], voter: str) -> list[Vote]:
        """One command a partition."""
        return await self._settled(
            self._votes.setdefault(voter, {}),
            numbers,
            lambda new: queries.cached_votes(self._store.site, new, voter, self._began),
            lambda new: self._told_votes(new, voter),
        )

    async def _named(self, numbers: Sequence[int]) -> dict[int, tuple[str, ...]]:
        names = await self._all([queries.voters(self._store.site, number) for number in numbers])
        return dict(zip(numbers, names, strict=True))

    async def _told_votes(self, numbers: Sequence[int], voter: str) -> dict[int, Vote]:
        parts = await self._all(queries.votes(self._store.site, numbers, voter))
        return {number: vote for part in parts for number, vote in part.items()}

    async def follows(self, follower: str, usernames: Iterable[str]) -> list[bool]:
        return await self._all(feeds.follows(self._store.site, follower, username) for username in usernames)

    async def seen(self, username: str) -> Position | None:
        """The mark in a user's feed."""
        (profile,) = await self.profiles([username])
        return profile.seen if profile else None

    async def last_post(self, username: str) -> float | None:
        """When a user posted last, of what is still there."""
        return _united(await self._all(feeds.last_posts(self._store.site, [username]))).get(username)

    async def posters_of_feed(self, username: str, floor: Position | None) -> dict[str, float]:
        """
        Whose articles a feed shows, and when each of them posted last: the user and everyone they follow.

        One or two round trips. Above a floor it is enough to ask those who posted since, unless they are too many.
        """
        site = self._store.site
        own = feeds.last_posts(site, [username])
        if floor:
            recent = _united(await self._all([*feeds.posters_since(site, floor), *own]))
            if len(recent) <= feeds.MAX_RECENT_POSTERS:
                followed = await self.follows(username, recent)
                return {
                    name: recent[name]
                    for name, is_so in zip(recent, followed, strict=True)
                    if is_so or name == username
                }
        if site.partitions == 1:
            return _united(await self._all([feeds.followed_posters(site, username), *own]))
        names = await self._one(feeds.following(site, username))
        return _united(await self._all(feeds.last_posts(site, [*names, username])))

    async def pull(self, last: Mapping[str, float], window: Window, floor: Position | None) -> Pull:
        """The newest articles of users who posted last at these times. One round trip."""
        window = feeds.clamp_to_floor(window, floor)
        selection = feeds.select_posters(last, window, floor)
        parts = await self._all(feeds.pulls(self._store.site, selection.usernames, window, floor))
        pull = feeds.merge(parts, window)
        return Pull(pull.positions, pull.behind or selection.behind)

    async def count(self, usernames: Iterable[str]) -> int:
        return sum(await self._all(feeds.counts(self._store.site, list(usernames))))

    def prime_vote(self, number: int, voter: str, vote: Vote) -> None:
        """Spare the read of a vote that was just cast."""
        self._votes.setdefault(voter, {})[number] = vote

    def prime_login(self, username: str) -> None:
        """Spare the read of a session that a write has just proven."""
        if self._login:
            self._known_login = self._store.sessions.login(username)

    async def pages(self, wanted: Sequence[tuple[Listing, Window]]) -> list[Page]:
        parts = [listings.partition_pages(listing, window) for listing, window in wanted]
        shares = iter(await self._to_the_end([read for part in parts for read in part]))
        return [
            listings.merge([next(shares) for _ in part], window)
            for part, (_, window) in zip(parts, wanted, strict=True)
        ]

    async def ranks(self, listing: Listing, places: Sequence[Position]) -> list[Rank]:
        """One round trip, or some more where values decay and the places are deep."""
        if not places:
            return []
        return standings.merge(listing, await self._to_the_end(standings.ranks(listing, places)))

    async def has_pin(self, pinned: Listing) -> bool:
        return await self._one(snapshots.exists(pinned))

    async def _records(self, kind: RecordType[T], ids: Iterable[Any]) -> list[T | None]:
        return await self._settled(
            self._seen.setdefault(kind, {}),
            list(ids),
            lambda new: queries.cached(self._store.site, kind, new, self._began),
            lambda new: self._stored(kind, new),
        )

    async def _stored(self, kind: RecordType[T], ids: Sequence[Any]) -> dict[Any, T | None]:
        site = self._store.site
        if self._login and not self._known_login and site.redis.has_one_server:
            kept: list[T | None] = queries.cached(site, kind, ids)
            if all(kept):
                await self.login()  # with its reply comes what has changed of these
                kept = queries.cached(site, kind, ids, self._began)
                if all(kept):
                    return dict(zip(ids, kept, strict=True))
        hashes = await self._all([queries.hash_of(site, kind, id) for id in ids])
        known = queries.cached(site, kind, ids, self._began)  # others may have made the same records meanwhile
        found = zip(ids, known, hashes, strict=True)
        return {id: record or kind.decode(id, fields) for id, record, fields in found}

    async def _settled(
        self,
        seen: dict[Any, T],
        ids: Sequence[Any],
        known: Callable[[Sequence[Any]], list[T | None]],
        ask: Callable[[Sequence[Any]], Awaitable[Mapping[Any, T]]],
    ) -> list[T]:
        """What this request has seen, then what the process knows since it began, then what the store is asked for."""
        new = [id for id in ids if id not in seen] if seen else ids
        found = known(new)
        if all(found):
            seen.update(zip(new, found, strict=True))  # type: ignore[arg-type]  # all of them are there
            if new is ids:
                return found  # type: ignore[return-value]  # likewise
        else:
            seen.update((id, value) for id, value in zip(new, found, strict=True) if value)
            seen.update(await ask([id for id in dict.fromkeys(new) if id not in seen]))
        return list(map(seen.__getitem__, ids))

    async def _one(self, read: Read[T]) -> T:
        (result,) = await self._all([read])
        return result

    async def _to_the_end(self, wanted: Sequence[Read[Any]]) -> list[Any]:
        """The results of reads of which some go on with a further read."""
        results = await self._all(wanted)
        while further := [result for result in results if isinstance(result, Read)]:
            found = iter(await self._all(further))
            results = [next(found) if isinstance(result, Read) else result for result in results]
        return results

    async def _all(self, wanted: Iterable[Read[T]]) -> list[T]:
        """The results of reads; with the first of all the login is read, which most of what follows depends on."""
        return await self._loader.load(wanted, None if self._known_login else self._login)


def _united(parts: Iterable[dict[str, float]]) -> dict[str, float]:
    return {name: time for part in parts for name, time in part.items()}
