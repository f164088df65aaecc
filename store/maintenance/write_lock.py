"""
Refuses writes to a store while it is moved, and afterwards for good.

Each partition, a share of the data, has a key, `closed`, that every script reads before it writes. These keys expire
unless they are renewed: if the process that moves the store is killed, the store takes writes again, and its copy stays
incomplete.
"""

from dataclasses import dataclass, field
from time import monotonic

from store import keys
from store.client import Argument
from store.errors import StoreMismatch
from store.site import Site

LEASE = 60_000  # milliseconds after which the lock expires, unless it is renewed
RENEWAL = 10.0  # seconds after which it is renewed


@dataclass(slots=True)
class WriteLock:
    """Keeps all partitions of a store closed for writes."""

    site: Site
    renewed_at: float = field(default_factory=monotonic)

    async def acquire(self) -> None:
        """Refuse all writes from now on. One round trip."""
        await self._in_all("SET", 1, "PX", LEASE)

    async def renew(self, *, now: bool = False) -> None:
        """
        Extend the lock: one round trip every 10 seconds, or `now`.

        Raises:
            StoreMismatch: the lock had expired, so that there may have been writes.
        """
        if now or monotonic() - self.renewed_at > RENEWAL:
            self.renewed_at = monotonic()
            if not all(await self._in_all("PEXPIRE", LEASE)):
                raise StoreMismatch("the store was written to while it was moved: move it again, into an empty store")

    async def make_permanent(self) -> None:
        """Refuse writes until the lock is released. One round trip."""
        await self._in_all("PERSIST")

    async def release(self) -> bool:
        """Take writes again, and return whether they were refused. One round trip."""
        return any(await self._in_all("DEL"))

    async def _in_all(self, command: str, *arguments: Argument) -> list[int]:
        replies: list[int] = await self.site.redis.pipeline(
            [(command, keys.closed(partition), *arguments) for partition in range(self.site.partitions)]
        )
        return replies
