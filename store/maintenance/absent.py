"""
Reads fields of articles and comments for `verify`: from Redis, and from the SQL database if they are archived, which
means that only the database has them. A partition is a share of the data.
"""

from collections.abc import Awaitable, Callable, Collection, Mapping, Sequence
from typing import Any

from store import keys
from store.site import Site

Hashes = Mapping[int, Mapping[str, str]]  # by the number of an article or a comment
FindHashes = Callable[[Collection[int]], Awaitable[Hashes]]
FindComments = Callable[[str, int], Awaitable[Sequence[int]]]  # of a user, up to a time (milliseconds)


async def fields_of(
    site: Site, texts: Sequence[tuple[str, int]], fields: Sequence[str], archived: FindHashes | None
) -> list[list[Any]]:
    """
    Some fields of each hash, given by its key and the number of the article or comment; None for those that it lacks.
    One round trip; with `archived` also what that costs, if Redis lacks any.
    """
    found: list[list[Any]] = await site.redis.pipeline([("HMGET", key, *fields) for key, _ in texts]) if texts else []
    absent = [number for (_, number), values in zip(texts, found, strict=True) if not any(values)]
    hashes = await archived(absent) if archived and absent else {}
    return [
        [hashes[number].get(name) for name in fields] if not any(values) and number in hashes else values
        for (_, number), values in zip(texts, found, strict=True)
    ]


async def may_be_archived(site: Site, partition: int) -> bool:
    """
    Whether a partition has archived articles, so that what Redis lacks may be one, or a comment of one. One round trip.
    """
    return int(await site.redis.run(("HGET", keys.archived(partition), "count")) or 0) > 0
