"""
Conversations: all comments of an article, as they move between Redis and the archive in the database. They are read
when they are about to leave Redis, removed once the article has left, and written back before the article is. Each of
these is done in steps of some milliseconds.

`left` has the articles of which Redis may have comments although they are archived. Whoever removes or writes these
holds the lease of the conversations of the partition (a share of the data), which only one process has at a time.
"""

from collections.abc import AsyncIterator, Mapping, Sequence
from itertools import chain, starmap
from typing import NamedTuple

from store import keys
from store.client import Command
from store.flags import FLAGS, stands
from store.held_edits import HELD_EDIT
from store.kinds import Kind
from store.leases import Lease
from store.scripts.registry import Script
from store.site import Site

DROP_CONVERSATION = Script("drop_conversation")
RESTORE_CONVERSATION = Script("restore_conversation")

CONVERSATIONS, LEASE_TIME = "conversations", 10_000  # milliseconds after which another process goes on
READ_AT_ONCE = 200  # comments, in a round trip
WRITTEN_AT_ONCE = 50  # comments, in two milliseconds
DROPPED_AT_ONCE = 100  # comments, in two milliseconds
MAX_WITHOUT_LATEST = 128  # comments: an article with more has an index of the visible ones by time: see comments.lua
left = Kind(
    "left",
    "zset",
    parts=(),
    holds="numbers of archived articles of which Redis has comments that the database has, too: these are removed, "
    "unless the article comes back; by when it was noted",
    lifetime="until that is done",
    written_by="archive, unarchive",
)
woken = Kind(
    "woken",
    "zset",
    parts=(),
    holds="numbers of articles whose conversations came back, by how many comments these had",
    lifetime="until they leave again",
    written_by="unarchive, archive, delete",
)
STAYING = ("unannounced", "held_by")  # fields of comments that are still to be announced, or that a rule holds


class Overtaken(Exception):
    """Another process removes or writes the comments of the partition."""


class Behind(Exception):
    """The database does not have the last change of counts of the comments yet."""


class Room(NamedTuple):
    """
    The bound for comments of conversations that came back: `most` is the limit of all partitions together, `of_others`
    the number of such comments in the other partitions.
    """

    most: int
    of_others: int


class NoRoom(Exception):
    """Redis has too many comments of conversations that came back."""


def lease(site: Site, partition: int) -> Lease:
    return Lease(site, CONVERSATIONS, LEASE_TIME, partition=partition)


async def last_change(site: Site, article: int) -> int:
    """When something was written about the comments of an article last (unix milliseconds); 0 if never."""
    found = await site.redis.run(
        ("HMGET", keys.article(site.partition_of_article(article), article), "active", "written")
    )
    return max(int(each or 0) for each in found)


async def stored(site: Site, article: int) -> dict[int, dict[str, str]] | None:
    """
    The hashes of all comments of an article, by number; None if something about one waits: it is pending, has an edit
    that waits, or is visible and has flags that nobody has decided about. Two round trips for `READ_AT_ONCE` comments.
    """
    found: dict[int, dict[str, str]] = {}
    async for numbers in _numbers(site, article):
        partition = site.partition_of_article(article)
        hashes: list[Command] = [("HGETALL", keys.comment(partition, number)) for number in numbers]
        edits: list[Command] = [("EXISTS", HELD_EDIT(partition, number)) for number in numbers]
        flags: list[Command] = [("HVALS", FLAGS(partition, number)) for number in numbers]
        replies = await site.redis.pipeline([*hashes, *edits, *flags])
        count, fields = len(numbers), dict(zip(numbers, replies, strict=False))
        flagged = zip(fields.values(), replies[2 * count :], strict=True)
        if any(replies[count : 2 * count]) or any(map(_waits, fields.values())) or any(starmap(_is_flagged, flagged)):
            return None
        found |= fields
    return found


async def drop(site: Site, held: Lease, article: int) -> None:
    """
    Remove the comments of an archived article that Redis still has. One round trip for `DROPPED_AT_ONCE`.

    Raises:
        Overtaken: another process holds the lease.
    """
    status = "more"
    while status == "more":
        status = await _run(site, DROP_CONVERSATION, article, held, DROPPED_AT_ONCE)


async def restore(
    site: Site,
    held: Lease,
    article: int,
    comments: Mapping[int, Mapping[str, str]],
    position: str,
    room: Room | None,
) -> bool:
    """
    Write the hashes of comments back, by number, with their indexes, as the database had them when it was at a position
    of the log. False if the article is in Redis by now, or was deleted. With `room`, they are written only if then all
    conversations that came back have at most `room.most` comments together, or if no other came back. One round trip
    for `WRITTEN_AT_ONCE` comments.

    Raises:
        Overtaken: another process holds the lease.
        Behind: the database has to take more entries of the log first; none was written.
        NoRoom: there would be more comments; none was written.
    """
    needs_latest, numbers = int(len(comments) > MAX_WITHOUT_LATEST), sorted(comments)
    no_limit = ("", "")
    head = (needs_latest, len(comments), *(room or no_limit), position)
    for start in range(0, len(numbers), WRITTEN_AT_ONCE):
        some = numbers[start : start + WRITTEN_AT_ONCE]
        flat = [[number, 2 * len(comments[number]), *chain(*comments[number].items())] for number in some]
        status = await _run(site, RESTORE_CONVERSATION, article, held, *head, *chain(*flat))
        if status == "full":
            raise NoRoom
        if status == "behind":
            raise Behind
        if status == "back":
            return False
    return True


async def room(site: Site, partition: int) -> Room:
    """The room for conversations that come back to a partition. One round trip if there are others."""
    others: list[Command] = [
        ("ZRANGE", woken(other), 0, -1, "WITHSCORES") for other in range(site.partitions) if other != partition
    ]
    found = await site.redis.pipeline(others) if others else []
    return Room(site.woken_comments, sum(round(float(count)) for part in found for _, count in part))


async def that_came_back(site: Site, partition: int) -> list[int]:
    """The articles of a partition whose conversations came back, the shortest ones first. One round trip."""
    return [int(number) for number in await site.redis.run(("ZRANGE", woken(partition), 0, -1))]


async def noted(site: Site, partition: int) -> list[int]:
    """The archived articles of a partition of which Redis may have comments. One round trip."""
    return [int(number) for number in await site.redis.run(("ZRANGE", left(partition), 0, -1))]


async def _run(site: Site, script: Script, article: int, held: Lease, *arguments: object) -> str:
    partition = site.partition_of_article(article)
    command = site.command(script, partition, site.partitions, article, held.token, *arguments)  # type: ignore[arg-type]
    (status,) = await site.redis.run(command)
    if status == "overtaken":
        raise Overtaken
    return str(status)


async def _numbers(site: Site, article: int) -> AsyncIterator[list[int]]:
    """The numbers of all comments of an article, some at a time, in the order of its tree."""
    tree, after = keys.tree(site.partition_of_article(article), article), "-"
    while members := await site.redis.run(("ZRANGEBYLEX", tree, after, "+", "LIMIT", 0, READ_AT_ONCE)):
        yield [int(member.split()[1]) for member in members]  # after the branch path
        after = f"({members[-1]}"


def _is_flagged(fields: Mapping[str, str], flags: Sequence[str]) -> bool:
    return "state" not in fields and any(map(stands, flags))


def _waits(fields: Mapping[str, str]) -> bool:
    return not fields or fields.get("state") == "pending" or any(name in fields for name in STAYING)
