"""Everything that is read by id: the command to send, and what its reply means; or what is known without sending it."""

from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from sys import getsizeof
from typing import Any, Generic, NamedTuple, TypeVar

from caches import shared_cache
from store import keys, records
from store.client.commands import Command
from store.client.tracking_cache import MAX_CACHED_VOTERS, TrackingCache
from store.records import VOTES_BY_VALUE, Vote
from store.scripts.registry import VOTER_VOTES
from store.site import Site

T = TypeVar("T")

LONG_AGO = float("-inf")
SORTED = shared_cache("names")


class Read(NamedTuple, Generic[T]):
    """Equal reads are the same read: `decode` is a function of a module, `about` what it needs beside the reply."""

    command: Command
    decode: Callable[..., T]
    about: tuple[Any, ...] = ()

    def result(self, reply: Any) -> T:
        return self.decode(*self.about, reply)


class RecordType(NamedTuple, Generic[T]):
    """Hashes of one kind: where one of an id is at home, its key there, and what record is made of it."""

    home: Callable[[Site, Any], int]
    key: Callable[[int, Any], str]
    decode: Callable[[Any, dict[str, str]], T | None]


ARTICLES = RecordType(Site.home_of_article, keys.article, records.article)
PROFILES = RecordType(Site.home_of_user, keys.user, records.profile)


def hash_of(site: Site, kind: RecordType[Any], id: Any) -> Read[dict[str, str]]:
    """A hash as it is stored; the kind knows how to decode it."""
    return Read(("HGETALL", kind.key(kind.home(site, id), id)), dict)


def cached(site: Site, kind: RecordType[T], ids: Sequence[Any], since: float = LONG_AGO) -> list[T | None]:
    """
    What this process knows of ids as it was at an instant of the monotonic clock, or later. No round trip.

    Whoever began at that instant finds what is known of a partition once something was read of it since. Without an
    instant it may be out of date.
    """
    return _cached(site, kind, ids, since, lambda cache, p, part: cache.find(part, partial(kind.key, p), kind.decode))


def cached_votes(site: Site, numbers: Sequence[int], voter: str, since: float) -> list[Vote | None]:
    """As `cached`: one voter's votes on articles."""
    return _cached(site, ARTICLES, numbers, since, lambda cache, p, part: cache.votes(part, voter))


def cached_voters(site: Site, numbers: Sequence[int], since: float) -> list[tuple[str, ...] | None]:
    """As `cached`: everyone whose vote on articles counts, by name."""
    known = _cached(site, ARTICLES, numbers, since, lambda cache, p, part: cache.voters(part))
    return [_by_name(names) if names else None for names in known]


def _cached(
    site: Site,
    kind: RecordType[Any],
    ids: Sequence[Any],
    since: float,
    find: Callable[[TrackingCache, int, Sequence[Any]], list[T | None]],
) -> list[T | None]:
    """What is found of ids in what is known of the servers of their partitions as of an instant or later."""
    found: dict[Any, T | None] = {}
    for p, part in _homes(site, kind, ids).items():
        cache = site.redis.cache(kind.key(p, ""), since)
        known: list[T | None] = find(cache, p, part) if cache else [None] * len(part)
        if part is ids:
            return known
        found.update(zip(part, known, strict=True))
    return list(map(found.get, ids))


def _homes(site: Site, kind: RecordType[Any], ids: Sequence[Any]) -> Mapping[int, Sequence[Any]]:
    if site.partitions == 1:
        return {0: ids}
    homes: defaultdict[int, list[Any]] = defaultdict(list)
    for id in ids:
        homes[kind.home(site, id)].append(id)
    return homes


def votes(site: Site, numbers: Sequence[int], voter: str) -> list[Read[dict[int, Vote]]]:
    """One voter's votes on articles, per partition."""
    return [
        Read(VOTER_VOTES.command([keys.voted(p, ""), keys.downvoted(p, "")], voter, *part), _by_number, (tuple(part),))
        for p, part in _homes(site, ARTICLES, numbers).items()
        if part
    ]


def voters(site: Site, number: int) -> Read[tuple[str, ...]]:
    """Everyone whose vote counts, up or down, by name."""
    p = site.home_of_article(number)
    return Read(("SUNION", keys.voted(p, number), keys.downvoted(p, number)), _by_name)


def groups(p: int) -> Read[list[str]]:
    return Read(("ZRANGE", keys.groups(p), 0, -1), list)


def _by_number(numbers: Sequence[int], reply: Sequence[int]) -> dict[int, Vote]:
    return {number: VOTES_BY_VALUE[vote] for number, vote in zip(numbers, reply, strict=True)}


def _by_name(names: list[str]) -> tuple[str, ...]:
    """Those of few come again as they came before: they are the same object, which what was made of it is found by."""
    if len(names) > MAX_CACHED_VOTERS:
        return _sorted(names)
    given = tuple(names)
    known: tuple[str, ...] | None = SORTED.get(given)
    if known is None:
        known = _sorted(given)
        SORTED.put(given, known, sum(map(getsizeof, given)) + getsizeof(given) + getsizeof(known))
    return known


def _sorted(names: Sequence[str]) -> tuple[str, ...]:
    return tuple(sorted(names, key=str.lower))
