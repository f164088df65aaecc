"""
What follows an action of a moderator in steps, such as the removal of all texts of a banned user. The scripts of the
action and of its revert note it in a sorted set of its partition, where it stays until all is done. An interruption
leaves the rest to the task of every server: a step that is repeated changes nothing.
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
    """A consumer of the log has to catch up first."""


class Reverted(Exception):
    """The action was reverted meanwhile."""


@dataclass(frozen=True, slots=True)
class StepwiseWork:
    """
    `noted` are the numbers of the actions of which something is left to be done, and `settle` does that of one of them.
    The task looks for them every `interval` seconds, under the lease of the same name; `fault` is logged with errors.
    """

    noted: Kind
    settle: Callable[[Store, Database | None, int], Awaitable[None]]
    interval: float
    fault: str

    def repeated(self, store: Store, database: Database | None) -> AbstractAsyncContextManager[None]:
        """Do what is noted, as long as the context is open."""
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
        commands: list[Command] = [("EXISTS", self.noted(partition)) for partition in partitions]
        noted = await store.site.redis.pipeline(commands)
        if not any(noted):
            return
        with suppress(LeaseTaken, DatabaseUnavailable, Delayed):
            # two at once do the same work twice, and no harm
            async with Lease(store.site, self.noted.name, LEASE_TIME).held():
                for partition in compress(partitions, noted):
                    await self.settle_all(store, database, partition)
