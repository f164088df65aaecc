"""
Finds and repairs members of users' lists, such as saved articles, that cannot belong there, and mirrors of lists that
do not agree with the lists: the mirror of a member is a key with the owners of all lists that have this member. A part
of `verify`.
"""

from collections.abc import AsyncIterator, Sequence
from functools import partial

from store.kinds import Key, Kind, declared
from store.maintenance.records.lists import member_of
from store.maintenance.wrong import Wrong, confirmed
from store.site import Site

MEMBERS_AT_ONCE = 500  # in a round trip

Pairs = Sequence[tuple[str, float]]  # members, or owners, and when they were added (unix milliseconds)


async def find(site: Site, lists: Sequence[Key]) -> list[Wrong]:
    """
    What is wrong in some lists and mirrors. Read again if it seems wrong: a change may be under way.

    Members that are malformed, or of things in another partition (share of the data), are removed.
    """
    return await confirmed(lists, partial(_wrong_with, site))


async def _wrong_with(site: Site, key: Key) -> list[Wrong]:
    wrong: list[Wrong] = []
    listed = mirrored_by(key.kind)
    async for pairs in _pairs(site, key):
        wrong += await (_in_mirror(site, key, listed, pairs) if listed else _in_list(site, key, pairs))
    return wrong


async def _pairs(site: Site, key: Key) -> AsyncIterator[Pairs]:
    start = 0
    while pairs := await site.redis.run(("ZRANGE", key.text, start, start + MEMBERS_AT_ONCE - 1, "WITHSCORES")):
        yield pairs
        start += MEMBERS_AT_ONCE


async def _in_list(site: Site, key: Key, pairs: Pairs) -> list[Wrong]:
    """Find members that do not belong in a list, and mirrors that lack its owner."""
    member, mirror = member_of(key.kind), key.kind.mirror
    usable = [pair for pair in pairs if _belongs(site, key, pair[0])]
    wrong = [_removal(key, *pair) for pair in pairs if not _belongs(site, key, pair[0])]
    if mirror is None:
        return wrong
    mirrors = [mirror(key.partition, member.part(text)) for text, _ in usable]
    values = await site.redis.pipeline([("ZSCORE", each, key.suffix) for each in mirrors])
    for each, (_, since), value in zip(mirrors, usable, values, strict=True):
        if value is None or float(value) != since:
            repair = ("ZADD", each, repr(since), key.suffix)
            wrong.append(Wrong(f"{each} {key.suffix}", found=_text(value), expected=_text(since), repair=repair))
    return wrong


def _belongs(site: Site, key: Key, member: str) -> bool:
    named = member_of(key.kind)
    return named.fits(member) and (
        key.kind.is_with_owner or named.partition_of(member, site.partitions) == key.partition
    )


async def _in_mirror(site: Site, key: Key, listed: Kind, pairs: Pairs) -> list[Wrong]:
    """Find owners in a mirror whose lists do not have the member that it is about."""
    member = member_of(listed).text(key.suffix)
    values = await site.redis.pipeline([("ZSCORE", listed(key.partition, owner), member) for owner, _ in pairs])
    return [_removal(key, *pair) for pair, value in zip(pairs, values, strict=True) if value is None]


def mirrored_by(kind: Kind) -> Kind | None:
    """The kind of the lists whose mirror a kind is."""
    return next((each for each in declared() if each.mirror is kind), None)


def _removal(key: Key, member: str, since: float) -> Wrong:
    return Wrong(f"{key.text} {member}", found=_text(since), expected=None, repair=("ZREM", key.text, member))


def _text(value: float | None) -> str | None:
    return None if value is None else f"{float(value):.0f}"
