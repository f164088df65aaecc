"""
Effects of changes in other partitions than their own: a follow changes the followers of a user of another partition.

The script of such a change appends its entry to the log and notes in `effects` that the entry has an effect in another
partition. There `apply_effect.lua` applies it and stores in `applied` how far it has come in that log, in one step:
each effect is applied once, in the order of the log. The process that makes a change applies its effect at once; if it
dies before, another process does.
"""

import asyncio
import logging
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from typing import NamedTuple, NoReturn

from store import keys, log
from store.background import running
from store.client import Command
from store.errors import StoreUnavailable
from store.log import Entry
from store.scripts.registry import APPLY_EFFECT
from store.site import Site

INTERVAL = 1.0  # seconds between two searches for effects that are not applied
PARTITIONS_AT_ONCE = 64  # logs of one search: those of a store of more partitions are searched in turn
ENTRIES_AT_ONCE = 1_000  # of a log, in a round trip

logger = logging.getLogger("upvote")


Known = dict[tuple[int, int], str]  # the last entry of a log with an effect in another partition, by both


@dataclass(frozen=True, slots=True)
class Effect:
    """A command on one key of partition `q`. `arguments` follow the key."""

    q: int
    command: str
    key: str
    arguments: tuple[str, ...]


class Pending(NamedTuple):
    """Effects of log `p` in partition `q` that are not applied: those after entry `applied` ("" for all) to `last`."""

    p: int
    q: int
    applied: str
    last: str


def _of_followed(site: Site, entry: Entry) -> Effect:
    followee = entry.values["followee"]
    q = site.home_of_user(followee)
    return Effect(q, "ZADD", keys.followers(q, followee), (entry.values["since"], entry.actor))


def _of_unfollowed(site: Site, entry: Entry) -> Effect:
    followee = entry.values["followee"]
    q = site.home_of_user(followee)
    return Effect(q, "ZREM", keys.followers(q, followee), (entry.actor,))


EFFECTS: Mapping[str, Callable[[Site, Entry], Effect]] = {"followed": _of_followed, "unfollowed": _of_unfollowed}


async def apply(site: Site, entries: Sequence[tuple[Entry, str]]) -> None:
    """
    Apply the effects of new entries in other partitions. One round trip, more if earlier effects are missing there.

    Each entry comes with the id of the entry before that has an effect in the same partition, or "". Effects in a
    partition that does not answer, or takes no writes, stay pending.
    """
    found = [(EFFECTS[entry.kind](site, entry), entry, before) for entry, before in entries]
    with suppress(StoreUnavailable):
        replies = await site.redis.pipeline([_command(*each) for each in found])
        for (effect, entry, _), (status,) in zip(found, replies, strict=True):
            if status == "behind":
                await apply_missing(site, entry.p, effect.q, entry.id)


async def apply_missing(site: Site, p: int, q: int, last: str) -> None:
    """Apply the effects of log `p` in partition `q` up to an entry. One round trip if none is missing."""
    with suppress(StoreUnavailable):
        applied = await site.redis.run(("HGET", keys.applied(q), p)) or ""
        if _is_before(applied, last):
            await _catch_up(site, Pending(p, q, applied, last))


async def complete(site: Site, partitions: Sequence[int] | None = None, known: Known | None = None) -> None:
    """
    Apply all pending effects of the logs of some partitions, or of all. Costs the same as `pending` if there are none.

    Raises:
        StoreUnavailable: a partition does not answer or takes no writes. Effects in other partitions are applied.
    """
    failure: StoreUnavailable | None = None
    for each in await pending(site, partitions, known):
        try:
            await _catch_up(site, each)
        except StoreUnavailable as error:
            failure = error
    if failure:
        raise failure


async def pending(site: Site, partitions: Sequence[int] | None = None, known: Known | None = None) -> list[Pending]:
    """
    What is not applied of the logs of some partitions, or of all. Two round trips; none with one partition.

    `known` is for repeated calls: what was found to be applied, which is not read again. If nothing is new, that leaves
    one round trip.
    """
    known = {} if known is None else known
    if site.partitions == 1:
        return []
    sources = range(site.partitions) if partitions is None else partitions
    noted = await site.redis.pipeline([("HGETALL", keys.effects(p)) for p in sources])
    chains = [(p, int(q), last) for p, found in zip(sources, noted, strict=True) for q, last in found.items()]
    unknown = [(p, q, last) for p, q, last in chains if known.get((p, q)) != last]
    applied = await site.redis.pipeline([("HGET", keys.applied(q), p) for p, q, _ in unknown]) if unknown else []
    found = [Pending(p, q, id or "", last) for (p, q, last), id in zip(unknown, applied, strict=True)]
    known.update({(each.p, each.q): each.last for each in found if not _is_before(each.applied, each.last)})
    return [each for each in found if _is_before(each.applied, each.last)]


async def removable(site: Site) -> list[str] | None:
    """
    For each partition the last entry that no pending effect needs, so that it may be removed from the log; None with
    one partition, which has no effects elsewhere. Three round trips.
    """
    if site.partitions == 1:
        return None
    last = await log.newest(site)  # read first: later entries may have effects that are not in `pending`
    for each in await pending(site):
        last[each.p] = min(last[each.p], each.applied or log.START, key=log.order)
    return last


@asynccontextmanager
async def completing(site: Site) -> AsyncIterator[None]:
    """Complete what other processes leave, every `INTERVAL`, as long as the context is open."""
    if site.partitions == 1:
        yield
        return
    async with running(_keep_complete(site)):
        yield


async def _keep_complete(site: Site) -> NoReturn:
    known: Known = {}
    while True:
        for start in range(0, site.partitions, PARTITIONS_AT_ONCE):
            await asyncio.sleep(INTERVAL)
            try:
                await complete(site, range(start, min(start + PARTITIONS_AT_ONCE, site.partitions)), known)
            except StoreUnavailable:
                pass
            except Exception:  # the task must go on: nothing restarts it
                logger.exception("applying the effects of changes in other partitions failed")


async def _catch_up(site: Site, missing: Pending) -> None:
    """Apply missing effects from the log, in order. Two round trips for each `ENTRIES_AT_ONCE` entries of the log."""
    applied, position = missing.applied, missing.applied or log.START
    while _is_before(position, missing.last):
        entries = await log.read(site, missing.p, position, ENTRIES_AT_ONCE)
        commands: list[Command] = []
        for entry in entries:
            effect = EFFECTS[entry.kind](site, entry) if entry.kind in EFFECTS else None
            if effect and effect.q == missing.q:
                commands.append(_command(effect, entry, applied))
                applied = entry.id
        await site.redis.pipeline(commands)
        position = entries[-1].id if entries else missing.last
    if _is_before(applied, missing.last):
        await _skip(site, missing, applied)


async def _skip(site: Site, missing: Pending, applied: str) -> None:
    """Go on after an effect that is neither applied nor in the log, so that later effects are applied."""
    script_keys = [keys.applied(missing.q), keys.closed(missing.q)]
    (status,) = await site.redis.run(APPLY_EFFECT.command(script_keys, missing.p, applied, missing.last))
    if status == "applied":
        lost = f"effects of {keys.log(missing.p)} in partition {missing.q} up to {missing.last}"
        logger.error("%s are lost, as the log was deleted: run `upvote verify --repair`", lost)


def _command(effect: Effect, entry: Entry, before: str) -> Command:
    script_keys = [keys.applied(effect.q), keys.closed(effect.q), effect.key]
    return APPLY_EFFECT.command(script_keys, entry.p, before, entry.id, effect.command, *effect.arguments)


def _is_before(applied: str, last: str) -> bool:
    return log.order(applied or log.START) < log.order(last)
