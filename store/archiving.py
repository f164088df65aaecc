"""The steps in Redis in which articles leave it for the database. `database/archiver.py` runs them in their order."""

from collections.abc import AsyncIterator, Sequence
from contextlib import suppress
from typing import NamedTuple

from store import keys, log
from store.leases import Lease
from store.ranking.config import ARCHIVE_FIELD
from store.ranking.formulas import Order
from store.records import Article, article, pairs
from store.scripts.registry import (
    ARCHIVABLE_ARTICLES,
    ARCHIVE,
    LONG_TIMELINES,
    MARK_MOVING,
)
from store.site import Site

USERS_AT_ONCE = 500
ARCHIVER, LEASE_TIME = "archiver", 30_000  # milliseconds after which another process takes over
GRACE = 61_000  # milliseconds after voting closes in which clocks may differ; archive.lua requires 60 seconds


class Archivable(NamedTuple):
    """An article as Redis has it, and the digest by which `archive.lua` sees whether it has changed since."""

    article: Article
    digest: str


async def begin(site: Site, identity: str) -> None:
    """Say in the settings of the store that it has an archive, and notify all processes. Two round trips."""
    await site.redis.run(("HSETNX", keys.store(), ARCHIVE_FIELD, identity))
    await site.redis.run(log.ranked(site, 0))


def lease(site: Site, p: int, token: str) -> Lease:
    """The lease of a partition's archiver, which the scripts of archiving check."""
    return Lease(site, ARCHIVER, LEASE_TIME, token, p)


async def count(site: Site, p: int) -> int:
    """How many articles of a partition are in Redis. One round trip."""
    number: int = await site.redis.run(("ZCARD", keys.index(p, Order.TIME.value)))
    return number


async def long_timelines(site: Site, p: int, limit: int) -> AsyncIterator[tuple[str, int]]:
    """Users who have more articles in Redis than a limit, and how many more. One round trip for 500 users."""
    cursor = ""
    while cursor != "0":
        command = LONG_TIMELINES.command([keys.newest_posts(p), keys.timeline(p, "")], cursor or "0", limit)
        cursor, *flat = await site.redis.run(command)
        for name, beyond in zip(flat[::2], flat[1::2], strict=True):
            yield name, beyond


async def oldest_closed(site: Site, index: str, skip: int, count: int) -> list[int]:
    """Those of `count` articles of an index by time, oldest first, that are closed to votes. One round trip."""
    latest = site.clock() - site.policy.voting_ms - GRACE
    # by rank, as LIMIT would pass over `skip` members one by one
    found = await site.redis.run(("ZRANGE", index, skip, skip + count - 1, "WITHSCORES"))
    return [int(member) for member, time in found if float(time) <= latest]


async def archivable(site: Site, p: int, numbers: Sequence[int]) -> list[Archivable]:
    """
    Those of some articles that Redis has, without damaged ones, and without those that have comments, have notified
    users, are locked or are not visible. One round trip.
    """
    replies = await site.redis.run(ARCHIVABLE_ARTICLES.command([keys.article(p, "")], *numbers))
    found = []
    for number, reply in zip(numbers, replies, strict=True):
        if reply:
            digest, flat = reply
            with suppress(KeyError, ValueError):  # `verify` reports it
                record = article(number, pairs(flat))
                if record:
                    found.append(Archivable(record, digest))
    return found


async def in_redis(site: Site, p: int, numbers: Sequence[int]) -> list[int]:
    """Those of some articles that Redis has. One round trip."""
    found = await site.redis.pipeline([("EXISTS", keys.article(p, number)) for number in numbers])
    return [number for number, exists in zip(numbers, found, strict=True) if exists]


async def mark(site: Site, p: int, token: str, numbers: Sequence[int], *, is_moving: bool) -> str:
    """Mark articles as moving, or remove the marks: "marked" or "overtaken" (see mark_moving.lua). One round trip."""
    script_keys, change = [keys.moving(p), keys.lease(p, ARCHIVER)], "add" if is_moving else "remove"
    status: str
    (status,) = await site.redis.run(MARK_MOVING.command(script_keys, token, change, *numbers))
    return status


async def marked(site: Site, p: int) -> list[int]:
    """The articles that are marked as moving. One round trip."""
    return [int(number) for number in await site.redis.run(("SMEMBERS", keys.moving(p)))]


async def remove(site: Site, p: int, articles: Sequence[Archivable], token: str) -> int:
    """
    Remove from Redis those articles that have not changed since they were read, and return how many these are.

    One round trip. The others stay marked.
    """
    commands = [site.command(ARCHIVE, p, each.article.number, each.digest, token) for each in articles]
    return sum(status == "archived" for (status,) in await site.redis.pipeline(commands))


async def set_greatest(site: Site, listing: str, value: float) -> None:
    """Set the greatest value of a listing's archived places, in all partitions. One round trip."""
    await site.redis.pipeline(
        [("HSET", keys.archived(p), f"top:{listing}", repr(value)) for p in range(site.partitions)]
    )


async def serials(site: Site) -> list[str | None]:
    """A number of each partition that rises when an article leaves Redis or comes back. One round trip."""
    found: list[str | None] = await site.redis.pipeline(
        [("HGET", keys.archived(p), "serial") for p in range(site.partitions)]
    )
    return found


async def known_users(site: Site) -> dict[str, str]:
    """What `archived` has of all users, by name in lower case. A round trip for about 500 fields of a partition."""
    known = {}
    for p in range(site.partitions):
        cursor = ""
        while cursor != "0":
            scan = ("HSCAN", keys.archived(p), cursor or "0", "MATCH", "user:*", "COUNT", USERS_AT_ONCE)
            cursor, flat = await site.redis.run(scan)
            known.update({field.removeprefix("user:"): text for field, text in pairs(flat).items()})
    return known
