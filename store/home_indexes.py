"""
The indexes that homes need beside those of groups: by the site's weights, of groups with weights of their own.

A store that an earlier version made lacks them: the server's tasks fill them once, while scripts that write already
keep them. Until then homes lack articles of such groups, in the orders for which these have a weight.
"""

from contextlib import AbstractAsyncContextManager, suppress
from functools import partial

from store import keys, log
from store.background import repeating
from store.errors import LeaseTaken
from store.keys import GROUP, ORDER
from store.kinds import Backup, Check, Kind
from store.leases import Lease
from store.ranking.config import HOMES_FIELD
from store.scripts.registry import Script
from store.site import Site

FILL_SITE_RANKED = Script("fill_site_ranked")

INTERVAL = 1.0  # seconds between two tries to fill the indexes
LEASE_TIME = 30_000  # milliseconds after which another process may fill the indexes

SITE_RANKED = Kind(
    "siteranked",
    "zset",
    (GROUP, ORDER),
    "an index of a group that has a weight of its own for this order, by the weights of the site: for homes",
    lifetime="while it has articles, and the weight",
    written_by="`ranking set`, then the same as the index of the group; the server's tasks in a store of before",
    backup=Backup.DERIVED,
    rebuilt_from="the articles",
    check=Check.MEMBERS,
)


async def fill(site: Site) -> None:
    """
    Fill the indexes of a store that an earlier version made. Safe to repeat. One round trip for each group with weights
    of its own in each partition, and one for about 40 articles of these.

    Raises:
        StoreUnavailable: it does not answer, or takes no writes.
    """
    await site.rankings.read(site.redis)
    for p in range(site.partitions):
        for group in site.rankings.weights:
            await _fill_group(site, p, group)
    await site.redis.run(("HSET", keys.store(), HOMES_FIELD, 1))
    await site.redis.run(log.ranked(site, 0))
    await site.rankings.read(site.redis)


def filling(site: Site) -> AbstractAsyncContextManager[None]:
    """Fill the indexes, if they are not complete, as long as the context is open."""
    return repeating(partial(_fill_once, site), INTERVAL, "filling the indexes of homes failed")


async def _fill_once(site: Site) -> None:
    """`fill`, unless the indexes are complete, or another process fills them. Raises as `fill`."""
    if site.rankings.has_homes:
        return
    with suppress(LeaseTaken):
        async with Lease(site, "homes", LEASE_TIME).held():
            await site.rankings.read(site.redis)
            if not site.rankings.has_homes:
                await fill(site)


async def _fill_group(site: Site, p: int, group: str) -> None:
    cursor = ""
    while cursor != "0":
        cursor = await site.redis.run(site.command(FILL_SITE_RANKED, p, group, cursor or "0"))
