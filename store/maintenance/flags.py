"""
Finds and repairs queues of what waits for moderators, where they do not agree with the flags and the states of articles
and comments, flags on what is gone, and flags that are malformed. Whether all that is pending is in its queue is
verified with the articles and comments. A part of `verify`.
"""

from collections.abc import Sequence
from functools import partial

from store import flags, keys
from store.flags import FLAGS, Flag, Queue
from store.held_edits import HELD_EDIT
from store.kinds import Check, Key
from store.maintenance import appeals
from store.maintenance.absent import may_be_archived
from store.maintenance.wrong import IndexEntry, Wrong, confirmed, missing
from store.site import Site

MEMBERS_AT_ONCE = 500  # in a round trip
MEMBER_LENGTH = len(keys.member(1))  # of every number as a member


async def find(site: Site, found: Sequence[Key]) -> list[Wrong]:
    """
    What is wrong with flags and with queues of what is flagged. Read again if it seems wrong: a change may be under
    way.
    """
    checked = [key for key in found if key.kind.check in (Check.FLAGS, Check.QUEUE)]
    return await confirmed(checked, partial(_wrong_with, site))


async def _wrong_with(site: Site, key: Key) -> list[Wrong]:
    if key.kind.check is Check.FLAGS:
        return await _of_flags(site, key)
    return await _of_queue(site, key)


async def _of_flags(site: Site, key: Key) -> list[Wrong]:
    """
    The malformed flags in a hash, or all of them if their article or comment is gone and cannot be archived; and the
    queues that lack the article or comment, by its well-formed flags.
    """
    fields, number = await site.redis.run(("HGETALL", key.text)), int(key.suffix)
    if (
        fields
        and await _is_visible(site, key.partition, number) is None
        and not await may_be_archived(site, key.partition)
    ):
        return [Wrong(key.text, found="flags", expected=None, repair=("DEL", key.text))]
    wrong, usable = list[Wrong](), list[Flag]()
    for name, text in fields.items():
        try:
            usable += flags.parse({name: text})
        except ValueError:
            wrong.append(Wrong(f"{key.text} {name}", found=text, expected=None, repair=("HDEL", key.text, name)))
    member, wanted = keys.member(number), await _waiting(site, key.partition, number, usable)
    return wrong + await missing(site, [IndexEntry(queue, member, since) for queue, since in wanted.items()])


async def _of_queue(site: Site, key: Key) -> list[Wrong]:
    """The members of a queue that do not belong there."""
    wrong, start = list[Wrong](), 0
    while pairs := await site.redis.run(("ZRANGE", key.text, start, start + MEMBERS_AT_ONCE - 1, "WITHSCORES")):
        start += MEMBERS_AT_ONCE
        for member, value in pairs:
            if not await _belongs(site, key, member):
                removal = ("ZREM", key.text, member)
                wrong.append(Wrong(f"{key.text} {member}", found=f"{value:.0f}", expected=None, repair=removal))
    return wrong


async def _belongs(site: Site, key: Key, member: str) -> bool:
    queue, _, scope = key.suffix.partition(":")  # such as `pending:all` or `pending:group:video`
    if queue == Queue.FLAGGED.value:
        return key.text in await _queues_of(site, key.partition, member)
    if not member.isdecimal() or len(member) != MEMBER_LENGTH:
        return False
    if queue == flags.APPEALS:
        return await appeals.belongs(site, key, member)
    state, groups = await site.redis.run(("HMGET", keys.article(key.partition, int(member)), "state", "groups"))
    if groups is None:
        state, article = await site.redis.run(("HMGET", keys.comment(key.partition, int(member)), "state", "article"))
        groups = await site.redis.run(("HGET", keys.article(key.partition, article or ""), "groups"))
    if groups is None:
        return False
    waits = state == Queue.PENDING.value or (not state and await _has_edit(site, key.partition, int(member)))
    return waits and (scope == flags.ALL or scope.removeprefix("group:") in groups.split())


async def _has_edit(site: Site, partition: int, number: int) -> bool:
    return bool(await site.redis.run(("EXISTS", HELD_EDIT(partition, number))))


async def _queues_of(site: Site, partition: int, member: str) -> dict[str, int]:
    """The keys of the queues of flagged things in which a member should be, each with since when (milliseconds)."""
    if not member.isdecimal() or len(member) != MEMBER_LENGTH:
        return {}
    number = int(member)
    fields, usable = await site.redis.run(("HGETALL", FLAGS(partition, number))), list[Flag]()
    for name, text in fields.items():
        try:
            usable += flags.parse({name: text})
        except ValueError:
            continue
    return await _waiting(site, partition, number, usable)


async def _waiting(site: Site, partition: int, number: int, found: Sequence[Flag]) -> dict[str, int]:
    """As `_queues_of`, of what has the flags that were found."""
    return flags.waiting(partition, number, found, bool(await _is_visible(site, partition, number)))


async def _is_visible(site: Site, partition: int, number: int) -> bool | None:
    """Whether an article or a comment is visible; None if Redis does not have it."""
    return flags.is_visible(await site.redis.pipeline(flags.state_commands(partition, number)))
