"""Everything that is read by id: the command to send, and what its reply means; or what is known without sending it."""

from collections import defaultdict
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from functools import partial
from typing import Any, Generic, NamedTuple, TypeVar

from store import keys, records
from store.caching import Cache
from store.connection import VOTES
from store.link import Command
from store.records import Vote
from store.site import Site

T = TypeVar("T")


CAST = {vote.value: vote for vote in Vote}


class Read(NamedTuple, Generic[T]):
    """Equal reads are the same read: `decode` is a function of a module, `about` what it needs beside the reply."""

    command: Command
    decode: Callable[..., T]
    about: tuple[Any, ...] = ()

    def result(self, reply: Any) -> T:
        return self.decode(*self.about, reply)


class Kind(NamedTuple, Generic[T]):
    """Hashes of one kind: where one of an id is at home, its key there, and what record is made of it."""

    home: Callable[[Site, Any], int]
    key: Callable[[int, Any], str]
    decode: Callable[[Any, dict[str, str]], T | None]


ARTICLES = Kind(Site.home_of_article, keys.article, records.article)
PROFILES = Kind(Site.home_of_user, keys.user, records.profile)


def hash_of(site: Site, kind: Kind[Any], id: Any) -> Read[dict[str, str]]:
    """A hash as it is stored; the kind knows how to decode it."""
    return Read(("HGETALL", kind.key(kind.home(site, id), id)), dict)


def cached(site: Site, kind: Kind[T], ids: Collection[Any], since: float) -> dict[Any, T]:
    """
    Those that this process knows as they were at an instant of the monotonic clock, or later. No round trip.

    Whoever began at that instant finds what is known of a partition once something was read of it since.
    """
    found: dict[Any, T] = {}
    for p, part, cache in _caches(site, kind, ids, since):
        found.update(cache.find(part, partial(kind.key, p), kind.decode))
    return found


def cached_votes(site: Site, numbers: Collection[int], voter: str, since: float) -> dict[int, Vote]:
    """As `cached`: one voter's votes on articles."""
    found: dict[int, Vote] = {}
    for _, part, cache in _caches(site, ARTICLES, numbers, since):
        found.update((number, CAST[vote]) for number, vote in cache.votes(part, voter).items())
    return found


def _caches(
    site: Site, kind: Kind[Any], ids: Collection[Any], since: float
) -> Iterator[tuple[int, Collection[Any], Cache]]:
    """Some ids by partition, each with what is known of its server, if that is as of an instant or later."""
    for p, part in _homes(site, kind, ids).items():
        if cache := site.connection.cache(kind.key(p, ""), since):
            yield p, part, cache


def _homes(site: Site, kind: Kind[Any], ids: Collection[Any]) -> Mapping[int, Collection[Any]]:
    if site.partitions == 1:
        return {0: ids}
    homes: defaultdict[int, list[Any]] = defaultdict(list)
    for id in ids:
        homes[kind.home(site, id)].append(id)
    return homes


def votes(site: Site, numbers: Sequence[int], voter: str) -> list[Read[dict[int, Vote]]]:
    """One voter's votes on articles, per partition."""
    return [
        Read(VOTES.command([keys.voted(p, ""), keys.downvoted(p, "")], voter, *part), _by_number, (tuple(part),))
        for p, part in _homes(site, ARTICLES, numbers).items()
        if part
    ]


def voters(site: Site, number: int) -> Read[list[str]]:
    """Everyone whose vote counts, up or down, by name."""
    p = site.home_of_article(number)
    return Read(("SUNION", keys.voted(p, number), keys.downvoted(p, number)), _by_name)


def groups(p: int) -> Read[list[str]]:
    return Read(("ZRANGE", keys.groups(p), 0, -1), list)


def _by_number(numbers: Sequence[int], reply: Sequence[int]) -> dict[int, Vote]:
    return {number: CAST[vote] for number, vote in zip(numbers, reply, strict=True)}


def _by_name(names: list[str]) -> list[str]:
    return sorted(names, key=str.lower)
