"""
Makes a store of the records of a dump, in an empty database, with any number of partitions (shares of the data).

A field of the settings marks the store as incomplete until the last record is written: until then it cannot be opened.
Every step may be repeated, so that a restore which was interrupted can be started again.
"""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Self

from store import comments, effects, keys, links, purges, removals, threads
from store.client import Argument, Command
from store.client.client import RedisClient
from store.errors import StoreMismatch
from store.kinds import Check, Key
from store.log import IDENTITY_FIELD, new_identity
from store.maintenance import comment_karma, inboxes, scan
from store.maintenance.records.content import VotedOnRecord
from store.maintenance.records.record import Record
from store.ranking.config import ACTIVE_FIELD, HOMES_FIELD, LINKS_FIELD, RECENT_FIELD
from store.ranking.formulas import Policy
from store.scripts.registry import Script
from store.site import Site

RESTORE_STATE = Script("restore_state")

OF_TEXTS = ("article:", "comment:")  # the beginnings of those scopes of `actions` that are an article or a comment
STUBS_AT_ONCE = 500  # in a round trip, of comments that are not visible

POSITIONS = "log_positions"  # a field of the header of a backup: the last entry of the log in each partition
LOG_POINT = re.compile(r"[0-9a-f]+ [0-9]+(?: [0-9]+-[0-9]+)+", re.ASCII)  # what `log_point_of` returns
ORIGIN_FIELD = "origin"  # of the settings of a store that was restored from a backup: what `log_point_of` returns
RESTORING_FIELD = "restoring"  # of the settings, while the store is incomplete: which dump is restored into what


@dataclass(frozen=True, slots=True)
class Restoration:
    """A store that is being filled from records."""

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
        exclusive: bool = False,
        log_point: str = "",
    ) -> Self:
        """
        Mark an empty database as incomplete, or go on where a restore of the same source into as many partitions was
        interrupted. `source` is a text that tells this dump from others.

        At most four round trips. `exclusive` says that no other process can use the database: then a store that was
        only opened, and has no content, counts as empty. `log_point` is what `log_point_of` returns for the header of
        a backup.

        Raises:
            StoreMismatch: the database is not empty, or another restore was begun there.
            StoreUnavailable: Redis does not answer.
        """
        redis = RedisClient(url)
        try:
            await _claim(redis, f"{source} into {partitions}", exclusive)
        except BaseException:
            await redis.close()
            raise
        settings: dict[str, Argument] = {"partitions": partitions, **policy.kept_in_indexes()}
        settings |= {LINKS_FIELD: links.VERSION, ACTIVE_FIELD: 1, RECENT_FIELD: 1, HOMES_FIELD: 1}
        settings[IDENTITY_FIELD] = new_identity()  # a new log begins
        if log_point:
            settings[ORIGIN_FIELD] = log_point
        flat = [text for name, value in settings.items() for text in (name, str(value))]
        await redis.run(("HSET", keys.store(), *flat))
        return cls(Site(redis, partitions, policy, clock, session_lifetime=0))

    async def put(self, records: Sequence[Record]) -> None:
        """
        Write some records, in the order of the dump. Three round trips.

        Raises:
            StoreMismatch: another process has completed the same restore, so that servers may write to the store.
        """
        if await self.site.redis.run(("HGET", keys.store(), RESTORING_FIELD)) is None:
            raise StoreMismatch("another process has completed this restore: this one was stopped")
        voted_on = [record for record in records if isinstance(record, VotedOnRecord)]
        await self.site.redis.pipeline([command for each in voted_on for command in each.voter_commands(self.site)])
        await self.site.redis.pipeline([command for each in records for command in each.commands(self.site)])

    async def end(self) -> None:
        """
        Bring articles and comments into the states that the actions about them say: a dump reads these last. Count the
        karma of comments, remove excess notifications and deleted comments without replies, and mark the store as
        complete. One round trip for every few comments, two or three for each inbox, and one for some actions.
        """
        async for found in scan.known_keys(self.site, lambda count: None):
            subjects = [key for key in found if key.kind is keys.actions and key.suffix.startswith(OF_TEXTS)]
            await self.site.redis.pipeline([self._state_of(key) for key in subjects])
        await effects.complete(self.site)
        async for found in scan.known_keys(self.site, lambda count: None):
            await comment_karma.repair(self.site, [key for key in found if key.kind.check is Check.COMMENTS])
            await inboxes.remove_excess(self.site, [key for key in found if key.kind.check is Check.INBOX])
            for key in [key for key in found if key.name == "stubs"]:
                await _note_empty_stubs(self.site, key)
        for partition in range(self.site.partitions):
            await removals.remove_all(self.site, partition)
        await self.site.redis.run(("HDEL", keys.store(), RESTORING_FIELD))

    async def close(self) -> None:
        await self.site.redis.close()

    def _state_of(self, actions: Key) -> Command:
        given = (self.site.partitions, actions.suffix, purges.PURGED, comments.STUBS_AT_ONCE)
        return self.site.command(RESTORE_STATE, actions.partition, *given)


def log_point_of(header: Mapping[str, Any]) -> str:
    """
    The point of the log at which a backup was made: the identity of the log, the time (unix milliseconds), and the
    position in each partition, separated by spaces. Empty if the header has none. A database that has read the log
    beyond this point removes what came later, as the restored store does not have it.
    """
    text = f"{header.get(IDENTITY_FIELD)} {header.get('taken_at')} {header.get(POSITIONS)}"
    return text if LOG_POINT.fullmatch(text) else ""


async def _claim(redis: RedisClient, restore: str, exclusive: bool) -> None:
    """Mark an empty database as one that is being restored. Raises as `begin` does."""
    size = await redis.size()
    stored = await redis.run(("HGETALL", keys.store()))
    if stored.get(RESTORING_FIELD, restore) != restore:
        raise StoreMismatch(
            "another restore was interrupted in this store, of another dump or into another number of partitions: "
            "empty it first"
        )
    if RESTORING_FIELD in stored:
        return
    if size > (1 if exclusive and stored else 0):  # the settings are one key
        raise StoreMismatch(f"this store is not empty: it has {size} keys")
    await redis.run(("HSETNX", keys.store(), RESTORING_FIELD, restore))
    if await redis.run(("HGET", keys.store(), RESTORING_FIELD)) != restore:
        raise StoreMismatch("another restore has begun in this store")
    if not exclusive and await redis.run(("HLEN", keys.store())) > 1:  # a server was faster
        await redis.run(("HDEL", keys.store(), RESTORING_FIELD))
        raise StoreMismatch("this store is not empty: a server has opened it")


async def _note_empty_stubs(site: Site, stubs: Key) -> None:
    """Note those deleted comments of an article whose last reply was deleted while the dump was made."""
    start = 0
    while members := await site.redis.run(("ZRANGE", stubs.text, start, start + STUBS_AT_ONCE - 1)):
        start += STUBS_AT_ONCE
        numbers = [int(member.split()[1]) for member in members]  # after the branch path
        read = threads.descendant_counts(site, stubs.partition, numbers)
        counts = read.result(await site.redis.run(read.command))
        if empty := [number for number, count in counts.items() if not count]:
            flat = [part for number in empty for part in (site.clock(), number)]
            await site.redis.run(("ZADD", removals.REMOVING(stubs.partition), *flat))
