"""
Dumps a store, while it is in use, as records from which `restore` creates the same store. A record is a list that JSON
can represent, its kind first:

    serverkeys {name: digest of the secret, and when the key was created}
    ranking    the orders that clients may ask for, {group: its weights}; only if they were changed
    imported   {story or comment: number}
    article    number, fields, usernames who voted up, usernames who voted down
    comment    number, fields, usernames who voted up, usernames who voted down; after its article and its parent
    follows    follower, {followee: since}
    user       fields
    posted     username, digest of the idempotency key, value, when it expires
    commented  the same, of a comment
    session    digest, username, when it ends
    sequences  the last one given to a post, of each partition

`key_kinds` says which keys these have, which are derived from them, and which are left out. Each record is read
atomically. What refers to something is read before it: an article before its poster. So a dump has everything from
before it began, and of each change made meanwhile all or nothing; of an article that is deleted meanwhile, it may have
a part of the comments.
"""

from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Sequence
from math import isfinite
from typing import Any

from store import key_kinds, keys, links, records, threads
from store.key_kinds import Backup, Key
from store.maintenance import scan
from store.maintenance.record_checks import COUNT, is_valid, malformed_fields
from store.maintenance.scan import Progress
from store.ranking.config import stored_rankings
from store.ranking.formulas import ORDERS
from store.scripts.registry import Script
from store.server_keys import HOME
from store.site import Site
from store.threads import CommentOrder, ThreadWindow

Record = list[Any]
Skipped = Callable[[str], object]  # is called with each key, or key and field, that is damaged and left out

RECORDS_AT_ONCE = 100  # in a round trip
# kinds that are dumped in a pass over all keys; `tree` stands for the comments of an article
PASSES = (("article", "following"), ("tree",), ("user", "posted", "commented", "session"))
DERIVED_FIELDS = {"article": {links.FIELD, "comments"}, "comment": {"path", "moves", "replies", "depth", "slot"}}

DUMP_ARTICLE = Script("dump_article", is_read_only=True)


async def size(site: Site) -> int:
    """How much `records_of` reports as progress. One round trip."""
    return len(PASSES) * await site.redis.size()


async def settings(site: Site) -> dict[str, str]:
    """The settings that the store was made with. One round trip."""
    stored: dict[str, str] = await site.redis.run(("HGETALL", keys.store()))
    return stored


async def records_of(
    site: Site,
    progress: Progress,
    skipped: Skipped,
    archived: AsyncIterator[list[Record]] | None = None,
    *,
    is_move: bool = False,
) -> AsyncIterator[list[Record]]:
    """
    All records of what Redis has, some at a time, and those of archived articles. A move has also what backups leave
    out. Damaged keys are skipped.
    """
    orders, weights, *_ = await stored_rankings(site.redis)
    if orders is not None or weights:
        yield [["ranking", " ".join(ORDERS) if orders is None else orders, weights]]
    if server_keys := await site.redis.run(("HGETALL", keys.serverkeys(HOME))):
        yield _server_keys(keys.serverkeys(HOME), server_keys, skipped)
    for p in range(site.partitions):
        async for stories in scan.imported_stories(site, p):
            yield _imported(keys.imported(p), stories, skipped)
    for names in PASSES:
        dumped_names = [name for name in names if is_move or key_kinds.KINDS[name].backup is not Backup.MOVED]
        async for found in scan.known_keys(site, progress):
            async for read in _read(site, found, dumped_names, skipped):
                yield read
        if archived and names is PASSES[0]:  # after Redis, as articles may leave it meanwhile, and before their posters
            async for read in archived:
                yield read
    yield [await _sequences(site, skipped)]


async def _read(
    site: Site, found: Sequence[Key], names: Sequence[str], skipped: Skipped
) -> AsyncIterator[list[Record]]:
    """The records of the keys that have these names."""
    for start in range(0, len(found), RECORDS_AT_ONCE):
        some = found[start : start + RECORDS_AT_ONCE]
        for name in names:
            chosen = [key for key in some if key.name == name]
            if name != "tree":
                yield await READERS[name](site, chosen, skipped)
                continue
            for key in chosen:
                async for comments in _comments(site, int(key.suffix), skipped):
                    yield comments


def _valid(found: Iterable[tuple[str, Record]], skipped: Skipped) -> list[Record]:
    """The records of keys that can be restored."""
    valid = []
    for key, record in found:
        if is_valid(record):
            valid.append(record)
        else:
            skipped(key)
    return valid


def _usable_fields(key: str, fields: dict[str, str], skipped: Skipped) -> dict[str, str]:
    """The fields of a hash without malformed ones that are optional."""
    malformed = malformed_fields(fields)
    for name in malformed:
        skipped(f"{key} {name}")
    return {name: value for name, value in fields.items() if name not in malformed}


def _server_keys(hash: str, values: dict[str, str], skipped: Skipped) -> list[Record]:
    each = _valid(((f"{hash} {name}", ["serverkeys", {name: value}]) for name, value in values.items()), skipped)
    return [["serverkeys", {name: value for _, pair in each for name, value in pair.items()}]] if each else []


def _imported(hash: str, stories: dict[str, str], skipped: Skipped) -> list[Record]:
    each = _valid(((f"{hash} {story}", ["imported", {story: number}]) for story, number in stories.items()), skipped)
    return [["imported", {story: number for _, pair in each for story, number in pair.items()}]] if each else []


async def _articles(site: Site, found: Sequence[Key], skipped: Skipped) -> list[Record]:
    return await _voted_on(site, "article", [(key.p, int(key.suffix)) for key in found], skipped)


async def _comments(site: Site, article: int, skipped: Skipped) -> AsyncIterator[list[Record]]:
    """The comments of an article, parents first, some at a time."""
    p, window, has_more = site.home_of_article(article), ThreadWindow(RECORDS_AT_ONCE), True
    while has_more:
        read = threads.page(site, article, CommentOrder.OLDEST, window, max_depth=threads.UNLIMITED)
        page = read.result(await site.redis.run(read.command))
        yield await _voted_on(site, "comment", [(p, place.number) for place in page.places], skipped)
        has_more = page.has_after
        window = ThreadWindow(RECORDS_AT_ONCE, beyond=page.places[-1].position if has_more else None)


async def _voted_on(site: Site, kind: str, numbers: Sequence[tuple[int, int]], skipped: Skipped) -> list[Record]:
    """The records of articles or comments with their voters."""
    key_of = key_kinds.KINDS[kind].build
    scripts = [
        DUMP_ARTICLE.command([key_of(p, number), keys.voted(p, number), keys.downvoted(p, number)])
        for p, number in numbers
    ]
    read: list[tuple[str, Record]] = []
    for (p, number), (flat, up, down) in zip(numbers, await site.redis.pipeline(scripts), strict=True):
        if flat:
            key = key_of(p, number)
            fields = _usable_fields(key, records.pairs(flat), skipped)
            kept = {name: value for name, value in fields.items() if name not in DERIVED_FIELDS[kind]}
            read.append((key, [kind, number, kept, up, down]))
    return _valid(read, skipped)


async def _follows(site: Site, found: Sequence[Key], skipped: Skipped) -> list[Record]:
    replies = await site.redis.pipeline(
        [
            command
            for key in found
            for command in (
                ("HGET", keys.user(key.p, key.suffix), "name"),
                ("ZRANGE", key.text, 0, -1, "WITHSCORES"),
            )
        ]
    )
    read: list[tuple[str, Record]] = [
        (key.text, ["follows", name, {followee: int(since) if isfinite(since) else None for followee, since in pairs}])
        for key, name, pairs in zip(found, replies[::2], replies[1::2], strict=True)
        if name and pairs
    ]
    return _valid(read, skipped)


async def _users(site: Site, found: Sequence[Key], skipped: Skipped) -> list[Record]:
    read: list[tuple[str, Record]] = []
    replies = await site.redis.pipeline([("HGETALL", key.text) for key in found])
    for key, fields in zip(found, replies, strict=True):
        if fields.get("name", "").lower() == key.suffix:
            usable = _usable_fields(key.text, fields, skipped)
            usable.pop("comment_karma", None)  # derived
            read.append((key.text, ["user", usable]))
        else:
            skipped(key.text)
    return _valid(read, skipped)


async def _posted(site: Site, found: Sequence[Key], skipped: Skipped) -> list[Record]:
    commands = [command for key in found for command in (("GET", key.text), ("PTTL", key.text))]
    replies = await site.redis.pipeline(commands)
    now = site.clock()
    read: list[tuple[str, Record]] = [
        (key.text, [key.name, *key.suffix.split(":"), value, now + left])
        for key, value, left in zip(found, replies[::2], replies[1::2], strict=True)
        if value and left > 0
    ]
    return _valid(read, skipped)


async def _sessions(site: Site, found: Sequence[Key], skipped: Skipped) -> list[Record]:
    values = await site.redis.pipeline([("GET", key.text) for key in found])
    read: list[tuple[str, Record]] = []
    for key, value in zip(found, values, strict=True):
        if value:
            username, _, ends = value.partition(" ")
            read.append((key.text, ["session", key.suffix, username, _count(ends)]))
    return _valid(read, skipped)


async def _sequences(site: Site, skipped: Skipped) -> Record:
    """Where one is malformed, 0: the next number is then made of the time of its post."""
    given = await site.redis.pipeline([("GET", keys.sequence(p)) for p in range(site.partitions)])
    sequences = [_count(text or "0") for text in given]
    for p, sequence in enumerate(sequences):
        if sequence is None:
            skipped(keys.sequence(p))
    return ["sequences", [sequence or 0 for sequence in sequences]]


def _count(text: str) -> int | None:
    return int(text) if COUNT.fullmatch(text) else None


READERS: dict[str, Callable[[Site, Sequence[Key], Skipped], Awaitable[list[Record]]]] = {
    "article": _articles,
    "following": _follows,
    "user": _users,
    "posted": _posted,
    "commented": _posted,
    "session": _sessions,
}
