"""
Finds and repairs users whose list of comments, or whose karma of these, is not what the comments say. The comments of a
user are in the partitions of the articles, so they cannot be compared in one step.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from store import keys
from store.client import Command
from store.key_kinds import Key
from store.site import Site

COMMENTS_AT_ONCE = 500  # in a round trip


@dataclass(frozen=True, slots=True)
class Wrong:
    """`where` is a key, with a field or a member; `found` and `expected` are None for nothing."""

    where: str
    found: str | None
    expected: str | None
    repair: Command


async def find(site: Site, lists: Sequence[Key]) -> list[Wrong]:
    """
    What is wrong with the lists of some users and their karma. Read again if it seems wrong: a change may be under way.
    """
    return [wrong for key in lists if await _of_user(site, key) for wrong in await _confirmed(site, key)]


async def repair(site: Site, lists: Sequence[Key]) -> None:
    """Repair the lists of some users and their karma. Nobody may write meanwhile."""
    for key in lists:
        await site.redis.pipeline([wrong.repair for wrong in await _of_user(site, key)])


async def _confirmed(site: Site, key: Key) -> list[Wrong]:
    """What is wrong in two reads, one after the other, in the same way."""
    first, second = await _of_user(site, key), await _of_user(site, key)
    return [wrong for wrong in second if wrong in first]


async def _of_user(site: Site, key: Key) -> list[Wrong]:
    account, found, karma, start = keys.user(key.p, key.suffix), list[Wrong](), 0, 0
    stored = await site.redis.run(("HGET", account, "comment_karma"))
    while members := await site.redis.run(("ZRANGE", key.text, start, start + COMMENTS_AT_ONCE - 1, "WITHSCORES")):
        start += COMMENTS_AT_ONCE
        numbers = [int(member) for member, _ in members]
        hashes = [keys.comment(site.home_of_article(number), number) for number in numbers]
        replies = await site.redis.pipeline([("HMGET", each, "poster", "time", "up", "down") for each in hashes])
        for (member, value), (poster, time, up, down) in zip(members, replies, strict=True):
            if (poster or "").lower() != key.suffix:
                removal: Command = ("ZREM", key.text, member)
                found.append(Wrong(f"{key.text} {member}", f"{float(value):.0f}", None, removal))
                continue
            karma += int(up) - int(down) - 1
            if float(value) != float(time):
                change: Command = ("ZADD", key.text, time, member)
                found.append(Wrong(f"{key.text} {member}", f"{float(value):.0f}", time, change))
    if int(stored or 0) != karma:
        setting: Command = ("HSET", account, "comment_karma", karma)
        found.append(Wrong(f"{account} comment_karma", stored, str(karma), setting))
    return found
