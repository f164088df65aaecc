"""
Client-side cache of one connection, kept coherent by `CLIENT TRACKING` (RESP3, broadcast mode).

The server sends invalidations and replies on the same connection, in the order of events. When a reply arrives, the
cache is as fresh as a read at the instant when the command was sent, also if other processes write. It is emptied
when the connection is lost.

Why not redis-py: its asyncio client has no such cache.
"""

from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass, field
from sys import getsizeof
from typing import Any, Protocol, TypeVar
from weakref import WeakSet

from caches import Usage
from store.client import Command

Id = TypeVar("Id", bound=Hashable)
T = TypeVar("T")
P = TypeVar("P", bound="ReplyCache")

DEFAULT_CACHED_KEYS = 10_000  # hashes of each server
DEFAULT_CAPACITY = 24_000_000  # bytes of all caches of a client
MAX_HASH_LENGTH = 4_000  # characters of the values of a hash that is cached
HASH_BYTES = 2_000  # of a hash or its record, beside the text of its fields
REPLIES_PER_HASH = 10  # entries of reply caches, for each hash that may be cached
REPLIES_SHARE = 3  # reply caches hold at most a third of the bytes


class ReplyCache(Protocol):
    """Caches replies of one kind, other than hashes, and gives them to readers in its own way."""

    prefixes: tuple[str, ...]  # of the keys that its replies depend on
    entries: int

    @property
    def bytes(self) -> int: ...

    def add(self, command: Command, reply: list[Any]) -> bool:
        """Cache a reply; false if it is of another kind. Called inside `data_received`: it must not raise."""

    def discard(self, key: str) -> None:
        """Drop what depends on a key. The key may be any text that begins with a prefix."""

    def clear(self) -> None: ...


class TrackingCaches:
    """The caches of all connections of a client, and the bytes that they may hold together."""

    def __init__(self, capacity: int = DEFAULT_CAPACITY) -> None:
        self.capacity = capacity
        self.evictions = 0
        self.caches: WeakSet[TrackingCache] = WeakSet()

    @property
    def usage(self) -> Usage:
        return Usage(self._bytes(), sum(cache.size for cache in self.caches), self.evictions)

    def is_full(self) -> bool:
        return self._bytes() > self.capacity

    def is_full_of_replies(self) -> bool:
        return sum([cache.reply_bytes for cache in self.caches]) > self.capacity // REPLIES_SHARE

    def _bytes(self) -> int:
        return sum([part.bytes for cache in self.caches for part in cache.parts])


@dataclass(frozen=True, slots=True)
class CacheOptions:
    """What the cache of each connection holds. Each connection has new reply caches."""

    max_hashes: int
    hash_prefixes: tuple[str, ...]  # of the keys of hashes that are cached
    reply_caches: tuple[Callable[[], ReplyCache], ...] = ()
    caches: TrackingCaches = field(default_factory=TrackingCaches)


class TrackingCache:
    """`as_of` is the instant of the monotonic clock up to which all changes are known."""

    def __init__(self, options: CacheOptions) -> None:
        self.hashes = HashCache()
        self.as_of = float("-inf")
        self.reply_caches = [make() for make in options.reply_caches]
        self.parts: tuple[HashCache | ReplyCache, ...] = (self.hashes, *self.reply_caches)
        self._options = options
        options.caches.caches.add(self)

    @property
    def size(self) -> int:
        return len(self.hashes)

    @property
    def reply_bytes(self) -> int:
        return sum([cache.bytes for cache in self.reply_caches])

    def replies(self, kind: type[P]) -> P:
        """The reply cache of a class."""
        for cache in self.reply_caches:
            if type(cache) is kind:
                return cache
        raise LookupError(kind)

    def start_command(self) -> Command:
        """The command that starts invalidations. The server refuses duplicate prefixes."""
        prefixes = [*self._options.hash_prefixes, *(prefix for cache in self.reply_caches for prefix in cache.prefixes)]
        words = [word for prefix in dict.fromkeys(prefixes) for word in ("PREFIX", prefix)]
        return ("CLIENT", "TRACKING", "ON", "BCAST", *words)

    def handle_reply(self, command: Command, reply: dict[str, str] | list[Any]) -> None:
        """Cache the reply if it is a short hash, or of a kind that a reply cache takes."""
        if isinstance(reply, list):
            for cache in self.reply_caches:
                if cache.add(command, reply):
                    self._limit_replies()
                    return
        elif reply and command[0] == "HGETALL" and sum(map(len, reply.values())) <= MAX_HASH_LENGTH:
            key = str(command[1])
            if key.startswith(self._options.hash_prefixes):
                self._add_hash(key, reply)

    def invalidate(self, keys: Sequence[str] | None) -> None:
        """Drop what depends on keys; None means all keys."""
        if keys is None:
            self.clear()
            return
        for key in keys:
            self.hashes.discard(key)
            for cache in self.reply_caches:
                if key.startswith(cache.prefixes):
                    cache.discard(key)

    def clear(self) -> None:
        self.hashes.clear()
        for cache in self.reply_caches:
            cache.clear()

    def _add_hash(self, key: str, fields: dict[str, str]) -> None:
        if not self.hashes.add(key, fields):
            return
        caches, limit = self._options.caches, self._options.max_hashes
        while len(self.hashes) > limit or (len(self.hashes) and caches.is_full()):
            self.hashes.discard_oldest()
            caches.evictions += 1

    def _limit_replies(self) -> None:
        entries = sum([cache.entries for cache in self.reply_caches])
        if entries > REPLIES_PER_HASH * self._options.max_hashes or self._options.caches.is_full_of_replies():
            self._options.caches.evictions += entries
            for cache in self.reply_caches:
                cache.clear()


@dataclass(slots=True)
class CachedHash:
    """A hash until it is decoded; then the id of its record, and the records of this kind."""

    bytes: int
    fields: dict[str, str] | None
    id: Any = None
    records: dict[Any, Any] | None = None


class HashCache:
    """Hashes as they were read. A hash is decoded when it is first looked up; later the record is found by its id."""

    def __init__(self) -> None:
        self.bytes = 0
        self._hashes: dict[str, CachedHash] = {}  # by key, the oldest first
        self._records: dict[Callable[..., Any], dict[Any, Any]] = {}  # by their decoder, by id

    def __len__(self) -> int:
        return len(self._hashes)

    def find(self, ids: Sequence[Id], key: Callable[[Id], str], decode: Callable[[Id, Any], T]) -> list[T | None]:
        """The records of ids, None where nothing is cached. Each kind of record has a decoder and ids of its own."""
        records = self._records.setdefault(decode, {})
        found: list[T | None] = list(map(records.get, ids))
        if not all(found):
            for place, id in enumerate(ids):
                if found[place] is None and (cached := self._hashes.get(key(id))) and cached.fields:
                    records[id] = found[place] = decode(id, cached.fields)
                    cached.id, cached.records, cached.fields = id, records, None
        return found

    def add(self, key: str, fields: dict[str, str]) -> bool:
        """Cache a hash; false if its record is cached already: readers share that record."""
        known = self._hashes.get(key)
        if known and known.fields is None:
            return False
        size = HASH_BYTES + sum(map(getsizeof, fields.values()))
        self.bytes += size - (known.bytes if known else 0)
        self._hashes[key] = CachedHash(size, fields)
        return True

    def discard(self, key: str) -> None:
        cached = self._hashes.pop(key, None)
        if cached:
            self.bytes -= cached.bytes
            if cached.records is not None:
                del cached.records[cached.id]

    def discard_oldest(self) -> None:
        self.discard(next(iter(self._hashes)))

    def clear(self) -> None:
        self._hashes.clear()
        self._records.clear()
        self.bytes = 0
