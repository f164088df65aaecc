"""
The indexes that homes, the front pages of users, need beside those of groups. A home merges groups by the weights of
the site, so a group with weights of its own has here a second index by those of the site.

A store that an earlier version made lacks them: the server's tasks fill them once, while scripts that write already
keep them. Until then homes lack articles of such groups, in the orders for which these have a weight.
"""

from contextlib import AbstractAsyncContextManager
from operator import attrgetter

from store import index_filling
from store.index_filling import note_complete
from store.keys import GROUP, ORDER
from store.kinds import Backup, Check, Kind
from store.ranking.config import HOMES_FIELD
from store.scripts.registry import Script
from store.site import Site

FILL_SITE_RANKED = Script("fill_site_ranked")

FAULT = "filling the indexes of homes failed"


SITE_RANKED = Kind(
    "siteranked",
    "zset",
    parts=(GROUP, ORDER),
    holds="an index of a group that has a weight of its own for this order, by the weights of the site: for homes",
    lifetime="while it has articles, and the weight",
    written_by="`ranking set`, then the same as the index of the group; the server's tasks in a store of an "
    "earlier version",
    backup=Backup.DERIVED,
    rebuilt_from="the articles",
    check=Check.MEMBERS,
)


async def fill(site: Site) -> None:
    """
    Fill the indexes of a store that an earlier version made. Safe to repeat. One round trip for each group with weights
    of its own in each partition (a share of the data), and one for about 40 articles of these.

    Raises:
        StoreUnavailable: the store does not answer, or takes no writes.
    """
    await site.rankings.read(site.redis)
    for partition in range(site.partitions):
        for group in site.rankings.weights:
            await _fill_group(site, partition, group)
    await note_complete(site, HOMES_FIELD)


def filling(site: Site) -> AbstractAsyncContextManager[None]:
    """Fill the indexes, if they are not complete, as long as the context is open."""
    return index_filling.filling(site, lease="homes", is_complete=attrgetter("has_homes"), fill=fill, fault=FAULT)


async def _fill_group(site: Site, partition: int, group: str) -> None:
    cursor = ""
    while cursor != "0":
        cursor = await site.redis.run(site.command(FILL_SITE_RANKED, partition, group, cursor or "0"))
