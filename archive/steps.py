"""
The commands to Redis by which articles leave it for the archive in the SQL database; `mover` runs them in their order.
A partition is a share of the data in Redis. Its hash `archived` counts the articles that have left; its set `moving`
has the marks of those that are about to leave or have just come back.
"""

from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from contextlib import suppress
from math import inf
from typing import Generic, NamedTuple, TypeVar

from database.conversations import HASH_FIELDS
from store import keys, leases, log, moving
from store.flags import FLAGS
from store.held_edits import HELD_EDIT
from store.leases import Lease
from store.needed_writes import accepted_when_full
from store.ranking.config import ARCHIVE_FIELD, CONVERSATIONS_FIELD
from store.ranking.formulas import Order
from store.records import Article, article, pairs
from store.scripts.registry import Script
from store.site import Site

ARCHIVABLE_ARTICLES = Script("archivable_articles")
ARCHIVE = Script("archive")
LONG_TIMELINES = Script("long_timelines")
MARK_MOVING = Script("mark_moving")
SET_GREATEST = Script("set_greatest")

T = TypeVar("T")

FIELDS_AT_ONCE = 500  # of a hash, in a round trip
USER_FIELD, COUNT_FIELD = "user:", "count"  # what fields of the hash `archived` begin with
ARCHIVER = "archiver"  # name of the lease of the one process that moves the articles of a partition
LEASE_TIME = 30_000  # milliseconds after which another process takes over
GRACE = 61_000  # milliseconds after voting closes in which clocks may differ; archive.lua requires 60 seconds
MAY_BE_LOST = 60_000  # milliseconds of writes that Redis may lose when it is killed or fails over


class Archivable(NamedTuple):
    """
    An article as Redis has it. `digest` is that of its hash, by which `archive.lua` sees whether it has changed since.
    `comments` counts all its comments, also those that are not shown. `kept` are fields of its hash that the log (the
    stream of all changes) does not tell, so that the database lacks them: see `KeptOfArticle`.
    """

    article: Article
    digest: str
    comments: int
    kept: Mapping[str, str]

    @property
    def has_conversation(self) -> bool:
        """Whether it has comments, or such fields: then it leaves as a conversation does, in more steps."""
        return self.comments > 0 or bool(self.kept)


async def begin(site: Site, identity: str) -> None:
    """Note the random id of the archive in the settings of the store, and notify all processes. Two round trips."""
    await site.redis.run(accepted_when_full(("HSETNX", keys.store(), ARCHIVE_FIELD, identity)))
    await site.redis.run(log.ranked(site))


async def begin_conversations(site: Site) -> None:
    """Say in the settings of the store that its archive has conversations, and notify all. Two round trips."""
    await site.redis.run(accepted_when_full(("HSET", keys.store(), CONVERSATIONS_FIELD, "1")))
    await site.redis.run(log.ranked(site))


def lease(site: Site, partition: int, token: str) -> Lease:
    """The lease of a partition's archiver. Scripts of archiving check that it still has this token."""
    return Lease(site, ARCHIVER, LEASE_TIME, token, partition)


async def count(site: Site, partition: int) -> int:
    """How many articles of a partition are in Redis. One round trip."""
    number: int = await site.redis.run(("ZCARD", keys.index(partition, Order.TIME.value)))
    return number


async def long_timelines(site: Site, partition: int, limit: int) -> AsyncIterator[tuple[str, int]]:
    """Users who have more articles in Redis than a limit, and how many more. One round trip for 500 users."""
    cursor = ""
    while cursor != "0":
        command = LONG_TIMELINES.command(
            [keys.newest_posts(partition), keys.timeline(partition, "")], cursor or "0", limit
        )
        cursor, *flat = await site.redis.run(command)
        for name, beyond in zip(flat[::2], flat[1::2], strict=True):
            yield name, beyond


async def oldest_closed(site: Site, index: str, skip: int, count: int) -> list[int]:
    """Which of `count` articles of an index by time, oldest first, are closed to votes. One round trip."""
    latest = site.clock() - site.policy.voting_ms - GRACE
    # by rank, as LIMIT would pass over `skip` members one by one
    found = await site.redis.run(("ZRANGE", index, skip, skip + count - 1, "WITHSCORES"))
    return [int(member) for member, time in found if float(time) <= latest]


async def archivable(
    site: Site, partition: int, numbers: Sequence[int], quiet_since: int | None = None
) -> list[Archivable]:
    """
    Which of some articles may leave Redis, each as Redis has it. One round trip.

    An article that is damaged, pending or flagged stays. One that is removed or locked, has notified users, or has
    comments, also ones that are not shown, leaves only if nothing was written there since `quiet_since` (unix
    milliseconds); None: it stays.
    """
    script_keys = [
        keys.article(partition, ""),
        FLAGS(partition, ""),
        keys.tree(partition, ""),
        HELD_EDIT(partition, ""),
    ]
    since = "" if quiet_since is None else quiet_since
    replies = await site.redis.run(ARCHIVABLE_ARTICLES.command(script_keys, since, *numbers))
    found = []
    for number, reply in zip(numbers, replies, strict=True):
        if reply:
            digest, comments, flat = reply
            with suppress(KeyError, ValueError):  # `verify` reports it
                fields = pairs(flat)
                record = article(number, fields)
                if record:
                    kept = {name: fields[name] for name in HASH_FIELDS if name in fields}
                    found.append(Archivable(record, digest, comments, kept))
    return found


async def in_redis(site: Site, partition: int, numbers: Sequence[int]) -> list[int]:
    """Which of some articles Redis has. One round trip."""
    found = await site.redis.pipeline([("EXISTS", keys.article(partition, number)) for number in numbers])
    return [number for number, exists in zip(numbers, found, strict=True) if exists]


async def mark(site: Site, partition: int, token: str, numbers: Sequence[int], *, is_moving: bool) -> str:
    """
    Mark articles as moving, or remove the marks. Returns "marked", or "overtaken" if another process has taken the
    lease. One round trip.
    """
    script_keys = [moving.MOVING(partition), leases.lease(partition, ARCHIVER), keys.archived(partition)]
    change = "add" if is_moving else "remove"
    status: str
    (status,) = await site.redis.run(MARK_MOVING.command(script_keys, token, change, *numbers))
    return status


async def remove(site: Site, partition: int, articles: Sequence[Archivable], token: str) -> int:
    """
    Remove from Redis those articles that have not changed since they were read, and return how many these are.

    One round trip. The others stay marked.
    """
    commands = [
        site.command(ARCHIVE, partition, each.article.number, each.digest, token, each.comments) for each in articles
    ]
    return sum(status == "archived" for (status,) in await site.redis.pipeline(commands))


async def forget_greatest(site: Site, listing: str) -> None:
    """
    Set the greatest value that Redis has for the archived places of a listing to infinity, so that all its pages ask
    the database. One round trip.
    """
    commands = [("HSET", keys.archived(partition), f"top:{listing}", repr(inf)) for partition in range(site.partitions)]
    await site.redis.pipeline([accepted_when_full(command) for command in commands])


async def set_greatest(site: Site, listing: str, value: float, serials: Sequence[str]) -> bool:
    """
    Note in all partitions the greatest value of a listing's archived places, by which Redis knows which pages need the
    database. False if a partition has another serial by now: what has left Redis since may be above it. One round trip.
    """
    replies = await site.redis.pipeline(
        [
            SET_GREATEST.command([keys.archived(partition)], serial, listing, repr(value))
            for partition, serial in enumerate(serials)
        ]
    )
    return all(replies)


async def serials(site: Site) -> list[str]:
    """
    A number of each partition that rises when an article leaves Redis or comes back, "" before the first one. One round
    trip.
    """
    found = await site.redis.pipeline(
        [("HGET", keys.archived(partition), "serial") for partition in range(site.partitions)]
    )
    return [serial or "" for serial in found]


class AtRest(NamedTuple, Generic[T]):
    """What was found in a moment in which no article left Redis or came back, and the `serials` of that moment."""

    found: T
    serials: list[str]


async def at_rest(site: Site, read: Callable[[], Awaitable[T]]) -> AtRest[T]:
    """
    Call `read` until no article has left Redis or come back meanwhile. Two round trips and the cost of `read`, each
    time.
    """
    while True:
        before = await serials(site)
        found = await read()
        if await serials(site) == before:
            return AtRest(found, before)


async def known_counts(site: Site, partition: int) -> dict[str, str]:
    """
    The fields of the hash `archived` of a partition that count articles, or are about users. A round trip for about 500
    fields.
    """
    known, cursor = dict[str, str](), ""
    while cursor != "0":
        cursor, flat = await site.redis.run(("HSCAN", keys.archived(partition), cursor or "0", "COUNT", FIELDS_AT_ONCE))
        found = pairs(flat).items()
        known.update({name: text for name, text in found if name.startswith((USER_FIELD, COUNT_FIELD))})
    return known
