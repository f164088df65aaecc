"""
The log of all changes as clients read it: pages of changes, and a subscription that continues after a cursor.

Each partition of the store, which is a share of its data, has a Redis stream of entries; together these streams are the
log. Entries of several partitions are merged by the time at which the store has written them; those of one partition
stay in their order. A cursor holds a position in each partition, and says which log it belongs to.
"""

import asyncio
import re
from asyncio import gather
from base64 import b64decode, urlsafe_b64encode
from collections import deque
from collections.abc import AsyncGenerator, Collection, Sequence
from contextlib import aclosing, suppress
from dataclasses import dataclass
from heapq import heappop, heappush
from time import monotonic
from typing import NamedTuple

from resolvers.arguments import BadInput
from resolvers.context import Context
from store import leaving, log
from store.errors import StoreUnavailable
from store.events import EVERY_ENTRY, RECONNECT_PAUSE
from store.log import EntriesRemoved, Entry
from store.site import Site

LIMITS = range(1, 1_001)  # changes that a page may have at most, as the client chooses
DEFAULT_LIMIT = 100
ENTRIES_AT_ONCE = 200  # of all partitions together, in a round trip: an entry may have a text of 40,000 characters
FEWEST_AT_ONCE = 4  # entries of a partition, in a round trip
MAX_PASSED_OVER = 10_000  # entries of other kinds, for a page
PAGE_CHARACTERS = 2_000_000  # approximately, of all values of a page
READ_INTERVAL = 0.05  # seconds at least between two reads for a subscriber who has read everything
CHECK_INTERVAL = 1.0  # seconds after which the right of a subscriber to read the log is checked again
CHECKPOINT_INTERVAL = 5.0  # seconds at least between two checkpoints (`Checkpoint`)
MAX_CURSOR = 20_000  # characters: about 10 for each partition
CURSOR = re.compile(r"changes\|([\w-]{1,64})\|([0-9]{1,15})\|([0-9.,]*)", re.ASCII)  # see `LogPosition.cursor`
REMOVED = "entries after this cursor were removed from the log"
PARTITION_OFFSET = re.compile(r"([0-9]{1,15})(?:\.([0-9]{1,15}))?")  # a partition's part of `CURSOR`


class CursorGone(Exception):
    """The log does not go on after a cursor: entries were removed since, or it is another log."""


@dataclass(frozen=True, slots=True)
class LogPosition:
    """
    How far a reader is in the log that `identity` names. `ids` has, by partition, the id of the last entry that it
    read: `MILLISECONDS-NUMBER`, as Redis gives them to entries of a stream.
    """

    identity: str
    ids: tuple[str, ...]

    @property
    def cursor(self) -> str:
        """
        An opaque text: the time of the newest id, and an offset for each partition. An offset is how many milliseconds
        the partition's id is older, then a point and the number within the millisecond, unless that number is 0.
        """
        sort_keys = [log.sort_key(id) for id in self.ids]
        latest = max(time for time, _ in sort_keys)
        offsets = [f"{latest - time}.{number}" if number else str(latest - time) for time, number in sort_keys]
        text = f"changes|{self.identity}|{latest}|{','.join(offsets)}"
        return urlsafe_b64encode(text.encode()).decode().rstrip("=")


class ChangedField(NamedTuple):
    """A new value in a change, as text."""

    name: str
    value: str


@dataclass(frozen=True, slots=True)
class Change:
    """An entry of the log, and the position of a reader who has read it. `at` is in unix milliseconds."""

    entry: Entry
    position: LogPosition

    @property
    def cursor(self) -> str:
        return self.position.cursor

    @property
    def at(self) -> int:
        return self.entry.at

    @property
    def kind(self) -> str:
        return self.entry.kind

    @property
    def subject_id(self) -> str:
        group = self.entry.values.get("group")
        return self.entry.subject or (f"group:{group}" if group else "site")

    @property
    def actor_id(self) -> str | None:
        return f"user:{self.entry.actor.lower()}" if self.entry.actor else None

    @property
    def fields(self) -> list[ChangedField]:
        return [ChangedField(name, value) for name, value in self.entry.values.items()]


@dataclass(frozen=True, slots=True)
class Checkpoint:
    """The cursor of a subscriber, sent now and then while there is no change to send."""

    cursor: str


@dataclass(frozen=True, slots=True)
class ChangePage:
    """A page of the log. `end_cursor` is the position after it, also if it is empty."""

    changes: Sequence[Change]
    end_cursor: str
    has_more: bool


async def page(
    context: Context, after: str | None = None, limit: int | None = DEFAULT_LIMIT, kinds: list[str] | None = None
) -> ChangePage:
    """
    The entries after a cursor; without one, the oldest that are left.

    Three round trips, or two without a cursor, and one for each `ENTRIES_AT_ONCE` entries.

    Raises:
        Forbidden: the request has no valid server key, and is of no admin.
        CursorGone: the log does not go on after the cursor.
    """
    limit = DEFAULT_LIMIT if limit is None else limit
    if limit not in LIMITS:
        raise BadInput(f"limit is 1 to {LIMITS[-1]}, not {limit}")
    await context.require_log_reader()
    site = context.store.site
    reader = LogReader(site, await oldest_position(site) if after is None else await position_of(site, after))
    changes = await reader.read(limit, kinds)
    return ChangePage(changes, reader.position.cursor, await reader.has_more())


async def subscribe(
    context: Context, after: str | None = None, kinds: list[str] | None = None
) -> AsyncGenerator[Change | Checkpoint, None]:
    """
    The entries after a cursor, or from now on. What a subscriber has not read yet stays in the log, and takes no memory
    of this process.

    Raises:
        Forbidden: the request has no valid server key, and is of no admin; or this has changed since.
        CursorGone: the log does not go on after the cursor, or the subscriber was too slow.
    """
    await context.require_log_reader()
    site, new_entries, cursor = context.store.site, asyncio.Event(), context.last_event_id or after
    with context.live.events.subscribed(lambda event: new_entries.set(), EVERY_ENTRY):
        reader = LogReader(site, await newest_position(site) if cursor is None else await position_of(site, cursor))
        sent, sent_at = reader.position, monotonic()
        yield Checkpoint(sent.cursor)
        async with aclosing(_batches(reader, kinds, new_entries)) as batches:
            async for changes in batches:
                if changes:
                    await _check_reader(context)
                for change in changes:
                    yield change
                    sent, sent_at = change.position, monotonic()
                if reader.position != sent and monotonic() > sent_at + CHECKPOINT_INTERVAL:
                    sent, sent_at = reader.position, monotonic()
                    yield Checkpoint(sent.cursor)


class LogReader:
    """Reads the entries of all partitions after a position, merged by time. `position` follows what was read."""

    def __init__(self, site: Site, position: LogPosition) -> None:
        self.site, self._identity, self._ids = site, position.identity, list(position.ids)
        self._count = max(FEWEST_AT_ONCE, ENTRIES_AT_ONCE // site.partitions)  # entries of a partition, for each read
        self._buffers: list[deque[Entry]] = [deque() for _ in self._ids]  # by partition: fetched, not yet returned
        # A heap: the sort key of the first entry of each buffer, and its partition.
        self._firsts: list[tuple[tuple[int, int], int]] = []
        self._unread = set(range(site.partitions))  # partitions without an entry in their buffer, that may have more
        self._has_rest = [True] * site.partitions  # whether a partition may have more than is in its buffer

    @property
    def position(self) -> LogPosition:
        return LogPosition(self._identity, tuple(self._ids))

    @property
    def is_at_end(self) -> bool:
        return not self._firsts and not self._unread

    def refresh(self) -> None:
        """Read partitions again that had no more entries."""
        self._unread.update(partition for partition, buffer in enumerate(self._buffers) if not buffer)

    async def read(self, limit: int, kinds: Collection[str] | None) -> list[Change]:
        """
        The next entries of some kinds, or of all that are not private, with pseudonyms for deleted users. Fewer than
        `limit` if there are no more, they are large, or too many others are between them. One round trip for each
        `ENTRIES_AT_ONCE` entries, and one more if users were deleted.

        Raises:
            CursorGone: entries after the position were removed before they were read.
        """
        changes: list[Change] = []
        characters = passed_over = 0
        while len(changes) < limit and passed_over < MAX_PASSED_OVER and characters < PAGE_CHARACTERS:
            try:
                if not await self.has_more():
                    break
            except (CursorGone, StoreUnavailable):
                if changes:  # they are returned, and the next call raises it
                    break
                raise
            entry = self._pop()
            if entry.kind not in log.PRIVATE and (kinds is None or entry.kind in kinds):
                changes.append(Change(entry, self.position))
                characters += sum(map(len, entry.values.values()))
            else:
                passed_over += 1
        return changes

    async def has_more(self) -> bool:
        if self._unread:
            await self._fill()
        return bool(self._firsts)

    async def _fill(self) -> None:
        """Read the next entries of the unread partitions. One round trip, and one more if users were deleted."""
        try:
            after = {partition: self._ids[partition] for partition in self._unread}
            entries_read = await leaving.read_on(self.site, after, self._count)
        except EntriesRemoved as error:
            raise CursorGone(REMOVED) from error
        self._unread.clear()
        for partition, entries in entries_read.items():
            self._buffers[partition].extend(entries)
            self._has_rest[partition] = len(entries) == self._count
            self._push(partition)

    def _push(self, partition: int) -> None:
        """Put the first entry of a partition's buffer into the heap; without one, the partition may have to be read."""
        if self._buffers[partition]:
            heappush(self._firsts, (log.sort_key(self._buffers[partition][0].id), partition))
        elif self._has_rest[partition]:
            self._unread.add(partition)

    def _pop(self) -> Entry:
        """Take the oldest entry of all buffers, and advance the position past it."""
        _, partition = heappop(self._firsts)
        entry = self._buffers[partition].popleft()
        self._ids[partition] = entry.id
        self._push(partition)
        return entry


async def position_of(site: Site, cursor: str) -> LogPosition:
    """
    The position in a cursor. Two round trips.

    Raises:
        BadInput: the text is no cursor of the log.
        CursorGone: the log does not go on after it.
    """
    position = parse_cursor(cursor)
    if position.identity != await log.identity(site) or len(position.ids) != site.partitions:
        raise CursorGone("this cursor belongs to another log: the store was restored or moved since")
    await _check(site, position)
    return position


def parse_cursor(cursor: str) -> LogPosition:
    """The position that `LogPosition.cursor` has written. Raises BadInput for any other text."""
    try:
        text = b64decode(cursor + "=" * (-len(cursor) % 4), b"-_", validate=True).decode()
    except ValueError as error:
        raise BadInput("this is not a cursor of changes") from error
    match = CURSOR.fullmatch(text)
    offsets = [PARTITION_OFFSET.fullmatch(offset) for offset in match[3].split(",")] if match else []
    if match is None or not all(offsets) or len(cursor) > MAX_CURSOR:
        raise BadInput("this is not a cursor of changes")
    times = [int(match[2]) - int(offset[1]) for offset in offsets if offset]
    if min(times) < 0:
        raise BadInput("this is not a cursor of changes")
    numbers = [offset[2] or "0" for offset in offsets if offset]
    return LogPosition(match[1], tuple(f"{time}-{number}" for time, number in zip(times, numbers, strict=True)))


async def _check(site: Site, position: LogPosition) -> None:
    """Raise CursorGone if the log does not go on after a position."""
    if not all(await gather(*(log.has_all_after(site, partition, id) for partition, id in enumerate(position.ids)))):
        raise CursorGone(REMOVED)


async def oldest_position(site: Site) -> LogPosition:
    identity, ids = await gather(log.identity(site), log.oldest(site))
    return LogPosition(identity, tuple(ids))


async def newest_position(site: Site) -> LogPosition:
    identity, ids = await gather(log.identity(site), log.newest(site))
    return LogPosition(identity, tuple(ids))


async def _batches(
    reader: LogReader, kinds: Collection[str] | None, new_entries: asyncio.Event
) -> AsyncGenerator[list[Change], None]:
    """
    The next changes, several at a time, whenever entries are written; an empty list now and then.

    Waits while the store does not answer. After that the position is checked, because the store may have lost the
    entries up to it.
    """
    is_position_certain = True
    while True:
        new_entries.clear()
        reader.refresh()
        try:
            if not is_position_certain:
                await _check(reader.site, reader.position)
            is_position_certain = True
            changes = await reader.read(DEFAULT_LIMIT, kinds)
        except StoreUnavailable:
            is_position_certain = False
            await asyncio.sleep(RECONNECT_PAUSE)
            continue
        yield changes
        if reader.is_at_end:
            await _wait(new_entries)


async def _check_reader(context: Context) -> None:
    """Raise Forbidden if a subscriber may no longer read the log. Waits while the store does not answer."""
    while True:
        try:
            await context.require_log_reader(max_age=CHECK_INTERVAL)
            return
        except StoreUnavailable:
            await asyncio.sleep(RECONNECT_PAUSE)


async def _wait(new_entries: asyncio.Event) -> None:
    """Wait until entries are written, but not longer than `CHECKPOINT_INTERVAL`."""
    await asyncio.sleep(READ_INTERVAL)  # entries that are written during this time are read together
    with suppress(TimeoutError):
        async with asyncio.timeout(CHECKPOINT_INTERVAL):
            await new_entries.wait()
