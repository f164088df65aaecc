"""
Finds and repairs annulled votes that are malformed, are on what is gone, or still count, and the lists of the articles
and comments on which an action of a moderator holds a vote: an action holds the votes that it has annulled, which means
that they do not count. A part of `verify`.
"""

from collections.abc import Sequence
from functools import partial

from store import annulments, keys
from store.kinds import Check, Key
from store.maintenance.records.annulments import ANNULLED_VOTE
from store.maintenance.wrong import IndexEntry, Wrong, confirmed, missing
from store.site import Site

MEMBERS_AT_ONCE = 500  # in a round trip


async def find(site: Site, found: Sequence[Key]) -> list[Wrong]:
    """What is wrong with annulled votes. Read again if it seems wrong: a change may be under way."""
    checked = [key for key in found if key.kind.check is Check.ANNULLED]
    return await confirmed(checked, partial(_wrong_with, site))


async def _wrong_with(site: Site, key: Key) -> list[Wrong]:
    return await (_of_votes if key.kind is keys.annulled else _of_action)(site, key)


async def _of_votes(site: Site, key: Key) -> list[Wrong]:
    """What is wrong with the annulled votes on an article or a comment, which may be archived (no longer in Redis)."""
    fields, number = await site.redis.run(("HGETALL", key.text)), int(key.suffix)
    if fields and not await _may_exist(site, key.partition, number):
        return [Wrong(key.text, found="annulled votes", expected=None, repair=("DEL", key.text))]
    wrong, entries = list[Wrong](), list[IndexEntry]()
    for voter, text in fields.items():
        if not ANNULLED_VOTE.fullmatch(text):
            wrong.append(Wrong(f"{key.text} {voter}", found=text, expected=None, repair=("HDEL", key.text, voter)))
            continue
        held_by = text.split()[1:]  # numbers of actions
        cases = [annulments.cases(key.partition, action) for action in held_by]
        entries += [IndexEntry(index, keys.member(number), at=0) for index in cases]
    return wrong + await _counted(site, key.partition, number, list(fields)) + await missing(site, entries)


async def _counted(site: Site, partition: int, number: int, names: Sequence[str]) -> list[Wrong]:
    """The annulled votes, of users with these names, that still count: they are in a set of voters. One round trip."""
    sets = (keys.voted(partition, number), keys.downvoted(partition, number))
    places = [(voters, name) for voters in sets for name in names]
    found = await site.redis.pipeline([("SISMEMBER", *place) for place in places])
    return [
        Wrong(f"{voters} {name}", found="there", expected=None, repair=("SREM", voters, name))
        for (voters, name), is_there in zip(places, found, strict=True)
        if is_there
    ]


async def _of_action(site: Site, key: Key) -> list[Wrong]:
    """The articles and comments among the `cases` of an action on which it holds no vote."""
    wrong, start = list[Wrong](), 0
    while members := await site.redis.run(("ZRANGE", key.text, start, start + MEMBERS_AT_ONCE - 1)):
        start += MEMBERS_AT_ONCE
        numbers = [int(member) if member.isdecimal() else 0 for member in members]
        held = await site.redis.pipeline([("HVALS", keys.annulled(key.partition, number)) for number in numbers])
        for member, texts in zip(members, held, strict=True):
            if not any(key.suffix in text.split()[1:] for text in texts):
                removal = ("ZREM", key.text, member)
                wrong.append(Wrong(f"{key.text} {member}", found="there", expected=None, repair=removal))
    return wrong


async def _may_exist(site: Site, partition: int, number: int) -> bool:
    """Whether an article or a comment is in Redis, or may be archived, as the partition has archived articles."""
    found, archived = await site.redis.pipeline(
        [
            ("EXISTS", keys.article(partition, number), keys.comment(partition, number)),
            ("HGET", keys.archived(partition), "count"),
        ]
    )
    return bool(found) or int(archived or 0) > 0
