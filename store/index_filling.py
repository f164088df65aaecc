"""Indexes that a store of an earlier version lacks: one process of all fills them, and notes that they are complete."""

from collections.abc import Awaitable, Callable
from contextlib import AbstractAsyncContextManager, suppress

from store import keys, log
from store.background import repeating
from store.errors import LeaseTaken
from store.leases import Lease
from store.ranking.config import Rankings
from store.site import Site

INTERVAL = 1.0  # seconds between two tries to fill indexes
LEASE_TIME = 30_000  # milliseconds after which another process may fill them


def filling(
    site: Site, lease: str, is_complete: Callable[[Rankings], bool], fill: Callable[[Site], Awaitable[None]], fault: str
) -> AbstractAsyncContextManager[None]:
    """
    As long as the context is open, try every `INTERVAL` seconds to fill indexes that are not complete. Of all processes
    the one that holds the lease with this name does it. Errors other than StoreUnavailable are logged as `fault`.
    """

    async def fill_once() -> None:
        if is_complete(site.rankings):
            return
        with suppress(LeaseTaken):
            async with Lease(site, lease, LEASE_TIME).held():
                await site.rankings.read(site.redis)
                if not is_complete(site.rankings):
                    await fill(site)

    return repeating(fill_once, INTERVAL, fault)


async def note_complete(site: Site, field: str) -> None:
    """
    Note that indexes are complete, by a field of the store's settings, and tell all processes. Three round trips.

    Raises:
        StoreUnavailable: the store does not answer, or takes no writes.
    """
    await site.redis.run(("HSET", keys.store(), field, 1))
    await site.redis.run(log.ranked(site))
    await site.rankings.read(site.redis)
