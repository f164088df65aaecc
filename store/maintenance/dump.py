"""
Reading a store whole, while it is in use, as records from which all of it can be made anew; the other way round is
`restoring`. A record is a list that JSON can hold, its kind first:

    ranking    the orders that are kept, {group: its weights}; where the store is told
    imported   {story: number}
    article    number, fields, who voted up, who voted down
    follows    follower, {followee: since}
    user       fields
    posted     username, digest of the key, value, when it ends
    session    digest, username, when it ends
    sequences  the last one given to a post, of each partition

Indexes, karma, followers and times to live are derived. Pins and what limits count are left out, and sessions unless
they are asked for.

Every record is read in one step, and what refers to others before these: so a copy has all that was done before it
began, and of what is done meanwhile each step or nothing.
"""

from collections.abc import AsyncIterator, Callable, Iterable, Sequence
from math import isfinite
from typing import Any

from store import key_kinds, keys, records
from store.key_kinds import Key
from store.maintenance.record_checks import COUNT, is_whole, malformed_fields
from store.ranking.config import stored_rankings
from store.ranking.formulas import ORDERS
from store.scripts.registry import Script
from store.site import Site

Record = list[Any]

WALKS = 2  # over all keys
SCANNED = 500  # keys at once, about
COPIED = 100  # things in a round trip

DUMP_ARTICLE = Script("dump_article", is_read_only=True)


async def size(site: Site) -> int:
    """How many keys are walked over, each as often as it is. One round trip."""
    return WALKS * await site.redis.size()


async def settings(site: Site) -> dict[str, str]:
    """What the store says of itself. One round trip."""
    kept: dict[str, str] = await site.redis.run(("HGETALL", keys.store()))
    return kept


async def copied(
    site: Site, walked: Callable[[int], object], left_out: Callable[[str], object], *, sessions: bool = False
) -> AsyncIterator[list[Record]]:
    """All records, some at a time. Of what is broken nothing is copied, and its key is told."""
    orders, weights = await stored_rankings(site.redis)
    if orders is not None or weights:
        yield [["ranking", " ".join(ORDERS) if orders is None else orders, weights]]
    async for some in _imported(site, left_out):
        yield some
    async for found in _walk(site, walked):
        yield await _articles(site, [key for key in found if key.kind == "article"], left_out)
        yield await _follows(site, [key for key in found if key.kind == "following"], left_out)
    async for found in _walk(site, walked):
        yield await _users(site, [key for key in found if key.kind == "user"], left_out)
        yield await _posted(site, [key for key in found if key.kind == "posted"], left_out)
        if sessions:
            yield await _sessions(site, [key for key in found if key.kind == "session"], left_out)
    yield [await _sequences(site, left_out)]


async def _walk(site: Site, walked: Callable[[int], object]) -> AsyncIterator[list[Key]]:
    async for texts in site.redis.scan(SCANNED):
        found = [key for text in texts if (key := key_kinds.key(site, text))]
        for start in range(0, len(found), COPIED):
            yield found[start : start + COPIED]
        walked(len(texts))


def _whole(found: Iterable[tuple[str, Record]], left_out: Callable[[str], object]) -> list[Record]:
    """The records of keys, but for those that no store can be made of."""
    records = []
    for key, record in found:
        if is_whole(record):
            records.append(record)
        else:
            left_out(key)
    return records


def _usable(key: str, fields: dict[str, str], left_out: Callable[[str], object]) -> dict[str, str]:
    """The fields of a hash, but for malformed ones that a copy does without."""
    malformed = malformed_fields(fields)
    for name in malformed:
        left_out(f"{key} {name}")
    return {name: value for name, value in fields.items() if name not in malformed}


async def _imported(site: Site, left_out: Callable[[str], object]) -> AsyncIterator[list[Record]]:
    for p in range(site.partitions):
        cursor = ""
        while cursor != "0":
            cursor, flat = await site.redis.run(("HSCAN", keys.imported(p), cursor or "0", "COUNT", SCANNED))
            stories = records.pairs(flat).items()
            found = ((f"{keys.imported(p)} {story}", ["imported", {story: number}]) for story, number in stories)
            if some := _whole(found, left_out):
                yield [["imported", {story: number for _, each in some for story, number in each.items()}]]


async def _articles(site: Site, found: Sequence[Key], left_out: Callable[[str], object]) -> list[Record]:
    scripts = [
        DUMP_ARTICLE.command([key.text, keys.voted(key.p, key.name), keys.downvoted(key.p, key.name)]) for key in found
    ]
    read: list[tuple[str, Record]] = []
    for key, (flat, up, down) in zip(found, await site.redis.pipeline(scripts), strict=True):
        if flat:
            fields = _usable(key.text, records.pairs(flat), left_out)
            read.append((key.text, ["article", int(key.name), fields, up, down]))
    return _whole(read, left_out)


async def _follows(site: Site, found: Sequence[Key], left_out: Callable[[str], object]) -> list[Record]:
    replies = await site.redis.pipeline(
        [
            command
            for key in found
            for command in (
                ("HGET", keys.user(key.p, key.name), "name"),
                ("ZRANGE", key.text, 0, -1, "WITHSCORES"),
            )
        ]
    )
    read: list[tuple[str, Record]] = [
        (key.text, ["follows", name, {followee: int(since) if isfinite(since) else None for followee, since in pairs}])
        for key, name, pairs in zip(found, replies[::2], replies[1::2], strict=True)
        if name and pairs
    ]
    return _whole(read, left_out)


async def _users(site: Site, found: Sequence[Key], left_out: Callable[[str], object]) -> list[Record]:
    read: list[tuple[str, Record]] = []
    replies = await site.redis.pipeline([("HGETALL", key.text) for key in found])
    for key, fields in zip(found, replies, strict=True):
        if fields.get("name", "").lower() == key.name:
            read.append((key.text, ["user", _usable(key.text, fields, left_out)]))
        else:
            left_out(key.text)
    return _whole(read, left_out)


async def _posted(site: Site, found: Sequence[Key], left_out: Callable[[str], object]) -> list[Record]:
    commands = [command for key in found for command in (("GET", key.text), ("PTTL", key.text))]
    replies = await site.redis.pipeline(commands)
    now = site.clock()
    read: list[tuple[str, Record]] = [
        (key.text, ["posted", *key.name.split(":"), value, now + left])
        for key, value, left in zip(found, replies[::2], replies[1::2], strict=True)
        if value and left > 0
    ]
    return _whole(read, left_out)


async def _sessions(site: Site, found: Sequence[Key], left_out: Callable[[str], object]) -> list[Record]:
    values = await site.redis.pipeline([("GET", key.text) for key in found])
    read: list[tuple[str, Record]] = []
    for key, value in zip(found, values, strict=True):
        if value:
            username, _, ends = value.partition(" ")
            read.append((key.text, ["session", key.name, username, _count(ends)]))
    return _whole(read, left_out)


async def _sequences(site: Site, left_out: Callable[[str], object]) -> Record:
    """0 where one cannot be used: the next number is of its time then."""
    given = await site.redis.pipeline([("GET", keys.sequence(p)) for p in range(site.partitions)])
    sequences = [_count(text or "0") for text in given]
    for p, sequence in enumerate(sequences):
        if sequence is None:
            left_out(keys.sequence(p))
    return ["sequences", [sequence or 0 for sequence in sequences]]


def _count(text: str) -> int | None:
    return int(text) if COUNT.fullmatch(text) else None
