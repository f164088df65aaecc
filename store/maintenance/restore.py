"""
Makes a store of the records of a dump, in an empty database, with any number of partitions.

A field of the settings marks the store as incomplete until the last record is written: until then it cannot be opened.
Every step may be repeated, so that a restore which was interrupted can be started again.
"""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Self

from store import keys, links, records, threads
from store.client import Argument, Command
from store.client.client import RedisClient
from store.comments import remove_threads
from store.errors import StoreMismatch
from store.key_kinds import Check, Key
from store.log import IDENTITY_FIELD, new_identity
from store.maintenance import comment_karma, inboxes, scan
from store.maintenance.dump import DERIVED_FIELDS, Record
from store.ranking.config import ACTIVE_FIELD, LINKS_FIELD, ORDERS_FIELD, orders_of, orders_to_write
from store.ranking.formulas import Policy
from store.scripts.registry import OPEN_SESSION, Script
from store.server_keys import HOME
from store.site import Site

VOTERS_AT_ONCE = 10_000  # in one command
STUBS_AT_ONCE = 500  # in a round trip
KARMA = ("karma", "comment_karma")  # fields of a user that are derived

POSITIONS = "log_positions"  # of the header of a backup
ORIGIN = re.compile(r"[0-9a-f]+ [0-9]+(?: [0-9]+-[0-9]+)+", re.ASCII)
ORIGIN_FIELD = "origin"  # of the settings of a store that was restored from a backup
RESTORING_FIELD = "restoring"  # of the settings, while the store is incomplete: which dump is restored

RESTORE_ARTICLE = Script("prelude", "article_indexes", "restore_article")
RESTORE_COMMENT = Script("prelude", "branch_paths", "comments", "comment_tree", "restore_comment")
RESTORE_POSTED = Script("restore_posted")


@dataclass(frozen=True, slots=True)
class Restoration:
    site: Site

    @classmethod
    async def begin(
        cls,
        url: str,
        source: str,
        partitions: int,
        policy: Policy,
        clock: Callable[[], int],
        *,
        alone: bool = False,
        origin: str = "",
    ) -> Self:
        """
        Mark an empty database as incomplete, or go on where a restore of the same source was interrupted.

        At most four round trips. If no other process can use the database, `alone`, a store counts as empty when it was
        opened and nothing more. `origin` is what `origin_of` makes of the header of a backup.

        Raises:
            StoreMismatch: the database is not empty, or a restore of another source was begun there.
            StoreUnavailable: it does not answer.
        """
        redis = RedisClient(url)
        try:
            await _take(redis, source, alone)
        except BaseException:
            await redis.close()
            raise
        made: dict[str, Argument] = {"partitions": partitions, **policy.kept_in_indexes()}
        made |= {LINKS_FIELD: links.VERSION, ACTIVE_FIELD: 1}
        made[IDENTITY_FIELD] = new_identity()  # a new log begins
        if origin:
            made[ORIGIN_FIELD] = origin
        flat = [text for name, value in made.items() for text in (name, str(value))]
        await redis.run(("HSET", keys.store(), *flat))
        return cls(Site(redis, partitions, policy, clock, 0))

    async def put(self, records: Sequence[Record]) -> None:
        """Write some records, in the order of the dump. Two round trips."""
        voters = [
            command
            for kind, *record in records
            if kind in ("article", "comment")
            for command in _voters(self.site, *record)
        ]
        await self.site.redis.pipeline(voters)
        await self.site.redis.pipeline(
            [command for kind, *record in records for command in COMMANDS[kind](self.site, *record)]
        )

    async def end(self) -> None:
        """
        Count the karma of comments, remove excess notifications and deleted comments without replies, and mark the
        store as complete. A round trip for some comments each, and two or three for each inbox.
        """
        async for found in scan.known_keys(self.site, lambda count: None):
            await comment_karma.repair(self.site, [key for key in found if key.kind.check is Check.COMMENTS])
            await inboxes.remove_excess(self.site, [key for key in found if key.kind.check is Check.INBOX])
            for key in [key for key in found if key.name == "stubs"]:
                await _note_empty_stubs(self.site, key)
        for p in range(self.site.partitions):
            await remove_threads(self.site, p)
        await self.site.redis.run(("HDEL", keys.store(), RESTORING_FIELD))

    async def close(self) -> None:
        await self.site.redis.close()


def origin_of(header: Mapping[str, Any]) -> str:
    """
    Where in which log a backup was made: the identity of the log, the time (unix milliseconds), and the position in
    each partition. A database that has read on does not keep what came later. Empty if the backup does not say.
    """
    text = f"{header.get(IDENTITY_FIELD)} {header.get('taken_at')} {header.get(POSITIONS)}"
    return text if ORIGIN.fullmatch(text) else ""


async def _take(redis: RedisClient, source: str, alone: bool) -> None:
    size = await redis.size()
    stored = await redis.run(("HGETALL", keys.store()))
    if stored.get(RESTORING_FIELD, source) != source:
        raise StoreMismatch("another restore was interrupted in this store: empty it first")
    if RESTORING_FIELD in stored:
        return
    if size > (1 if alone and stored else 0):
        raise StoreMismatch(f"this store is not empty: it has {size} keys")
    await redis.run(("HSETNX", keys.store(), RESTORING_FIELD, source))
    if await redis.run(("HGET", keys.store(), RESTORING_FIELD)) != source:
        raise StoreMismatch("another restore has begun in this store")
    if not alone and await redis.run(("HLEN", keys.store())) > 1:  # a server was faster
        await redis.run(("HDEL", keys.store(), RESTORING_FIELD))
        raise StoreMismatch("this store is not empty: a server has opened it")


async def _note_empty_stubs(site: Site, stubs: Key) -> None:
    """Note those deleted comments of an article whose last reply was deleted while the dump was made."""
    start = 0
    while members := await site.redis.run(("ZRANGE", stubs.text, start, start + STUBS_AT_ONCE - 1)):
        start += STUBS_AT_ONCE
        read = threads.descendant_counts(site, stubs.p, [int(member.split()[1]) for member in members])
        counts = read.result(await site.redis.run(read.command))
        if empty := [number for number, count in counts.items() if not count]:
            flat = [part for number in empty for part in (site.clock(), number)]
            await site.redis.run(("ZADD", keys.removing(stubs.p), *flat))


def _voters(site: Site, number: int, fields: dict[str, str], up: list[str], down: list[str]) -> Iterator[Command]:
    p = site.home_of_article(number)
    for key, voters in ((keys.voted(p, number), up), (keys.downvoted(p, number), down)):
        for start in range(0, len(voters), VOTERS_AT_ONCE):
            yield ("SADD", key, *voters[start : start + VOTERS_AT_ONCE])


def _article(site: Site, number: int, fields: dict[str, str], up: object, down: object) -> Iterator[Command]:
    kept = {name: value for name, value in fields.items() if name not in DERIVED_FIELDS["article"]}
    if link := kept.get("link"):
        kept[links.FIELD] = links.digest(link)
    yield site.command(RESTORE_ARTICLE, site.home_of_article(number), number, *_flat(kept))
    yield from _notifications(site, "article", number, fields)


def _comment(site: Site, number: int, fields: dict[str, str], up: object, down: object) -> Iterator[Command]:
    poster = fields.get("poster")
    slot: Argument = keys.slot(poster) if poster else ""
    p = site.home_of_article(number)
    yield site.command(RESTORE_COMMENT, p, site.partitions, number, slot, *_flat(fields))
    if poster:
        yield ("ZADD", keys.comments(site.home_of_user(poster), poster), fields["time"], keys.member(number))
    yield from _notifications(site, "comment", number, fields)


def _notifications(site: Site, type: str, number: int, fields: dict[str, str]) -> Iterator[Command]:
    for each in records.notified(fields.get("notified", "")):
        inbox = keys.inbox(site.home_of_user(each.username), each.username)
        yield ("ZADD", inbox, each.at, records.notification_member(number, each.kind, type))


def _ranking(site: Site, orders: str, weights: dict[str, str]) -> Iterator[Command]:
    yield ("HSET", keys.store(), "orders", orders)
    fields = {ORDERS_FIELD: orders_to_write(orders_of(orders)), **weights}
    for p in range(site.partitions):
        yield ("HSET", keys.ranking(p), *_flat(fields))


def _server_keys(site: Site, values: dict[str, str]) -> Iterator[Command]:
    yield ("HSET", keys.serverkeys(HOME), *_flat(values))


def _imported(site: Site, numbers: dict[str, str]) -> Iterator[Command]:
    for story, number in numbers.items():
        p, sequence = site.home_of_article(int(number)), records.sequence_of(int(number))
        yield ("HSET", keys.imported(p), story, number)
        if records.is_of_story(sequence):
            yield ("ZADD", keys.numbered(p), sequence, sequence)


def _follows(site: Site, follower: str, followees: dict[str, int]) -> Iterator[Command]:
    for followee, since in followees.items():
        yield ("ZADD", keys.followers(site.home_of_user(followee), followee), since, follower)
    members = [part for followee, since in followees.items() for part in (since, followee)]
    yield ("ZADD", keys.following(site.home_of_user(follower), follower), *members)


def _user(site: Site, fields: dict[str, str]) -> Iterator[Command]:
    key = keys.user(site.home_of_user(fields["name"]), fields["name"])
    yield ("HSET", key, *_flat({name: value for name, value in fields.items() if name not in KARMA}))
    yield ("HINCRBY", key, "karma", 0)  # for users without articles


def _posted(site: Site, username: str, digest: str, value: str, ends: int) -> Iterator[Command]:
    p, number, left = site.home_of_user(username), value.split()[0], ends - site.clock()
    if left > 0:
        yield RESTORE_POSTED.command([keys.posted(p, username, digest), keys.article(p, number)], value, left)


def _commented(site: Site, username: str, digest: str, value: str, ends: int) -> Iterator[Command]:
    number, left = int(value.split()[0]), ends - site.clock()
    p = site.home_of_article(number)
    if left > 0:
        yield RESTORE_POSTED.command([keys.commented(p, username, digest), keys.comment(p, number)], value, left)


def _session(site: Site, digest: str, username: str, ends: int) -> Iterator[Command]:
    p, left = site.home_of_user(username), ends - site.clock()
    if left > 0:
        yield OPEN_SESSION.command(
            [keys.user(p, username), keys.session(p, digest), keys.sessions(p, username), keys.closed(p)],
            *("", username, digest, site.clock(), ends, left),
        )


def _sequences(site: Site, given: list[int]) -> Iterator[Command]:
    """Of each partition, the highest sequence of the partitions that had any of its slots."""
    step = min(len(given), site.partitions)
    for p in range(site.partitions):
        if highest := max(given[p % step :: step]):
            yield ("SET", keys.sequence(p), highest)


def _flat(fields: dict[str, str]) -> list[str]:
    return [text for pair in fields.items() for text in pair]


COMMANDS: dict[str, Callable[..., Iterator[Command]]] = {
    "ranking": _ranking,
    "serverkeys": _server_keys,
    "article": _article,
    "comment": _comment,
    "imported": _imported,
    "follows": _follows,
    "user": _user,
    "posted": _posted,
    "commented": _commented,
    "session": _session,
    "sequences": _sequences,
}
