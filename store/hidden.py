"""
Articles that users hide from their homes (front pages) and feeds, by the time of hiding; and the keys of whom they
block, for `blocked`. Both are private: there are no entries in the log, and no rows in the database.

A user has a list in each partition, a share of the data, of the hidden articles of that partition, because the scripts
that read homes look them up there. A deleted article stays in the list until the list is read: then `drop` removes it.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from store import keys
from store.client import Command
from store.client.connection import encoded
from store.errors import Invalid, Unauthenticated
from store.keys import ARTICLE, OWNER, USERNAME, member
from store.kinds import Backup, Check, Kind, Member
from store.listings import Listing
from store.queries import Read
from store.scripts.registry import Script
from store.site import Actor, Site

HIDE = Script("hide")

MAX_HIDDEN = 20_000  # of a user, in a partition
HIDDEN = Kind(
    "hidden",
    "zset",
    parts=(OWNER,),
    holds="numbers of the articles of this partition that a user hides, by time",
    lifetime="while there are any",
    written_by="hideArticle, unhideArticle, reading deleted ones",
    backup=Backup.COPIED,
    record="hidden",
    check=Check.LIST,
    member=ARTICLE,
)

BLOCKED = Kind(
    "blocked",
    "zset",
    parts=(USERNAME,),
    holds="usernames whom a user blocks, by time",
    lifetime="while there are any",
    written_by="blockUser, unblockUser",
    backup=Backup.COPIED,
    record="blocked",
    check=Check.LIST,
    member=Member("[A-Za-z0-9_-]{2,20}", named=keys.user, text=str, part=str.lower),
)
# without it, `verify` would report as missing a notification from somebody whom the user blocked at that time
UNBLOCKED = Kind(
    "unblocked",
    "zset",
    parts=(USERNAME,),
    holds="usernames whom a user has blocked before, by the time when that ended, the latest 1,000: `verify` does not "
    "miss what has not come to the inbox",
    lifetime="while there are any",
    written_by="unblockUser",
    backup=Backup.COPIED,
    record="unblocked",
    check=Check.LIST,
    member=BLOCKED.member,
)


@dataclass(frozen=True, slots=True)
class Hidden:
    """The result of hiding or showing an article: whose list that is, and whether it has changed."""

    username: str
    changed: bool


async def hide(site: Site, actor: Actor, number: int) -> Hidden:
    """
    Hide an article from the actor's home and feed, as of now. The caller knows that it exists. Safe to repeat.
    One round trip, one more with a session of another partition.

    Raises:
        Invalid: the user hides `MAX_HIDDEN` articles of this partition already.
        Unauthenticated, Banned: the session has ended, or the actor is banned from the site.
    """
    return await _set(site, actor, number, limit=MAX_HIDDEN)


async def unhide(site: Site, actor: Actor, number: int) -> Hidden:
    """Show an article again. Safe to repeat. Costs and raises the same as `hide`."""
    return await _set(site, actor, number, limit=0)


async def drop(site: Site, username: str, numbers: Sequence[int]) -> None:
    """
    Take deleted articles out of what a user hides. One round trip.

    Raises:
        StoreUnavailable: Redis does not answer, or takes no writes.
    """
    by_partition: dict[int, list[int]] = {}
    for number in numbers:
        by_partition.setdefault(site.partition_of_article(number), []).append(number)
    commands: list[Command] = [
        ("ZREM", HIDDEN(partition, username), *map(member, some)) for partition, some in by_partition.items()
    ]
    await site.redis.pipeline(commands)


def listing(site: Site, username: str) -> Listing:
    """What a user hides, the latest first."""
    indexes = tuple(HIDDEN(partition, username) for partition in range(site.partitions))
    return Listing(f"hidden:{username.lower()}", indexes, by_time=True, may_be_archived=False)


def counts(site: Site, username: str) -> list[Read[int]]:
    """How many articles of each partition a user hides."""
    return [Read(("ZCARD", HIDDEN(partition, username)), int) for partition in range(site.partitions)]


def versions(site: Site, username: str) -> list[Read[Any]]:
    """
    Values that change whenever a user hides or shows an article: of each partition how many are hidden, and the latest.
    """
    latest = [
        Read(("ZRANGE", HIDDEN(partition, username), -1, -1, "WITHSCORES"), _latest)
        for partition in range(site.partitions)
    ]
    return [*counts(site, username), *latest]


def numbers(site: Site, username: str) -> list[Read[list[int]]]:
    """The numbers of the articles of each partition that a user hides."""
    return [Read(("ZRANGE", HIDDEN(partition, username), 0, -1), _numbers) for partition in range(site.partitions)]


def among(site: Site, username: str, numbers: Sequence[int]) -> list[Read[dict[int, bool]]]:
    """Which of some articles a user hides: a read for each partition."""
    by_partition: dict[int, list[int]] = {}
    for number in numbers:
        by_partition.setdefault(site.partition_of_article(number), []).append(number)
    return [
        Read(encoded(("ZMSCORE", HIDDEN(partition, username), *map(member, some))), _by_number, (tuple(some),))
        for partition, some in by_partition.items()
    ]


def _latest(pairs: Sequence[Sequence[Any]]) -> tuple[Any, ...]:
    return tuple(map(tuple, pairs))


def _numbers(members: Sequence[str]) -> list[int]:
    return [int(each) for each in members]


def _by_number(numbers: Sequence[int], times: Sequence[float | None]) -> dict[int, bool]:
    return {number: time is not None for number, time in zip(numbers, times, strict=True)}


async def _set(site: Site, actor: Actor, number: int, limit: int) -> Hidden:
    """Hide an article, unless `limit` are hidden in its partition; with a limit of 0, show it again."""
    status, *reply = await site.run(HIDE, site.partition_of_article(number), actor, member(number), limit)
    if status == "unauthenticated":
        raise Unauthenticated
    if status == "full":
        raise Invalid(f"a user hides at most {limit} articles", "articleId")
    (username,) = reply
    return Hidden(username, status == "changed")
