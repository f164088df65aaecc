"""
Finds and repairs lists of users' comments, shown and not shown, and the karma that comments have given to users, where
these do not agree with the comments. The comments of a user are in the partitions of the articles, so they cannot be
compared in one step. A part of `verify`. A partition is a share of the data.
"""

from collections.abc import Sequence
from typing import Any, NamedTuple

from store import comment_lists, keys, leaving, removals
from store.client import Command
from store.kinds import Key, Kind
from store.maintenance.absent import FindComments, FindHashes, fields_of
from store.maintenance.wrong import Wrong
from store.records import ContentState
from store.site import Site

COMMENTS_AT_ONCE = 500  # in a round trip
KARMA = "comment_karma"  # field of a user
HELD = (ContentState.PENDING.value, ContentState.REMOVED.value)
FIELDS = ("poster", "time", "up", "down", "state", "away")  # of a comment


class DatabaseComments(NamedTuple):
    """Reads of the database: `hashes` of archived comments, and the `older` comments of a user, which no list has."""

    hashes: FindHashes
    older: FindComments


async def find(site: Site, lists: Sequence[Key], database: DatabaseComments | None = None) -> list[Wrong]:
    """
    What is wrong with the lists of some users and their karma. Read again if it seems wrong: a change may be under way.
    Comments that are being removed leave the lists before their karma is taken away: then karma is not verified.
    Neither is that of a user whose list lacks older comments, without the `database`.
    """
    return [
        wrong
        for key in _once(lists)
        if await _of_user(site, key, database)
        for wrong in await _confirmed(site, key, database)
    ]


async def repair(site: Site, lists: Sequence[Key]) -> None:
    """Repair the lists of some users and their karma. Nobody may write meanwhile."""
    for key in _once(lists):
        await site.redis.pipeline([wrong.repair for wrong in await _of_user(site, key, database=None)])


def _once(lists: Sequence[Key]) -> list[Key]:
    """One key for each user, who may have two lists."""
    return list({(key.partition, key.suffix): key for key in lists}.values())


async def _confirmed(site: Site, key: Key, database: DatabaseComments | None) -> list[Wrong]:
    """What is wrong in two reads, one after the other, in the same way."""
    first, is_removing = await _of_user(site, key, database), await removals.is_removing(site)
    second = await _of_user(site, key, database)
    return [wrong for wrong in second if wrong in first and not (is_removing and wrong.where.endswith(KARMA))]


async def _of_user(site: Site, key: Key, database: DatabaseComments | None) -> list[Wrong]:
    account, found, karma = keys.user(key.partition, key.suffix), list[Wrong](), dict[str, int]()
    archived = database.hashes if database else None
    stored = await site.redis.run(("HGET", account, KARMA))
    for kind in (keys.comments, keys.unlisted):
        found += await _of_list(site, key, kind, karma, archived)
    found += await _held(site, key, sorted(karma), archived)
    if until := await comment_lists.stored_floor(site, key.suffix):
        if database is None:
            return found
        karma |= await _karma_of_older(site, key.suffix, until, database)
    if int(stored or 0) != sum(karma.values()):
        setting: Command = ("HSET", account, KARMA, sum(karma.values()))
        expected = str(sum(karma.values()))
        found.append(Wrong(f"{account} {KARMA}", found=stored, expected=expected, repair=setting))
    return found


async def _karma_of_older(site: Site, username: str, until: int, database: DatabaseComments) -> dict[str, int]:
    """The karma of each comment of a user up to a time (unix milliseconds), by its member."""
    name, found = await leaving.stored_name(site, username) or username, dict[str, int]()
    numbers = await database.older(name, until)
    for start in range(0, len(numbers), COMMENTS_AT_ONCE):
        some = numbers[start : start + COMMENTS_AT_ONCE]
        replies = await _fields(site, some, ("poster", "up", "down", "state"), database.hashes)
        for number, (poster, *counts) in zip(some, replies, strict=True):
            if (poster or "").lower() == username:
                found[keys.member(number)] = _karma(*counts)
    return found


def _karma(up: str, down: str, state: str | None) -> int:
    """What a comment gives to its poster, whose own vote gives nothing."""
    return 0 if state == ContentState.REMOVED.value else int(up) - int(down) - 1


async def _held(site: Site, key: Key, members: Sequence[str], archived: FindHashes | None) -> list[Wrong]:
    """What is wrong with the list of a user's comments that are pending or removed. `members` are all of the user's."""
    own, found = keys.held_comments(key.partition, key.suffix), list[Wrong]()
    listed = dict(await site.redis.run(("ZRANGE", own, 0, -1, "WITHSCORES")))
    expected: dict[str, str] = {}
    for start in range(0, len(members), COMMENTS_AT_ONCE):
        some = members[start : start + COMMENTS_AT_ONCE]
        replies = await _fields(site, list(map(int, some)), ("state", "time"), archived)
        expected |= {member: time for member, (state, time) in zip(some, replies, strict=True) if state in HELD}
    for member in sorted({*listed, *expected}):
        value, time = listed.get(member), expected.get(member)
        if value is None or time is None or float(value) != float(time):
            repair: Command = ("ZREM", own, member) if time is None else ("ZADD", own, time, member)
            listed_at = None if value is None else f"{float(value):.0f}"
            found.append(Wrong(f"{own} {member}", found=listed_at, expected=time, repair=repair))
    return found


async def _of_list(site: Site, key: Key, kind: Kind, karma: dict[str, int], archived: FindHashes | None) -> list[Wrong]:
    """What is wrong with one of the two lists of a user. Adds the karma of each comment to `karma`, by its member."""
    own, found, start = kind(key.partition, key.suffix), list[Wrong](), 0
    while members := await site.redis.run(("ZRANGE", own, start, start + COMMENTS_AT_ONCE - 1, "WITHSCORES")):
        start += COMMENTS_AT_ONCE
        replies = await _fields(site, [int(member) for member, _ in members], FIELDS, archived)
        for (member, value), (poster, time, up, down, state, away) in zip(members, replies, strict=True):
            where, is_own = f"{own} {member}", (poster or "").lower() == key.suffix
            expected = keys.unlisted if state or away else keys.comments
            if is_own:
                karma[member] = _karma(up, down, state)
            if not is_own or kind is not expected:
                found.append(Wrong(where, found=f"{float(value):.0f}", expected=None, repair=("ZREM", own, member)))
            if is_own and (kind is not expected or float(value) != float(time)):
                right = expected(key.partition, key.suffix)
                found_value = f"{float(value):.0f}" if kind is expected else None
                addition = ("ZADD", right, time, member)
                found.append(Wrong(f"{right} {member}", found=found_value, expected=time, repair=addition))
    return found


async def _fields(
    site: Site, numbers: Sequence[int], fields: Sequence[str], archived: FindHashes | None
) -> list[list[Any]]:
    """Some fields of comments."""
    hashes = [(keys.comment(site.partition_of_article(number), number), number) for number in numbers]
    return await fields_of(site, hashes, fields, archived)
