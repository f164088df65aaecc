"""
Work that follows from a moderator's action and takes many steps, such as the removal of all texts of a banned user.
The scripts of the action and of its revert note its number in a sorted set of its partition (a share of the data in
Redis), where it stays until all is done. If a process is interrupted, the background task of any server does the rest:
a step that is repeated changes nothing.
"""

from collections.abc import Awaitable, Callable, Sequence
from contextlib import AbstractAsyncContextManager, suppress
from dataclasses import dataclass
from itertools import compress

from database.database import Database, DatabaseUnavailable
from store.background import repeating, turns
from store.client import Command
from store.errors import LeaseTaken
from store.kinds import Kind
from store.leases import Lease
from store.store import Store

LEASE_TIME = 10_000  # milliseconds after which another process goes on


class Delayed(Exception):
    """What is left to be done has to wait for something."""


class ConsumerBehind(Delayed):
    """A consumer of the log, the stream of all changes, has to catch up first: the database, or another reader."""


class Reverted(Exception):
    """The action was reverted meanwhile."""


@dataclass(frozen=True, slots=True)
class StepwiseWork:
    """
    One kind of such work. `noted` is the kind of the sorted set, one in each partition, that has the numbers of actions
    with work left; `settle` does the work of one action. The task looks for them every `interval` seconds, while it
    holds the lease with the name of `noted`, so that one process does it. `fault` is logged with errors.
    """

    noted: Kind
    settle: Callable[[Store, Database | None, int], Awaitable[None]]
    interval: float
    fault: str

    def repeated(self, store: Store, database: Database | None) -> AbstractAsyncContextManager[None]:
        """The task: does what is noted, as long as the context is open. Each pass looks at the next partitions."""
        searched = turns(store.site.partitions)
        return repeating(lambda: self._settle_noted(store, database, next(searched)), self.interval, self.fault)

    async def settle_all(self, store: Store, database: Database | None, partition: int) -> None:
        """
        Do all that is noted in a partition.

        Raises:
            StoreUnavailable, DatabaseUnavailable, Delayed: something does not answer, takes no writes, or has to catch
                up. The rest stays noted.
        """
        for number in await store.site.redis.run(("ZRANGE", self.noted(partition), 0, -1)):
            await self.settle(store, database, int(number))

    async def _settle_noted(self, store: Store, database: Database | None, partitions: Sequence[int]) -> None:
        """Do what is noted in some partitions, unless another process does, or something does not answer."""
        commands: list[Command] = [("EXISTS", self.noted(partition)) for partition in partitions]
        noted = await store.site.redis.pipeline(commands)
        if not any(noted):
            return
        with suppress(LeaseTaken, DatabaseUnavailable, Delayed):
            # if the lease ends, two processes do the same work, which changes nothing
            async with Lease(store.site, self.noted.name, LEASE_TIME).held():
                for partition in compress(partitions, noted):
                    await self.settle_all(store, database, partition)
