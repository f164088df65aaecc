"""
The lists of users' comments, which are sorted sets of comment numbers by time. Each has the newest visible comments of
a user; older ones are cut off once the database has them (see `archive/comment_lists.py`), so that Redis does not grow
with what was written long ago. The account of the user then has the *floor*, up to which the database is read as well
(see `resolvers/older_comments.py`).

A comment that becomes visible again may come back to the list below the floor. The lists of comments that are not shown
are never cut.
"""

from collections.abc import Sequence
from typing import NamedTuple

from store import keys, moving
from store.client import Command
from store.kinds import Key
from store.queries import Read
from store.scripts.registry import Script
from store.site import Site

CUT_COMMENTS = Script("cut_comments")
FLOOR_FIELD = "older_comments"  # of a user
MOST_CUT = 1_000  # comments that are cut off a list at once, in about a millisecond


class Excess(NamedTuple):
    """Comments that are older than those a list keeps, as members, and the time of the newest of these (unix ms)."""

    key: Key
    members: Sequence[str]
    until: int


def floor(site: Site, username: str) -> Read[int]:
    """
    The time up to which the list of a user lacks comments (unix milliseconds), 0 if it has all. To be read after the
    list, as more may be cut off meanwhile.
    """
    account = keys.user(site.partition_of_user(username), username)
    context = (moving.new_call(),)  # so that it is always sent: a request sends equal reads only once
    return Read(("HGET", account, FLOOR_FIELD), _instant, context)


async def stored_floor(site: Site, username: str) -> int:
    """As `floor`. One round trip."""
    read = floor(site, username)
    return read.result(await site.redis.run(read.command))


async def excess(site: Site, lists: Sequence[Key], kept: int, before: int) -> list[Excess]:
    """
    The comments that lists have beyond their newest `kept`, and that were posted before an instant (unix milliseconds):
    at most the `MOST_CUT` oldest of each list. Lists that have nothing beyond are left out. Two round trips.
    """
    sizes = await site.redis.pipeline([("ZCARD", each.text) for each in lists])
    long = [(each, min(size - kept, MOST_CUT)) for each, size in zip(lists, sizes, strict=True) if size > kept]
    commands: list[Command] = [("ZRANGE", each.text, 0, count - 1, "WITHSCORES") for each, count in long]
    replies = await site.redis.pipeline(commands) if commands else []
    found = []
    for (each, _), listed in zip(long, replies, strict=True):
        old = [(member, int(float(time))) for member, time in listed if float(time) < before]
        if old:
            found.append(Excess(each, [member for member, _ in old], old[-1][1]))
    return found


async def cut(site: Site, found: Sequence[Excess]) -> int:
    """Cut comments off lists, and raise the floors of these. Returns how many were cut. One round trip."""
    commands = [
        CUT_COMMENTS.command(
            [keys.closed(each.key.partition), keys.user(each.key.partition, each.key.suffix), each.key.text],
            each.until, *each.members,
        )
        for each in found
    ]  # fmt: skip
    return sum(count for _, count in await site.redis.pipeline(commands))


def _instant(call: int, reply: str | None) -> int:
    return int(reply or 0)
