"""Iterates over all keys of a store, some at a time. Keys that are written or deleted meanwhile may be missed."""

from collections.abc import AsyncIterator, Callable

from store import keys, kinds, records
from store.kinds import Key
from store.site import Site

KEYS_AT_ONCE = 500  # about
Progress = Callable[[int], object]  # is called with the number of keys, or articles, passed since the last call


async def texts(site: Site, progress: Progress) -> AsyncIterator[list[str]]:
    async for found in site.redis.scan(KEYS_AT_ONCE):
        yield found
        progress(len(found))


async def known_keys(site: Site, progress: Progress) -> AsyncIterator[list[Key]]:
    """The keys of kinds that are declared."""
    async for found in texts(site, progress):
        yield [key for text in found if (key := kinds.parse(text, site.partitions))]


async def imported_stories(site: Site, partition: int) -> AsyncIterator[dict[str, str]]:
    """The number of each story and comment that was imported into a partition (a share of the data), by its id."""
    cursor = ""
    while cursor != "0":
        cursor, flat = await site.redis.run(("HSCAN", keys.imported(partition), cursor or "0", "COUNT", KEYS_AT_ONCE))
        yield records.pairs(flat)
