"""
What was deleted lately: articles and comments that the SQL database may still have, because it follows the store's log
of changes a moment later. The scripts of deletions note them, each in its partition (a share of the data).
"""

from collections.abc import Sequence

from store import keys, log
from store.queries import Read
from store.site import Site


def noted(site: Site) -> list[Read[list[int]]]:
    """
    The reads of the numbers of deleted articles and comments, one for each partition. A database that is read after
    them may still have these. It has nothing else that was deleted, except the comments of a deleted article.
    """
    return [Read(("ZRANGE", keys.deleted(partition), 0, -1), _numbers) for partition in range(site.partitions)]


async def forget(site: Site, partition: int, id: str) -> None:
    """Forget what was deleted before the entry `id` of the log, up to which the database has it. One round trip."""
    at, _ = log.sort_key(id)
    before = f"({at}"  # not of the same millisecond, in which later entries may be
    await site.redis.run(("ZREMRANGEBYSCORE", keys.deleted(partition), "-inf", before))


def _numbers(members: Sequence[str]) -> list[int]:
    return list(map(int, members))
