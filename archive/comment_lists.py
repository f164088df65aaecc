"""
Shortens the lists of users' comments in Redis (`store/comment_lists.py`) to the newest ones, once the SQL database has
the others as they are shown: from then on, these are read from there.
"""

from collections.abc import Awaitable, Callable, Collection

from archive.steps import MAY_BE_LOST
from store import comment_lists, keys, kinds
from store.maintenance import scan
from store.site import Site


async def cut(
    site: Site, partitions: Collection[int], kept: int, wait_for_database: Callable[[], Awaitable[bool]]
) -> int:
    """
    Cut the lists of all users of some partitions, which are shares of the store, down to their newest `kept` comments,
    and return how many comments were cut off. `wait_for_database` waits until the database has all changes up to now,
    and returns whether the store has an archive there: without one nothing is cut. Passes over all keys once; for each
    user with many comments four more round trips for 1,000 of them.

    Raises:
        StoreUnavailable, DatabaseUnavailable: one does not answer, takes no writes, or is far behind.
    """
    count = 0
    before = site.clock() - MAY_BE_LOST  # newer comments stay in the lists, as Redis may still lose them
    prefixes = tuple(keys.comments(partition, "") for partition in partitions)
    async for texts in scan.texts(site, lambda count: None):  # without a report of progress
        lists = [key for text in texts if text.startswith(prefixes) and (key := kinds.parse(text, site.partitions))]
        while lists and (found := await comment_lists.excess(site, lists, kept, before)):
            if not await wait_for_database():
                return count
            removed = await comment_lists.cut(site, found)
            count += removed
            lists = [each.key for each in found] if removed else []
    return count
