"""The one door to stored things by id: all that the batches of a tick ask for, each once, leaves as one pipeline."""

from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from time import monotonic
from typing import Any, TypeVar

from resolvers.loading import Loader
from store import feeds, listings, pins, reads, standings
from store.feeds import Pull
from store.listings import Listing, Page, Window
from store.reads import Kind, Read
from store.records import Article, Place, Profile, Vote
from store.sessions import Login
from store.standings import Rank
from store.stores import Store

T = TypeVar("T")


class Reads:
    """Made afresh for every request, every event and after every write. Results in key order, absent is None."""

    def __init__(self, store: Store, login: Read[Login | None] | None) -> None:
        self._store = store
        self._login = login
        self._known_login: Login | None = None
        self._loader = Loader(store.site.connection)
        self._began = monotonic()
        self._seen: dict[Kind[Any], dict[Any, Any]] = {}
        self._votes: dict[str, dict[int, Vote]] = {}  # by voter, by number
        self._voters: dict[int, tuple[str, ...]] = {}

    async def login(self) -> Login | None:
        if self._login and self._known_login is None:
            self._known_login = await self._one(self._login)
        return self._known_login

    async def articles(self, numbers: Iterable[int]) -> list[Article | None]:
        return await self._records(reads.ARTICLES, numbers)

    async def profiles(self, usernames: Iterable[str]) -> list[Profile | None]:
        return await self._records(reads.PROFILES, usernames)

    async def voters(self, numbers: Iterable[int]) -> list[tuple[str, ...]]:
        return await self._settled(
            self._voters,
            list(numbers),
            lambda new: reads.cached_voters(self._store.site, new, self._began),
            self._named,
        )

    async def groups(self) -> list[str]:
        """The names of all groups that have articles."""
        names = await self._all(reads.groups(p) for p in range(self._store.site.partitions))
        return sorted({name for part in names for name in part})

    async def votes(self, numbers: Sequence[int], voter: str) -> list[Vote]:
        """One command a partition."""
        return await self._settled(
            self._votes.setdefault(voter, {}),
            numbers,
            lambda new: reads.cached_votes(self._store.site, new, voter, self._began),
            lambda new: self._told_votes(new, voter),
        )

    async def _named(self, numbers: Sequence[int]) -> dict[int, tuple[str, ...]]:
        names = await self._all([reads.voters(self._store.site, number) for number in numbers])
        return dict(zip(numbers, names, strict=True))

    async def _told_votes(self, numbers: Sequence[int], voter: str) -> dict[int, Vote]:
        parts = await self._all(reads.votes(self._store.site, numbers, voter))
        return {number: vote for part in parts for number, vote in part.items()}

    async def follows(self, follower: str, usernames: Iterable[str]) -> list[bool]:
        return await self._all(feeds.follows(self._store.site, follower, username) for username in usernames)

    async def seen(self, username: str) -> Place | None:
        """The mark in a user's feed."""
        (profile,) = await self.profiles([username])
        return profile.seen if profile else None

    async def last_post(self, username: str) -> float | None:
        """When a user posted last, of what is still there."""
        return _united(await self._all(feeds.newest(self._store.site, [username]))).get(username)

    async def posters_of_feed(self, username: str, floor: Place | None) -> dict[str, float]:
        """
        Whose articles a feed shows, and when each of them posted last: the user and everyone they follow.

        One or two round trips. Above a floor it is enough to ask those who posted since, unless they are too many.
        """
        site = self._store.site
        own = feeds.newest(site, [username])
        if floor:
            recent = _united(await self._all([*feeds.posters_since(site, floor), *own]))
            if len(recent) <= feeds.POSTERS_ASKED:
                followed = await self.follows(username, recent)
                return {
                    name: recent[name]
                    for name, is_so in zip(recent, followed, strict=True)
                    if is_so or name == username
                }
        if site.partitions == 1:
            return _united(await self._all([feeds.followed_posters(site, username), *own]))
        names = await self._one(feeds.following(site, username))
        return _united(await self._all(feeds.newest(site, [*names, username])))

    async def pull(self, last: Mapping[str, float], window: Window, floor: Place | None) -> Pull:
        """The newest articles of users who posted last at these times. One round trip."""
        window = feeds.within(window, floor)
        asking = feeds.nearest(last, window, floor)
        parts = await self._all(feeds.pulls(self._store.site, asking.usernames, window, floor))
        pull = feeds.merge(parts, window)
        return Pull(pull.places, pull.behind or asking.behind)

    async def count(self, usernames: Iterable[str]) -> int:
        return sum(await self._all(feeds.counts(self._store.site, list(usernames))))

    def know_vote(self, number: int, voter: str, vote: Vote) -> None:
        """Spare the read of a vote that was just cast."""
        self._votes.setdefault(voter, {})[number] = vote

    def know_login(self, username: str) -> None:
        """Spare the read of a session that a write has just proven."""
        if self._login:
            self._known_login = self._store.sessions.login(username)

    async def pages(self, wanted: Sequence[tuple[Listing, Window]]) -> list[Page]:
        parts = [listings.shares(listing, window) for listing, window in wanted]
        shares = iter(await self._to_the_end([read for part in parts for read in part]))
        return [
            listings.merge([next(shares) for _ in part], window)
            for part, (_, window) in zip(parts, wanted, strict=True)
        ]

    async def ranks(self, listing: Listing, places: Sequence[Place]) -> list[Rank]:
        """One round trip, or some more where values decay and the places are deep."""
        if not places:
            return []
        return standings.merge(listing, await self._to_the_end(standings.ranks(listing, places)))

    async def has_pin(self, pinned: Listing) -> bool:
        return await self._one(pins.is_there(pinned))

    async def _records(self, kind: Kind[T], ids: Iterable[Any]) -> list[T | None]:
        return await self._settled(
            self._seen.setdefault(kind, {}),
            list(ids),
            lambda new: reads.cached(self._store.site, kind, new, self._began),
            lambda new: self._stored(kind, new),
        )

    async def _stored(self, kind: Kind[T], ids: Sequence[Any]) -> dict[Any, T | None]:
        site = self._store.site
        if self._login and not self._known_login and site.connection.is_of_one:
            kept: list[T | None] = reads.cached(site, kind, ids)
            if all(kept):
                await self.login()  # with its reply comes what has changed of these
                kept = reads.cached(site, kind, ids, self._began)
                if all(kept):
                    return dict(zip(ids, kept, strict=True))
        hashes = await self._all([reads.hash_of(site, kind, id) for id in ids])
        known = reads.cached(site, kind, ids, self._began)  # others may have made the same records meanwhile
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
