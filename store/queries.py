"""
Reads by id: the command to send and how to decode its reply, or the value in a client-side cache. A partition is a
share of the data, all on one server; an id says in which one a record is.
"""

import re
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from sys import getsizeof
from typing import Any, Generic, NamedTuple, TypeVar

from caches import POOL, Cache, Pool
from store import keys, moderation_records, records
from store.client import Command
from store.client.tracking_cache import TrackingCache
from store.records import VOTES_BY_VALUE, Vote
from store.scripts.registry import Script
from store.site import Site

VOTER_VOTES = Script("voter_votes")

T = TypeVar("T")

ANY_TIME = float("-inf")  # an instant before all others
SORTED_NAMES = POOL.cache("names", microseconds=4)  # to sort them
MAX_CACHED_VOTERS = 200  # of an article: longer lists are not cached
NUMBER_IN_KEY = re.compile(r"[0-9]{1,16}")
# What `caches` needs to choose the entries that it evicts: the time to make a value again, and its bytes.
VOTES_MICROSECONDS = 200  # to read and decode the votes of a voter on a page
VOTERS_MICROSECONDS = 20  # to read and decode the voters of an article
VOTE_BYTES = 400  # with the article by which it is found, if no other vote on it is cached
VOTER_BYTES = 350  # of a voter, beside the votes
VOTED_ARTICLE_BYTES = 200  # of an article, beside the names of its voters
NAME_BYTES = 110  # of the name of a voter
NO_VOTES: dict[int, Vote] = {}


class Read(NamedTuple, Generic[T]):
    """
    A command, and how to decode its reply: `decode(*context, reply)`.

    Equal reads are sent once, so `decode` is a module-level function and not a closure.
    """

    command: Command
    decode: Callable[..., T]
    context: tuple[Any, ...] = ()

    def result(self, reply: Any) -> T:
        return self.decode(*self.context, reply)


class RecordType(NamedTuple, Generic[T]):
    """A kind of record: the partition of an id, its key in a partition, and how to decode its hash."""

    partition_of: Callable[[Site, Any], int]
    key: Callable[[int, Any], str]
    decode: Callable[[Any, dict[str, str]], T | None]


ARTICLES = RecordType(Site.partition_of_article, keys.article.text, records.article)
COMMENTS = RecordType(Site.partition_of_article, keys.comment.text, records.comment)
ACTIONS = RecordType(Site.partition_of_article, keys.action.text, moderation_records.moderation_action)
PROFILES = RecordType(Site.partition_of_user, keys.user.text, records.profile)
GROUP_DESCRIPTIONS = RecordType(Site.partition_of_group, keys.place.text, records.group_description)


def hash_of(site: Site, kind: RecordType[Any], id: Any) -> Read[dict[str, str]]:
    """The read of a hash, not decoded."""
    return Read(("HGETALL", kind.key(kind.partition_of(site, id), id)), dict)


def cached(site: Site, kind: RecordType[T], ids: Sequence[Any], since: float = ANY_TIME) -> list[T | None]:
    """
    Records from the client-side cache, None for each id that is not cached. No round trip.

    They are at least as new as `since`, an instant of the monotonic clock: nothing is returned for a partition until
    something was read from its server after that instant. Without `since` they may be out of date.
    """
    return _cached(
        site,
        kind,
        ids,
        since,
        lambda cache, partition, part: cache.hashes.find(part, partial(kind.key, partition), kind.decode),
    )


def cached_votes(site: Site, numbers: Sequence[int], voter: str, since: float) -> list[Vote | None]:
    """Like `cached`: the votes of one voter on articles."""
    return _cached(
        site, ARTICLES, numbers, since, lambda cache, partition, part: cache.replies(VoteCache).find(part, voter)
    )


def cached_voters(site: Site, numbers: Sequence[int], since: float) -> list[tuple[str, ...] | None]:
    """Like `cached`: the sorted names of those who voted each article up."""
    known = _cached(site, ARTICLES, numbers, since, lambda cache, partition, part: cache.replies(VoterCache).find(part))
    return [_by_name(names) if names else None for names in known]


def _cached(
    site: Site,
    kind: RecordType[Any],
    ids: Sequence[Any],
    since: float,
    find: Callable[[TrackingCache, int, Sequence[Any]], list[T | None]],
) -> list[T | None]:
    """Look up ids in the cache of the server of each partition."""
    if site.partitions == 1:
        cache = site.redis.cache(kind.key(0, ""), since)
        return find(cache, 0, ids) if cache else [None] * len(ids)
    found: dict[Any, T | None] = {}
    for partition, part in _by_partition(site, kind, ids).items():
        cache = site.redis.cache(kind.key(partition, ""), since)
        known: list[T | None] = find(cache, partition, part) if cache else [None] * len(part)
        found.update(zip(part, known, strict=True))
    return list(map(found.get, ids))


def _by_partition(site: Site, kind: RecordType[Any], ids: Sequence[Any]) -> Mapping[int, Sequence[Any]]:
    if site.partitions == 1:
        return {0: ids}
    found: defaultdict[int, list[Any]] = defaultdict(list)
    for id in ids:
        found[kind.partition_of(site, id)].append(id)
    return found


def votes(site: Site, numbers: Sequence[int], voter: str) -> list[Read[dict[int, Vote]]]:
    """The votes of one voter on articles: one read for each partition."""
    return [
        Read(VOTER_VOTES.command(_vote_keys(partition), voter, *part), _by_number, (tuple(part),))
        for partition, part in _by_partition(site, ARTICLES, numbers).items()
        if part
    ]


def _vote_keys(partition: int) -> list[str]:
    """What the keys of votes begin with in a partition. The script adds the number of each article."""
    return [keys.voted(partition, ""), keys.downvoted(partition, ""), keys.annulled(partition, "")]


def voters(site: Site, number: int) -> Read[tuple[str, ...]]:
    """The sorted names of those who voted an article up. Empty once voting is closed."""
    return Read(("SMEMBERS", keys.voted(site.partition_of_article(number), number)), _by_name)


def groups(partition: int) -> Read[list[str]]:
    """The groups that have articles in a partition, and the listed ones whose place is there."""
    return Read(("ZRANGE", keys.groups(partition), 0, -1), list)


def _by_number(numbers: Sequence[int], reply: Sequence[int]) -> dict[int, Vote]:
    return {number: VOTES_BY_VALUE[vote] for number, vote in zip(numbers, reply, strict=True)}


def _by_name(names: list[str]) -> tuple[str, ...]:
    """
    The names sorted. Short lists are interned: equal ones give the same tuple, under which results are memoised.
    """
    if len(names) > MAX_CACHED_VOTERS:
        return _sorted(names)
    given = tuple(names)
    known: tuple[str, ...] | None = SORTED_NAMES.get(given)
    if known is None:
        known = _sorted(given)
        SORTED_NAMES.put(given, known, sum(map(getsizeof, given)) + getsizeof(given) + getsizeof(known))
    return known


def _sorted(names: Sequence[str]) -> tuple[str, ...]:
    return tuple(sorted(names, key=str.lower))


class VoteCache:
    """Votes of single voters, from the replies of `voter_votes.lua`."""

    prefixes: tuple[str, ...] = keys.CACHED_VOTES

    def __init__(self, pool: Pool = POOL) -> None:
        self._votes: Cache[str, dict[int, Vote]] = pool.cache("votes", VOTES_MICROSECONDS, self._forget)  # by voter
        self._voters: dict[int, set[str]] = {}  # by article: whose votes on it are cached

    def find(self, numbers: Sequence[int], voter: str) -> list[Vote | None]:
        """A voter's votes on articles, None where nothing is cached."""
        return list(map((self._votes.get(voter) or NO_VOTES).get, numbers))

    def add(self, command: Command, reply: list[Any]) -> bool:
        if command[0] != "EVALSHA" or command[1] != VOTER_VOTES.digest:
            return False
        voter, *numbers = command[6:]  # after EVALSHA, the digest, the number of keys, and three keys
        self._add(
            str(voter), {int(number): VOTES_BY_VALUE[value] for number, value in zip(numbers, reply, strict=True)}
        )
        return True

    def _add(self, voter: str, votes: dict[int, Vote]) -> None:
        entry = self._votes.entries.get(voter)
        known = entry.value if entry else {}
        new = votes.keys() - known.keys()
        known.update(votes)
        for number in new:
            self._voters.setdefault(number, set()).add(voter)
        if entry:
            self._votes.grow(voter, known, VOTE_BYTES * len(new))
        else:
            self._votes.put(voter, known, VOTER_BYTES + VOTE_BYTES * len(new))

    def discard(self, key: str) -> None:
        number = article_of(key)
        for voter in self._voters.pop(number, ()):
            votes = self._votes.entries[voter].value
            del votes[number]
            self._votes.grow(voter, votes, -VOTE_BYTES)
            if not votes:
                self._votes.discard(voter)

    def clear(self) -> None:
        self._votes.clear()
        self._voters.clear()

    def _forget(self, voter: str, votes: dict[int, Vote]) -> None:
        """Drop what finds the votes of a voter whose votes are not cached any more."""
        for number in votes:
            voters = self._voters.get(number, set())
            voters.discard(voter)
            if not voters:
                self._voters.pop(number, None)


class VoterCache:
    """Those who voted articles up, of articles that have few, from the replies of SMEMBERS."""

    prefixes: tuple[str, ...] = keys.CACHED_VOTERS

    def __init__(self, pool: Pool = POOL) -> None:
        self._voters: Cache[int, list[str]] = pool.cache("voters", VOTERS_MICROSECONDS)  # by article

    def find(self, numbers: Sequence[int]) -> list[list[str] | None]:
        """Those who voted each article up, in any order, None where nothing is cached."""
        return self._voters.get_all(numbers)

    def add(self, command: Command, reply: list[Any]) -> bool:
        if command[0] != "SMEMBERS":
            return False
        key = str(command[1])
        if not key.startswith(self.prefixes) or not 0 < len(reply) <= MAX_CACHED_VOTERS:
            return False
        self._voters.put(article_of(key), reply, VOTED_ARTICLE_BYTES + NAME_BYTES * len(reply))
        return True

    def discard(self, key: str) -> None:
        self._voters.discard(article_of(key))

    def clear(self) -> None:
        self._voters.clear()


def article_of(key: str) -> int:
    """The number of the article that a key is about; 0, which no article has, for keys of other programs."""
    number = key.rpartition(":")[2]
    return int(number) if NUMBER_IN_KEY.fullmatch(number) else 0
