"""
The log of each partition (a share of the data): a stream with an entry for each change, appended by its script. Here
entries are read, consumers keep their positions, and entries that nobody needs are removed. A consumer is what reads
all of the log, such as the mirror that writes it to the database; its position is the id of the last entry taken.
"""

import re
import secrets
from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass
from typing import Any

from store import events, keys, records
from store.background import repeating
from store.client import Command
from store.errors import StoreError
from store.kinds import NEW_LOG, Kind
from store.queries import Read
from store.records import Comment
from store.scripts.registry import Script
from store.site import Site

ADVANCE_CONSUMER = Script("advance_consumer")
LOG_LAG = Script("log_lag")
LOG_RANKED = Script("log_ranked")
TRIM_LOG = Script("trim_log")

START = "0-0"  # the position before the first entry
IDENTITY_FIELD = "log"  # of the settings of the store: a random text, another one after a restore or a move
TRIMMED_FIELD = "trimmed"  # of `consumers`: the last entry that was removed. No consumer has this name
CONSUMER = re.compile(r"[a-z0-9][a-z0-9_.-]{0,49}")
FOREIGN = "foreign"  # the kind of entries that another program has appended by mistake
PRIVATE = frozenset(kind.value for kind in events.PRIVATE)  # kinds of entries that clients are not sent
USER_DELETED = events.EventKind.USER_DELETED.value
# kinds of entries with which earlier entries were removed; the value `entries` has the ids of these
DELETIONS = ("deleted", "comment_deleted", "redacted", "purged", USER_DELETED)
TRIMMED_AT_ONCE = 500  # entries, in about a millisecond
MAX_LAG = 10_000  # entries that are counted
COUNTED_AT_ONCE = 1_000  # of these, in about two milliseconds
READ_AT_ONCE = 1_000  # entries
TRIM_INTERVAL = 10.0  # seconds

CONSUMERS = Kind(
    "consumers",
    "hash",
    parts=(),
    holds="id of the last entry of the log that each consumer has taken; trimmed: id of the last one that was removed",
    written_by="consumers, the trimming of the log",
    rebuilt_from=NEW_LOG,
)
OUTDATED = Kind(
    "outdated",
    "zset",
    parts=(),
    holds="ids of entries of the log, up to which entries may name a deleted user, by when they are trimmed although a "
    "consumer has not taken them",
    lifetime="until then",
    written_by="deleteUser",
)

Removable = Callable[[Site], Awaitable[Sequence[str] | None]]  # of each partition the last entry to remove; None: all


class EntriesRemoved(StoreError):
    """The log has a gap after a position."""


@dataclass(frozen=True, slots=True)
class Entry:
    """
    A change. `id` is its place in the log of `partition`, `at` is in unix milliseconds.

    `actor` is a username, or "". `subject` is the id of what has changed, such as `article:1541` or `user:alice`, or
    "". `values` are new values, as text. What another program has appended, without these fields, has the kind
    `FOREIGN`, which consumers pass over.
    """

    partition: int
    id: str
    kind: str
    at: int
    actor: str
    subject: str
    values: dict[str, str]


@dataclass(frozen=True, slots=True)
class Lag:
    """How many entries a consumer has not taken, up to `MAX_LAG`, and how old the first of them is, in seconds."""

    entries: int
    seconds: float


async def read(site: Site, partition: int, after: str, count: int) -> list[Entry]:
    """The next entries of a partition after a position. One round trip."""
    found = await site.redis.run(_range(partition, after, count))
    return [_entry(partition, id, flat) for id, flat in found]


def deleted_comment(site: Site, number: int, id: str) -> Read[Comment | None]:
    """
    The read of a comment that is gone, from the entry of its deletion, which has this id. None if the entry was
    removed, or if the comment had been deleted before and only its place went now, with its last reply.
    """
    partition = site.partition_of_article(number)
    return Read(("XRANGE", keys.log(partition), id, id), _deleted_comment, (partition, number))


async def read_on(site: Site, positions: Mapping[int, str], count: int) -> dict[int, list[Entry]]:
    """
    The next entries of some partitions, of each after a position. One round trip.

    Raises:
        EntriesRemoved: entries after one of the positions were removed.
    """
    entries, _ = await read_on_and(site, positions, count, [])
    return entries


async def read_on_and(
    site: Site, positions: Mapping[int, str], count: int, others: Sequence[Command]
) -> tuple[dict[int, list[Entry]], list[Any]]:
    """What `read_on` returns, and the replies of other commands, in the same round trip. Raises as `read_on`."""
    entries = [_range(partition, after, count) for partition, after in positions.items()]
    removed = [("HGET", CONSUMERS(partition), TRIMMED_FIELD) for partition in positions]  # read after the entries
    replies = await site.redis.pipeline([*entries, *removed, *others])
    for after, trimmed in zip(positions.values(), replies[len(positions) :], strict=False):
        if sort_key(trimmed or START) > sort_key(after):
            raise EntriesRemoved
    entries_of = {
        partition: [_entry(partition, id, flat) for id, flat in reply]
        for partition, reply in zip(positions, replies, strict=False)
    }
    return entries_of, replies[2 * len(positions) :]


async def oldest(site: Site) -> list[str]:
    """The position before all entries that are left, for each partition. One round trip."""
    commands = [("HGET", CONSUMERS(partition), TRIMMED_FIELD) for partition in range(site.partitions)]
    return [trimmed or START for trimmed in await site.redis.pipeline(commands)]


async def lengths(site: Site) -> list[int]:
    """How many entries each partition has. One round trip."""
    counts: list[int] = await site.redis.pipeline(
        [("XLEN", keys.log(partition)) for partition in range(site.partitions)]
    )
    return counts


async def newest(site: Site) -> list[str]:
    """The position after all entries, for each partition. One round trip."""
    partitions = range(site.partitions)
    replies = await site.redis.pipeline(
        [("XREVRANGE", keys.log(partition), "+", "-", "COUNT", 1) for partition in partitions]
        + [("HGET", CONSUMERS(partition), TRIMMED_FIELD) for partition in partitions]
    )
    return [
        last[0][0] if last else trimmed or START
        for last, trimmed in zip(replies[: site.partitions], replies[site.partitions :], strict=True)
    ]


async def newest_entries(site: Site, count: int) -> list[Entry]:
    """The newest entries, newest first: about `count`, as many of each partition. One round trip."""
    of_each = -(-count // site.partitions)  # rounded up
    replies = await site.redis.pipeline(
        [("XREVRANGE", keys.log(partition), "+", "-", "COUNT", of_each) for partition in range(site.partitions)]
    )
    found = [_entry(partition, id, flat) for partition, reply in enumerate(replies) for id, flat in reply]
    return sorted(found, key=lambda entry: sort_key(entry.id), reverse=True)


async def identity(site: Site) -> str:
    """What tells this log from that of another store, or of the same store before a restore. One round trip."""
    stored: str = await site.redis.run(("HGET", keys.store(), IDENTITY_FIELD))
    return stored


async def has_all_after(site: Site, partition: int, id: str) -> bool:
    """
    Whether the log has all entries after a position, so that a consumer can go on from there.

    False if some were removed, or if the position is unknown: the store may have lost its last entries in a crash.
    One round trip; more if the entry at the position was removed because its article was deleted.
    """
    trimmed, entry = await site.redis.pipeline(
        [("HGET", CONSUMERS(partition), TRIMMED_FIELD), ("XRANGE", keys.log(partition), id, id)]
    )
    if id == (trimmed or START) or entry:
        return True
    return sort_key(id) > sort_key(trimmed or START) and await _was_deleted(site, partition, id)


async def advance(site: Site, name: str, partition: int, id: str) -> None:
    """
    Record the last entry that a consumer has taken, and register the consumer if it is new. One round trip.

    Raises:
        ValueError: the name is no name of a consumer.
    """
    if name == TRIMMED_FIELD or not CONSUMER.fullmatch(name):
        raise ValueError(f"{name!r} is no name of a consumer")
    await site.redis.run(ADVANCE_CONSUMER.command([CONSUMERS(partition)], name, id))


async def forget(site: Site, name: str) -> bool:
    """Remove a consumer, so that no entries are kept for it. Returns whether there was one. One round trip."""
    if name == TRIMMED_FIELD:
        return False
    return any(
        await site.redis.pipeline([("HDEL", CONSUMERS(partition), name) for partition in range(site.partitions)])
    )


async def positions(site: Site) -> dict[str, dict[int, str]]:
    """
    The last entry that each consumer has taken, by partition. One round trip.

    A text that is no id, as another program may have written it, counts as the start of the log.
    """
    found: dict[str, dict[int, str]] = {}
    replies = await site.redis.pipeline([("HGETALL", CONSUMERS(partition)) for partition in range(site.partitions)])
    for partition, fields in enumerate(replies):
        for name, id in fields.items():
            if name != TRIMMED_FIELD:
                found.setdefault(name, {})[partition] = id if records.ENTRY_ID.fullmatch(id) else START
    return found


async def lags(site: Site, positions: Mapping[int, str]) -> list[Lag]:
    """
    How far each partition of a consumer with these positions is behind. One round trip, and one more for each
    `COUNTED_AT_ONCE` entries.
    """
    ids, ages = [positions.get(partition, START) for partition in range(site.partitions)], [0] * site.partitions
    counts, pending = [0] * site.partitions, list(range(site.partitions))
    while pending:
        commands = [LOG_LAG.command([keys.log(partition)], ids[partition], COUNTED_AT_ONCE) for partition in pending]
        for partition, (count, age, last) in zip(pending, await site.redis.pipeline(commands), strict=True):
            ages[partition] = ages[partition] or age  # of the first entry
            counts[partition] += count
            ids[partition] = last if count == COUNTED_AT_ONCE else ""  # "": all are counted
        pending = [partition for partition in pending if ids[partition] and counts[partition] < MAX_LAG]
    return [Lag(min(count, MAX_LAG), age / 1000) for count, age in zip(counts, ages, strict=True)]


async def trim(site: Site, kept_ms: int, max_entries: int, removable: Sequence[str] | None = None) -> int:
    """
    Remove entries that are older than `kept_ms` milliseconds and that all consumers have taken. Of each partition, also
    remove the oldest ones beyond `max_entries`, whether they were taken or not. Returns how many were removed.

    `removable` is the last entry of each partition that may be removed at all.

    One round trip for each `TRIMMED_AT_ONCE` entries of a partition.
    """
    removed, pending = 0, list(range(site.partitions))
    while pending:
        replies = await site.redis.pipeline(
            [_trim(partition, kept_ms, max_entries, removable[partition] if removable else "") for partition in pending]
        )
        removed += sum(count for _, count in replies)
        pending = [
            partition for partition, (_, count) in zip(pending, replies, strict=True) if count == TRIMMED_AT_ONCE
        ]
    return removed


def kept_trimmed(site: Site, kept_ms: int, max_entries: int, removable: Removable) -> AbstractAsyncContextManager[None]:
    """
    Trim the log every `TRIM_INTERVAL` seconds, as long as the context is open. Several processes may do so.

    `removable` says for each partition which entry is the last that may be removed; it returns None if all may be.
    """

    async def trim_removable() -> None:
        await trim(site, kept_ms, max_entries, await removable(site))

    return repeating(trim_removable, TRIM_INTERVAL, "trimming the log failed")


async def restart(site: Site, partition: int) -> None:
    """Begin a new log in a partition whose log is damaged, with another identity. Two round trips."""
    await site.redis.run(("DEL", keys.log(partition), keys.logged(partition), CONSUMERS(partition)))
    await site.redis.run(("HSET", keys.store(), IDENTITY_FIELD, new_identity()))


def new_identity() -> str:
    return secrets.token_hex(8)


def ranked(site: Site, partition: int = 0) -> Command:
    """
    The command that tells all processes to read the settings and orders of the store again, and notes it in the log of
    a partition: one of any partition reaches all processes.
    """
    return LOG_RANKED.command([keys.log(partition), keys.events(partition)], site.clock())


def sort_key(id: str) -> tuple[int, int]:
    """
    The sort key of the id of an entry.

    Raises:
        ValueError: the text is no such id.
    """
    if not (match := records.ENTRY_ID.fullmatch(id)):
        raise ValueError(f"{id!r} is no id of an entry")
    return int(match[1]), int(match[2])


async def _was_deleted(site: Site, partition: int, id: str) -> bool:
    """Whether a later deletion of an article has removed an entry."""
    entries: Sequence[Entry] = await read(site, partition, id, READ_AT_ONCE)
    while entries:
        if any(entry.kind in DELETIONS and id in entry.values["entries"].split() for entry in entries):
            return True
        entries = await read(site, partition, entries[-1].id, READ_AT_ONCE)
    return False


def _trim(partition: int, kept_ms: int, max_entries: int, removable: str) -> Command:
    script_keys = [
        keys.log(partition),
        CONSUMERS(partition),
        keys.logged(partition),
        keys.deleted(partition),
        OUTDATED(partition),
    ]
    return TRIM_LOG.command(script_keys, kept_ms, max_entries, TRIMMED_AT_ONCE, removable)


def _range(partition: int, after: str, count: int) -> Command:
    return ("XRANGE", keys.log(partition), f"({after}", "+", "COUNT", count)


def _deleted_comment(partition: int, number: int, reply: Sequence[Any]) -> Comment | None:
    entries = [_entry(partition, id, flat) for id, flat in reply]
    is_known = entries and entries[0].values["poster"]
    return records.deleted_comment(number, entries[0].values) if is_known else None


def _entry(partition: int, id: str, flat: list[str]) -> Entry:
    values = records.pairs(flat)
    try:
        kind, at, actor, subject = (values.pop(name) for name in ("kind", "at", "actor", "subject"))
        return Entry(partition, id, kind, int(at), actor, subject, values)
    except (KeyError, ValueError):
        return Entry(partition, id, FOREIGN, at=sort_key(id)[0], actor="", subject="", values={})
