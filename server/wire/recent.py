"""A cache that is bounded by the size of what it keeps, not by the number of its entries."""

from collections import OrderedDict
from typing import Generic, TypeVar

K = TypeVar("K")
V = TypeVar("V")


class Recent(Generic[K, V]):
    """Keeps what was used last, up to a total size; the sizes are given by the caller."""

    def __init__(self, capacity: int) -> None:
        self._capacity = capacity
        self._size = 0
        self._entries: OrderedDict[K, tuple[V, int]] = OrderedDict()

    def get(self, key: K) -> V | None:
        entry = self._entries.get(key)
        if entry is None:
            return None
        self._entries.move_to_end(key)
        return entry[0]

    def put(self, key: K, value: V, size: int) -> None:
        if key in self._entries:
            return
        self._entries[key] = value, size
        self._size += size
        while self._size > self._capacity:
            _, (_, freed) = self._entries.popitem(last=False)
            self._size -= freed

    def __len__(self) -> int:
        return len(self._entries)
