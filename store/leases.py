"""Leases: a process that holds one does what only one of all processes has to do."""

from dataclasses import dataclass, field
from secrets import token_hex

from store import keys
from store.scripts.registry import END_LEASE, LEASE
from store.site import Site


@dataclass(frozen=True, slots=True)
class Lease:
    """
    The lease with a name, which ends `lifetime` milliseconds after it was extended, also if its process is stopped.

    A process may believe for a moment that it holds a lease that has ended: two at once must do no harm.
    """

    site: Site
    name: str
    lifetime: int
    token: str = field(default_factory=lambda: token_hex(8))
    p: int = 0  # the partition whose scripts may check the lease

    async def extend(self) -> bool:
        """Take the lease, or extend it; False if another process holds it. One round trip."""
        command = LEASE.command([keys.lease(self.p, self.name)], self.token, self.lifetime)
        return bool(await self.site.redis.run(command))

    async def take_over(self) -> None:
        """Take the lease from whichever process holds it. One round trip."""
        await self.site.redis.run(("SET", keys.lease(self.p, self.name), self.token, "PX", self.lifetime))

    async def end(self) -> None:
        """Give it up, so that another process need not wait until it ends. One round trip."""
        await self.site.redis.run(END_LEASE.command([keys.lease(self.p, self.name)], self.token))
