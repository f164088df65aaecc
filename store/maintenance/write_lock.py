"""
Closing a store for writes while it is copied to another place, and for good once the copy is whole.

Each partition has a mark that every script which writes looks at, so that nothing comes in between. The marks go by
themselves if whoever moves the store is lost; then the copy is not whole, and nobody opens it.
"""

from dataclasses import dataclass, field
from time import monotonic

from store import keys
from store.client.commands import Argument
from store.errors import StoreMismatch
from store.site import Site

LEASE = 60_000  # milliseconds
RENEWAL = 10.0  # seconds


@dataclass(slots=True)
class Closing:
    site: Site
    renewed: float = field(default_factory=monotonic)

    async def begin(self) -> None:
        """Refuse all writes from now on. One round trip."""
        await self._each("SET", 1, "PX", LEASE)

    async def renew(self, *, now: bool = False) -> None:
        """
        Go on refusing them: one round trip every 10 seconds, none in between unless it has to be known `now`.

        Raises:
            StoreMismatch: there were writes in between.
        """
        if now or monotonic() - self.renewed > RENEWAL:
            self.renewed = monotonic()
            if not all(await self._each("PEXPIRE", LEASE)):
                raise StoreMismatch("the store was written to while it was moved: move it again, into an empty store")

    async def settle(self) -> None:
        """Refuse them for ever. One round trip."""
        await self._each("PERSIST")

    async def end(self) -> None:
        """Take writes again. One round trip."""
        await self._each("DEL")

    async def _each(self, command: str, *arguments: Argument) -> list[int]:
        replies: list[int] = await self.site.redis.pipeline(
            [(command, keys.closed(p), *arguments) for p in range(self.site.partitions)]
        )
        return replies
