"""
What was read over a link, for as long as it is true.

The server tells of every change to these keys on the very link that is read over (CLIENT TRACKING, RESP3), in the order
in which things happen. So who has had a reply to anything that was sent over this link knows that all changes before
it have been heard, and what is found here then is what reading it again would give: no older, whoever wrote it and
through whatever process. The link's end is the end of what is kept here.
"""

import re
from collections.abc import Callable, Hashable, Iterable, Sequence
from sys import getsizeof
from typing import Any, TypeVar
from weakref import WeakSet

from hiredis import ReplyError

from caches import Usage
from store import keys
from store.client.retry import ELSEWHERE, kind
from store.records import VOTES_BY_VALUE, Vote

Id = TypeVar("Id", bound=Hashable)
T = TypeVar("T")

DEFAULT_CACHED_KEYS = 10_000  # keys of each server, unless told otherwise
LONGEST = 4_000  # characters of a hash that is worth keeping
MAX_CACHED_VOTERS = 200  # names, of whom it is worth keeping
ROOM = 24_000_000  # bytes of all caches of a store, unless told otherwise
HASH = 2_000  # bytes of a hash, or of the record that was made of it, beside the text of its fields
VOTE, VOTER, VOTED, NAMED = 200, 400, 300, 300  # bytes of a vote or a name, of a voter, of an article with either
VOTES_PART = 3  # of the room, votes and voters take at most one such part
NOTHING: dict[int, Vote] = {}
ARTICLE_NUMBER = re.compile(r"[0-9]{1,16}")


class TrackingCaches:
    """The bytes that the caches of a store, one for each server, may hold together."""

    def __init__(self, capacity: int = ROOM) -> None:
        self.capacity = capacity
        self.evictions = 0
        self.caches: WeakSet[TrackingCache] = WeakSet()

    @property
    def usage(self) -> Usage:
        return Usage(self.held(), sum(cache.size for cache in self.caches), self.evictions)

    def held(self) -> int:
        return sum([cache.hash_bytes + cache.vote_bytes for cache in self.caches])

    def is_full(self) -> bool:
        return self.held() > self.capacity

    def is_full_of_votes(self) -> bool:
        return sum([cache.vote_bytes for cache in self.caches]) > self.capacity // VOTES_PART


class TrackingCache:
    """
    Hashes of some kinds, of at most so many keys and within the bytes of a room: as they were read, then as the records
    that were made of them. And votes as a script told them, and the voters of articles that have few, ten times as
    many.

    `as_of` is the instant of the monotonic clock up to which all changes have been heard, `telling` the digest of the
    script that tells a voter's votes on articles.
    """

    def __init__(self, most: int, telling: str = "", room: TrackingCaches | None = None) -> None:
        self._room = room or TrackingCaches()
        self._room.caches.add(self)
        self._sizes: dict[str, int] = {}  # of hashes and records in bytes, by key
        self.hash_bytes = 0
        self.as_of = float("-inf")
        self._most = most
        self._telling = telling
        self._votes: dict[str, dict[int, Vote]] = {}  # by voter, by article
        self._voters: dict[int, set[str]] = {}  # of which articles
        self._names: dict[int, list[str]] = {}  # all voters of which articles
        self._votes_kept = 0
        self._hashes: dict[str, dict[str, str]] = {}  # by key
        self._records: dict[Any, Any] = {}  # by id
        self._ids: dict[str, Any] = {}  # of the records, by key

    @property
    def size(self) -> int:
        return len(self._hashes) + len(self._records)

    @property
    def vote_bytes(self) -> int:
        voters = VOTER * len(self._votes)
        return VOTE * self._votes_kept + voters + VOTED * len(self._voters) + NAMED * len(self._names)

    def begin(self) -> tuple[str, ...]:
        """The command that makes the server tell of changes."""
        prefixes = [word for prefix in (*keys.CACHED, *keys.CACHED_VOTES) for word in ("PREFIX", prefix)]
        return ("CLIENT", "TRACKING", "ON", "BCAST", *prefixes)

    def find(self, ids: Sequence[Id], key: Callable[[Id], str], decode: Callable[[Id, Any], T]) -> list[T | None]:
        """
        The records of ids, None where nothing is known.

        One is made of a hash when it is wanted for the first time.
        """
        found: list[T | None] = list(map(self._records.get, ids))
        if not all(found):
            for place, id in enumerate(ids):
                if found[place] is None and (stored := self._hashes.pop(key(id), None)):
                    self._records[id] = found[place] = decode(id, stored)
                    self._ids[key(id)] = id
        return found

    def votes(self, numbers: Sequence[int], voter: str) -> list[Vote | None]:
        """A voter's votes on articles, None where nothing is known."""
        return list(map(self._votes.get(voter, NOTHING).get, numbers))

    def voters(self, numbers: Sequence[int]) -> list[list[str] | None]:
        """All voters of articles, in any order, None where nothing is known."""
        return list(map(self._names.get, numbers))

    def replied(self, command: Sequence[Any], reply: dict[str, str] | list[Any] | ReplyError) -> None:
        """
        Keep a hash, unless it is long, votes, and voters, unless they are many.

        Forget all where the server says that others are to be asked.
        """
        if isinstance(reply, ReplyError):
            if kind(reply) in ELSEWHERE:
                self.changed(None)
        elif isinstance(reply, list):
            if command[1] == self._telling:
                _, _, _, _, _, voter, *numbers = command
                self._keep_votes(voter, zip(numbers, reply, strict=True))
            elif command[0] == "SUNION" and 0 < len(reply) <= MAX_CACHED_VOTERS:
                self._keep_voters(number_of(str(command[1])), reply)
        elif reply and command[0] == "HGETALL" and sum(map(len, reply.values())) <= LONGEST:
            key = str(command[1])
            if key.startswith(keys.CACHED) and key not in self._ids:
                self._keep_hash(key, reply)

    def changed(self, names: Sequence[str] | None) -> None:
        """Forget these keys; None means all there are."""
        if names is None:
            self._hashes.clear()
            self._records.clear()
            self._ids.clear()
            self._sizes.clear()
            self.hash_bytes = 0
            self._forget_votes()
            return
        for name in names:
            if name.startswith(keys.CACHED_VOTES):
                self._forget_votes_on(number_of(name))
            self._hashes.pop(name, None)
            self.hash_bytes -= self._sizes.pop(name, 0)
            if name in self._ids:
                del self._records[self._ids.pop(name)]

    def _keep_hash(self, key: str, fields: dict[str, str]) -> None:
        self._make_room()
        size = HASH + sum(map(getsizeof, fields.values()))
        self.hash_bytes += size - self._sizes.get(key, 0)
        self._sizes[key] = size
        self._hashes[key] = fields
        while self._sizes and self._room.is_full():
            self._evict()

    def _keep_voters(self, number: int, names: list[str]) -> None:
        self._make_room_for_votes()
        self._votes_kept += len(names) - len(self._names.get(number, ()))
        self._names[number] = names

    def _keep_votes(self, voter: str, votes: Iterable[tuple[int, int]]) -> None:
        self._make_room_for_votes()
        known = self._votes.setdefault(voter, {})
        before = len(known)
        for number, vote in votes:
            known[number] = VOTES_BY_VALUE[vote]
            self._voters.setdefault(number, set()).add(voter)
        self._votes_kept += len(known) - before

    def _forget_votes_on(self, number: int) -> None:
        self._votes_kept -= len(self._names.pop(number, ()))
        for voter in self._voters.pop(number, ()):
            known = self._votes[voter]
            del known[number]
            self._votes_kept -= 1
            if not known:
                del self._votes[voter]

    def _make_room_for_votes(self) -> None:
        if self._votes_kept > 10 * self._most or self._room.is_full_of_votes():
            self._room.evictions += self._votes_kept
            self._forget_votes()

    def _forget_votes(self) -> None:
        self._votes.clear()
        self._voters.clear()
        self._names.clear()
        self._votes_kept = 0

    def _make_room(self) -> None:
        if self.size >= self._most:
            self._evict()

    def _evict(self) -> None:
        """Of those that were kept, drop the oldest."""
        self._room.evictions += 1
        self.changed([next(iter(self._ids or self._hashes))])


def number_of(key: str) -> int:
    """The number of the article that a key is about; 0, which no article has, for keys of others."""
    number = key.rpartition(":")[2]
    return int(number) if ARTICLE_NUMBER.fullmatch(number) else 0
