"""
Caches of one process, limited together to a number of bytes.

`SizedCache` is for large entries: it evicts by their sizes. `memo` is for small results, whose entries have a known
largest size. `CacheBudget` divides the bytes of a process between them.
"""

from collections import OrderedDict
from collections.abc import Callable, Hashable
from functools import lru_cache
from typing import Any, Generic, NamedTuple, ParamSpec, Protocol, TypeVar

K = TypeVar("K", bound=Hashable)
V = TypeVar("V")
P = ParamSpec("P")
R = TypeVar("R")

ENTRY_BYTES = 250  # of an entry, beside its key and value: its slot in the dict, a list node, a tuple, its size
MEGABYTE = 1024 * 1024

# How the bytes that are left beside the memos are divided, in percent.
SHARES = {
    "operations": 29,
    "requests": 6,
    "documents": 5,
    "templates": 19,
    "records": 20,
    "pages": 7,
    "places": 2,
    "names": 2,
    "buckets": 4,
    "html": 4,
    "sitemaps": 2,
}


class Usage(NamedTuple):
    """What a cache holds now, and how many entries it has evicted to stay within its share."""

    bytes: int
    entries: int
    evictions: int


class Measured(Protocol):
    @property
    def usage(self) -> Usage: ...


class SizedCache(Generic[K, V]):
    """An LRU cache, limited by the total size of its entries. The caller gives the size of each entry in bytes."""

    def __init__(self, capacity: int) -> None:
        self.capacity = capacity
        self._size = 0
        self._evictions = 0
        self._entries: OrderedDict[K, tuple[V, int]] = OrderedDict()

    @property
    def usage(self) -> Usage:
        return Usage(self._size, len(self._entries), self._evictions)

    def get(self, key: K) -> V | None:
        entry = self._entries.get(key)
        if entry is None:
            return None
        self._entries.move_to_end(key)
        return entry[0]

    def put(self, key: K, value: V, size: int) -> None:
        """Cache a value, in place of an older one. A value that is larger than the whole cache is not cached."""
        entry = value, size + ENTRY_BYTES
        known = self._entries.setdefault(key, entry)
        if known is not entry:
            self._entries[key] = entry
            self._size -= known[1]
        self._size += entry[1]
        if entry[1] > self.capacity:
            self.discard(key)
        self._make_room()

    def grow(self, key: K, value: V, more: int) -> None:
        """Add `more` bytes to the size of an entry, if it still has this value. Then it may be evicted."""
        entry = self._entries.get(key)
        if entry is not None and entry[0] is value:
            self._entries[key] = value, entry[1] + more
            self._size += more
            self._make_room()

    def discard(self, key: K) -> None:
        entry = self._entries.pop(key, None)
        if entry is not None:
            self._size -= entry[1]

    def resize(self, capacity: int) -> None:
        self.capacity = capacity
        self._make_room()

    def clear(self) -> None:
        self._entries.clear()
        self._size = 0

    def _make_room(self) -> None:
        while self._size > self.capacity:
            _, (_, freed) = self._entries.popitem(last=False)
            self._size -= freed
            self._evictions += 1

    def __contains__(self, key: K) -> bool:
        return key in self._entries

    def __len__(self) -> int:
        return len(self._entries)


class Hashed:
    """A tuple as a key whose hash is computed once: large tuples are hashed again for each access to a dict."""

    __slots__ = ("_hash", "value")

    def __init__(self, *value: Any) -> None:
        self.value = value
        self._hash = hash(value)

    def __hash__(self) -> int:
        return self._hash

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Hashed) and self.value == other.value


class Memo(NamedTuple):
    """A memoised function. Each of its entries holds at most `entry_bytes`."""

    function: Any  # what `lru_cache` returns
    entry_bytes: int

    @property
    def max_bytes(self) -> int:
        return int(self.function.cache_info().maxsize) * self.entry_bytes

    @property
    def usage(self) -> Usage:
        _, misses, _, entries = self.function.cache_info()
        return Usage(entries * self.entry_bytes, entries, misses - entries)


MEMOS: dict[str, Memo] = {}
SHARED: dict[str, SizedCache[Any, Any]] = {}  # those of the whole process, by the name of their share


def memo(entries: int, entry_bytes: int) -> Callable[[Callable[P, R]], Callable[P, R]]:
    """
    Memoise a function for the arguments of its most recent calls.

    The caller makes sure that no key and no result is larger than `entry_bytes`: what clients send is checked before.
    """

    def decorate(function: Callable[P, R]) -> Callable[P, R]:
        memoised: Any = lru_cache(entries)(function)
        MEMOS[f"{function.__module__}.{function.__qualname__}".replace("._", ".")] = Memo(memoised, entry_bytes)
        return memoised  # type: ignore[no-any-return]  # it is called as the function is

    return decorate


def shared_cache(name: str) -> SizedCache[Any, Any]:
    """The cache of the process that has this share. Its capacity is that of the last budget."""
    return SHARED.setdefault(name, SizedCache(CacheBudget().share(name)))


class CacheBudget:
    """
    Divides the bytes that the caches of a process may hold.

    What memos may hold is fixed and subtracted first; each other cache has a share of the rest.
    """

    def __init__(self, megabytes: int = 128) -> None:
        self.total = megabytes * MEGABYTE
        self.measured: dict[str, Measured] = {}

    def share(self, name: str) -> int:
        """The bytes that the caches of this name may hold together."""
        return (self.total - sum(memo.max_bytes for memo in MEMOS.values())) * SHARES[name] // 100

    def cache(self, name: str) -> SizedCache[Any, Any]:
        """A new cache that has this share."""
        cache: SizedCache[Any, Any] = SizedCache(self.share(name))
        self.measure(name, cache)
        return cache

    def measure(self, name: str, cache: Measured) -> None:
        """Count what a cache holds under the name of its share."""
        self.measured[name] = cache

    def apply(self) -> None:
        """Give the caches that are shared by the whole process their shares of this budget."""
        for name, cache in SHARED.items():
            cache.resize(self.share(name))

    def usages(self) -> dict[str, Usage]:
        """By the name of the cache; all memos are one."""
        memos = [memo.usage for memo in MEMOS.values()]
        usages = {name: cache.usage for name, cache in (self.measured | SHARED).items()}
        usages["memos"] = Usage(*(sum(numbers) for numbers in zip(*memos, strict=True))) if memos else Usage(0, 0, 0)
        return usages
