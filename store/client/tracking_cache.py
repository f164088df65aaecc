"""
Client-side cache of one connection, kept coherent by `CLIENT TRACKING` (RESP3, broadcast mode).

The server sends invalidations and replies on the same connection, in the order of events. When a reply arrives, the
cache is as fresh as a read at the instant when the command was sent, also if other processes write. It is emptied
when the connection is lost.

Why not redis-py: its asyncio client has no such cache.
"""

from collections.abc import Callable, Hashable, Iterator, Sequence
from dataclasses import dataclass
from sys import getsizeof
from typing import Any, NamedTuple, Protocol, TypeVar

from caches import POOL, Cache, CacheEntry, Pool
from store.client import Command

Id = TypeVar("Id", bound=Hashable)
T = TypeVar("T")
P = TypeVar("P", bound="ReplyCache")

DEFAULT_CACHED_KEYS = 10_000  # hashes of each server
MICROSECONDS = 15  # to read a hash in a pipeline with others, and to decode it
MAX_HASH_LENGTH = 4_000  # characters of the values of a hash that is cached
HASH_BYTES = 2_000  # of a hash or its record, beside the text of its fields


class ReplyCache(Protocol):
    """Caches replies of one kind, other than hashes, and gives them to readers in its own way."""

    prefixes: tuple[str, ...]  # of the keys that its replies depend on

    def add(self, command: Command, reply: list[Any]) -> bool:
        """Cache a reply; false if it is of another kind. Called inside `data_received`: it must not raise."""

    def discard(self, key: str) -> None:
        """Drop what depends on a key. The key may be any text that begins with a prefix."""

    def clear(self) -> None: ...


@dataclass(frozen=True, slots=True)
class CacheOptions:
    """What the cache of each connection holds. Each connection has new reply caches, in this pool."""

    max_hashes: int
    hash_prefixes: tuple[str, ...]  # of the keys of hashes that are cached
    reply_caches: tuple[Callable[[Pool], ReplyCache], ...] = ()
    pool: Pool = POOL


class TrackingCache:
    """The cache of one connection. `as_of` is the instant of the monotonic clock up to which all changes are known."""

    def __init__(self, options: CacheOptions) -> None:
        self.hashes = HashCache(options.pool, options.max_hashes)
        self.as_of = float("-inf")
        self.reply_caches = [make(options.pool) for make in options.reply_caches]
        self._options = options
        self._discards: dict[str, list[Callable[[str], None]]] = {}  # by what keys begin with
        for prefixes, discard in self._by_prefixes():
            for prefix in prefixes:
                self._discards.setdefault(prefix, []).append(discard)

    @property
    def size(self) -> int:
        return len(self.hashes)

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
                    return
        elif reply and command[0] == "HGETALL" and sum(map(len, reply.values())) <= MAX_HASH_LENGTH:
            key = str(command[1])
            if key.startswith(self._options.hash_prefixes):
                self.hashes.add(key, reply)

    def invalidate(self, keys: Sequence[str] | None) -> None:
        """Drop what depends on keys; None means all keys."""
        if keys is None:
            self.clear()
            return
        for key in keys:
            for discard in self._discards[key[: key.index("{") + 1]]:  # each prefix ends with its first brace
                discard(key)

    def _by_prefixes(self) -> Iterator[tuple[Sequence[str], Callable[[str], None]]]:
        """Prefixes of keys, and what drops what depends on such a key."""
        yield self._options.hash_prefixes, self.hashes.discard
        for cache in self.reply_caches:
            yield cache.prefixes, cache.discard

    def clear(self) -> None:
        self.hashes.clear()
        for cache in self.reply_caches:
            cache.clear()


class RecordPlace(NamedTuple):
    """Where a decoded hash is found: among the records of one decoder, by its id."""

    records: dict[Any, CacheEntry[str, Any]]
    id: Any


class HashCache:
    """
    The last used hashes of a server as they were read. A hash is decoded when it is first looked up; later the record
    is found by its id.
    """

    def __init__(self, pool: Pool, max_hashes: int) -> None:
        self._max_hashes = max_hashes
        self._cache: Cache[str, Any] = pool.cache("records", MICROSECONDS, self._forget)  # by key: a hash or its record
        self._records: dict[Callable[..., Any], dict[Any, CacheEntry[str, Any]]] = {}  # by their decoder, by id
        self._places: dict[str, RecordPlace] = {}  # by the key of the hash

    def __len__(self) -> int:
        return len(self._cache.entries)

    def find(self, ids: Sequence[Id], key: Callable[[Id], str], decode: Callable[[Id, Any], T]) -> list[T | None]:
        """The records of ids, None where nothing is cached. Each kind of record has a decoder and ids of its own."""
        records = self._records.setdefault(decode, {})
        found = list(map(records.get, ids))
        if not all(found):
            for place, id in enumerate(ids):
                found[place] = found[place] or self._decoded(records, id, key(id), decode)
        return self._cache.values_of(found)

    def add(self, key: str, fields: dict[str, str]) -> None:
        """Cache a hash, unless its record is cached already: readers share that record."""
        if key not in self._places:
            self._cache.put(key, fields, HASH_BYTES + sum(map(getsizeof, fields.values())))
            while len(self._cache.entries) > self._max_hashes:
                self._cache.lowest()  # ranks anew those entries that were found since they were last ranked
                self._cache.evict()

    def discard(self, key: str) -> None:
        if key in self._cache.entries:
            self._cache.discard(key)
            self._forget(key)

    def clear(self) -> None:
        self._cache.clear()
        self._records.clear()
        self._places.clear()

    def _decoded(
        self, records: dict[Id, CacheEntry[str, Any]], id: Id, key: str, decode: Callable[[Id, Any], T]
    ) -> CacheEntry[str, Any] | None:
        """Replace a hash by its record. None if nothing is cached, or a record of another kind."""
        entry = self._cache.entries.get(key)
        if entry is None or key in self._places:
            return None
        entry.value = decode(id, entry.value)
        records[id], self._places[key] = entry, RecordPlace(records, id)
        return entry

    def _forget(self, key: str, _: object = None) -> None:
        """Drop what finds the record of a key that is not cached any more."""
        if place := self._places.pop(key, None):
            del place.records[place.id]
