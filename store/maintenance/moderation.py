"""
Finds and repairs indexes of the actions of moderators that do not agree with the actions, and indexes of moderators
that do not agree with the roles of users. Finds actions that are malformed. A part of `verify`.
"""

from collections.abc import Sequence
from functools import partial

from store import keys, moderation, moderation_records, roles
from store.client import Command
from store.kinds import Check, Key
from store.maintenance.records.actions import ActionRecord
from store.maintenance.records.record import MalformedRecord
from store.maintenance.wrong import IndexEntry, Wrong, confirmed, missing
from store.site import Site

MEMBERS_AT_ONCE = 500  # in a round trip
MEMBER_LENGTH = len(keys.member(1))  # of every number as a member


async def find(site: Site, found: Sequence[Key]) -> list[Wrong]:
    """
    What is wrong with some keys: actions, users, and their indexes. Read again if it seems wrong: a change may be under
    way. An action that is malformed is reported by its key, and cannot be repaired.
    """
    return await confirmed(found, partial(_wrong_with, site))


async def malformed(site: Site, found: Sequence[Key]) -> list[tuple[str, str]]:
    """The keys of actions that cannot be restored from a backup, each with what is wrong."""
    hashes = await site.redis.pipeline([("HGETALL", key.text) for key in found])
    checked = [(key.text, _fault(key, fields)) for key, fields in zip(found, hashes, strict=True)]
    return [(where, fault) for where, fault in checked if fault]


async def _wrong_with(site: Site, key: Key) -> list[Wrong]:
    match key.kind.check:
        case Check.ACTION | Check.USER:
            return await missing(site, await _entries(site, key))
        case _:
            return await _unexpected(site, key)


async def _entries(site: Site, key: Key) -> list[IndexEntry]:
    """Where the indexes have an action, or a user with roles."""
    fields = await site.redis.run(("HGETALL", key.text))
    if key.kind.check is Check.ACTION:
        if _fault(key, fields):
            return []
        member, at = keys.member(int(key.suffix)), int(fields["at"])
        return [IndexEntry(keys.actions(key.partition, scope), member, at) for scope in moderation.scopes_of(fields)]
    index = roles.index_of(moderation_records.parse_roles(fields.get("roles", "")))
    return [
        IndexEntry(keys.moderators(key.partition, scope), fields.get("name", ""), at) for scope, at in index.items()
    ]


async def _unexpected(site: Site, key: Key) -> list[Wrong]:
    """The members of an index that do not belong there."""
    wrong, start = list[Wrong](), 0
    while pairs := await site.redis.run(("ZRANGE", key.text, start, start + MEMBERS_AT_ONCE - 1, "WITHSCORES")):
        start += MEMBERS_AT_ONCE
        for member, value in pairs:
            entries = await _entries_of_member(site, key, member)
            if entries is not None and (key.text, member) not in [(each.key, each.member) for each in entries]:
                removal: Command = ("ZREM", key.text, member)
                wrong.append(Wrong(f"{key.text} {member}", found=f"{value:.0f}", expected=None, repair=removal))
    return wrong


async def _entries_of_member(site: Site, key: Key, member: str) -> list[IndexEntry] | None:
    """
    The entries that the action, or the user, of a member should have. None for an action that is malformed: its entries
    help to repair it by hand.
    """
    if key.kind.check is Check.MODERATORS:
        name = member.lower()
        return await _entries(site, Key(keys.user(key.partition, name), keys.user, "user", key.partition, name))
    if not member.isdecimal() or len(member) != MEMBER_LENGTH:
        return []
    number = keys.number_of(member)
    action = Key(keys.action(key.partition, number), keys.action, "action", key.partition, number)
    fields = await site.redis.run(("HGETALL", action.text))
    return None if fields and _fault(action, fields) else await _entries(site, action)


def _fault(key: Key, fields: dict[str, str]) -> str:
    """What is wrong with an action, or ""."""
    try:
        ActionRecord(int(key.suffix), fields).check()
    except MalformedRecord as fault:
        return str(fault)
    return ""
