"""The one door to stored things by id: all that the batches of a tick ask for, each once, leaves as one pipeline."""

from asyncio import gather
from collections.abc import Awaitable, Iterable, Mapping, Sequence
from typing import Any, TypeVar, cast

from strawberry.dataloader import DataLoader

from store import feeds, listings, reads
from store.feeds import Pull
from store.listings import Listing, Page, Window
from store.reads import Read
from store.records import Article, Place, Profile, Vote
from store.sessions import Login
from store.stores import Store

T = TypeVar("T")


class Reads:
    """Made afresh for every request, every event and after every write. Results in key order, absent is None."""

    def __init__(self, store: Store, login: Read[Login | None] | None) -> None:
        self._store = store
        self._login = login
        self._asked_for_login = login is None
        self._loader: DataLoader[Read[Any], Any] = DataLoader(self._load)

    async def login(self) -> Login | None:
        return await self._one(self._login) if self._login else None

    async def articles(self, numbers: Iterable[int]) -> list[Article | None]:
        return await self._all(reads.article(self._store.site, number) for number in numbers)

    async def profiles(self, usernames: Iterable[str]) -> list[Profile | None]:
        return await self._all(reads.profile(self._store.site, username) for username in usernames)

    async def voters(self, numbers: Iterable[int]) -> list[list[str]]:
        return await self._all(reads.voters(self._store.site, number) for number in numbers)

    async def groups(self) -> list[str]:
        """The names of all groups that have articles."""
        names = await self._all(reads.groups(p) for p in range(self._store.site.partitions))
        return sorted({name for part in names for name in part})

    async def votes(self, numbers: Sequence[int], voter: str) -> list[Vote]:
        """Two commands an article."""
        ups, downs = await gather(
            self._all(reads.has_voted(self._store.site, number, voter) for number in numbers),
            self._all(reads.has_downvoted(self._store.site, number, voter) for number in numbers),
        )
        return [Vote(up - down) for up, down in zip(ups, downs, strict=True)]

    async def follows(self, follower: str, usernames: Iterable[str]) -> list[bool]:
        return await self._all(feeds.follows(self._store.site, follower, username) for username in usernames)

    async def seen(self, username: str) -> Place | None:
        """The mark in a user's feed."""
        (profile,) = await self.profiles([username])
        return profile.seen if profile else None

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
        asking = feeds.nearest(last, window, floor)
        parts = await self._all(feeds.pulls(self._store.site, asking.usernames, window, floor))
        pull = feeds.merge(parts, window)
        return Pull(pull.places, pull.behind or asking.behind)

    async def count(self, usernames: Iterable[str]) -> int:
        return sum(await self._all(feeds.counts(self._store.site, list(usernames))))

    def know_vote(self, number: int, voter: str, vote: Vote) -> None:
        """Spare the reads of a vote that was just cast."""
        self._loader.prime(reads.has_voted(self._store.site, number, voter), vote is Vote.UP)
        self._loader.prime(reads.has_downvoted(self._store.site, number, voter), vote is Vote.DOWN)

    def know_login(self, username: str) -> None:
        """Spare the read of a session that a write has just proven."""
        if self._login:
            self._asked_for_login = True
            self._loader.prime(self._login, self._store.sessions.login(username))

    async def pages(self, wanted: Sequence[tuple[Listing, Window]]) -> list[Page]:
        return await gather(*(self._page(listing, window) for listing, window in wanted))

    async def _page(self, listing: Listing, window: Window) -> Page:
        return listings.merge(await self._all(listings.shares(listing, window)), window)

    async def _all(self, wanted: Iterable[Read[T]]) -> list[T]:
        return list(await gather(*map(self._one, wanted)))

    def _one(self, read: Read[T]) -> Awaitable[T]:
        if not self._asked_for_login:
            self._asked_for_login = True  # with the first pipeline, since most of what follows depends on the viewer
            self._loader.load(cast("Read[Any]", self._login))
        return self._loader.load(read)

    async def _load(self, wanted: list[Read[Any]]) -> list[Any]:
        replies = await self._store.site.connection.pipeline([read.command for read in wanted])
        return [read.result(reply) for read, reply in zip(wanted, replies, strict=True)]


def _united(parts: Iterable[dict[str, float]]) -> dict[str, float]:
    return {name: time for part in parts for name, time in part.items()}
