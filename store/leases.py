"""Leases: a process that holds one does what only one of all processes has to do."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from secrets import token_hex

from store.background import repeating
from store.errors import LeaseTaken
from store.kinds import Kind, Text
from store.needed_writes import accepted_when_full
from store.scripts.registry import Script
from store.site import Site

END_LEASE = Script("end_lease")
LEASE = Script("lease")

NAME = Text("NAME", "[a-z]+(?:-[a-z0-9-]+)?")

lease = Kind(
    "lease",
    "string",
    parts=(NAME,),
    holds="a random text of the one process that does the task NAME for all; in partition 0, but `archiver` in each "
    "partition; `keys-` and the name of an issuer: its keys were just fetched, and are not fetched again meanwhile",
    lifetime="seconds",
    written_by="the server's tasks, verify",
)


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
    partition: int = 0  # the partition (a share of the data) whose scripts may check the lease

    async def extend(self) -> bool:
        """Take the lease, or extend it; False if another process holds it. One round trip."""
        command = LEASE.command([lease(self.partition, self.name)], self.token, self.lifetime)
        return bool(await self.site.redis.run(command))

    @asynccontextmanager
    async def held(self) -> AsyncIterator[None]:
        """
        Hold the lease as long as the context is open. One round trip, and one for each third of its lifetime.

        Raises:
            LeaseTaken: another process holds it.
        """
        if not await self.extend():
            raise LeaseTaken(self.name, self.lifetime)
        try:
            async with repeating(self.extend, self.lifetime / 3_000, f"extending the lease {self.name} failed"):
                yield
        finally:
            await self.end()

    async def take_over(self) -> None:
        """Take the lease from whichever process holds it. One round trip."""
        await self.site.redis.run(
            accepted_when_full(("SET", lease(self.partition, self.name), self.token, "PX", self.lifetime))
        )

    async def end(self) -> None:
        """Give it up, so that another process need not wait until it ends. One round trip."""
        await self.site.redis.run(END_LEASE.command([lease(self.partition, self.name)], self.token))
