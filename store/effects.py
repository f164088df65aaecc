"""
Effects of changes in other partitions than their own: a follow changes the followers of a user of another partition, a
vote on a comment the karma of its poster, a text the inboxes of those whom it mentions.

The script of such a change appends its entry to the log and notes in `effects` that the entry has an effect in another
partition. There `apply_effect.lua` applies it and stores in `applied` how far it has come in that log, in one step:
each effect is applied once, in the order of the log. The process that makes a change applies its effect at once; if it
dies before, another process does.
"""

import logging
from collections.abc import AsyncIterator, Callable, Iterator, Mapping, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from typing import NamedTuple

from store import keys, log, records
from store.background import repeating, turns
from store.client import Argument, Command
from store.errors import StoreUnavailable
from store.log import Entry
from store.records import Notified
from store.scripts.registry import APPLY_EFFECT
from store.site import Site

INTERVAL = 1.0  # seconds between two searches for effects that are not applied
ENTRIES_AT_ONCE = 1_000  # of a log, in a round trip

logger = logging.getLogger("upvote")


Known = dict[tuple[int, int], str]  # the last entry of a log with an effect in another partition, by both


@dataclass(frozen=True, slots=True)
class Effect:
    """
    Commands on keys of partition `q`. Each is the name of the command, the key, and the arguments after it.

    NOTIFY is a command of `apply_effect.lua`, which skips names that no user has.
    """

    q: int
    commands: tuple[tuple[str, ...], ...]


class Pending(NamedTuple):
    """Effects of log `p` in partition `q` that are not applied: those after entry `applied` ("" for all) to `last`."""

    p: int
    q: int
    applied: str
    last: str


class NewEntry(NamedTuple):
    """A new entry with an effect in partition `q`. `before` is the id of the last entry with an effect there, or ""."""

    entry: Entry
    q: int
    before: str


def _of_followed(site: Site, entry: Entry) -> list[Effect]:
    followee = entry.values["followee"]
    q = site.home_of_user(followee)
    return [Effect(q, (("ZADD", keys.followers(q, followee), entry.values["since"], entry.actor),))]


def _of_unfollowed(site: Site, entry: Entry) -> list[Effect]:
    followee = entry.values["followee"]
    q = site.home_of_user(followee)
    return [Effect(q, (("ZREM", keys.followers(q, followee), entry.actor),))]


def _of_commented(site: Site, entry: Entry) -> list[Effect]:
    q = site.home_of_user(entry.actor)
    added = Effect(q, (("ZADD", keys.comments(q, entry.actor), entry.values["time"], _member(entry)),))
    return [added, *_notifications(site, entry)]


def _of_comment_imported(site: Site, entry: Entry) -> list[Effect]:
    if not entry.actor:  # a stub
        return []
    q, karma = site.home_of_user(entry.actor), int(entry.values["up"]) - 1
    added = ("ZADD", keys.comments(q, entry.actor), entry.values["time"], _member(entry))
    earned = ("HINCRBY", keys.user(q, entry.actor), "comment_karma", str(karma))
    return [Effect(q, (added, earned) if karma else (added,))]


def _of_comment_voted(site: Site, entry: Entry) -> list[Effect]:
    poster = entry.values["poster"]
    q = site.home_of_user(poster)
    return [Effect(q, (("HINCRBY", keys.user(q, poster), "comment_karma", entry.values["karma"]),))]


def _of_comment_deleted(site: Site, entry: Entry) -> list[Effect]:
    poster = entry.values["poster"]
    if not poster:
        return []  # a comment that was deleted before
    q = site.home_of_user(poster)
    removed = ("ZREM", keys.comments(q, poster), _member(entry))
    counted = ("HINCRBY", keys.user(q, poster), "comment_karma", entry.values["karma"])
    return [Effect(q, (removed, counted)), *_ended_notifications(site, entry)]


def _notifications(site: Site, entry: Entry) -> list[Effect]:
    return [
        Effect(q, (("NOTIFY", keys.inbox(q, each.username), each.username, member, str(each.at)),))
        for q, member, each in _notified(site, entry)
    ]


def _ended_notifications(site: Site, entry: Entry) -> list[Effect]:
    return [Effect(q, (("ZREM", keys.inbox(q, each.username), member),)) for q, member, each in _notified(site, entry)]


def _notified(site: Site, entry: Entry) -> Iterator[tuple[int, str, Notified]]:
    """Whom a text notifies: each with the partition, and the member of the inbox there."""
    type, _, number = entry.subject.partition(":")
    for each in records.notified(entry.values.get("notified", "")):
        yield site.home_of_user(each.username), records.notification_member(int(number), each.kind, type), each


def _member(entry: Entry) -> str:
    return keys.member(int(entry.subject.partition(":")[2]))


EFFECTS: Mapping[str, Callable[[Site, Entry], list[Effect]]] = {
    "followed": _of_followed,
    "unfollowed": _of_unfollowed,
    "posted": _notifications,
    "edited": _notifications,
    "deleted": _ended_notifications,
    "commented": _of_commented,
    "comment_imported": _of_comment_imported,
    "comment_voted": _of_comment_voted,
    "comment_edited": _notifications,
    "comment_deleted": _of_comment_deleted,
}


async def apply_noted(site: Site, entry: Entry, noted: Sequence[int | str]) -> None:
    """Apply the effects of a new entry, given what `note_effects` returned. See `apply`."""
    if found := noted_of(entry, noted):
        await apply(site, found)


def noted_of(entry: Entry, noted: Sequence[int | str]) -> list[NewEntry]:
    """A new entry once for each partition of what `note_effects` of notifications.lua returned."""
    return [NewEntry(entry, int(q), str(before)) for q, before in zip(noted[::2], noted[1::2], strict=True)]


async def apply(site: Site, entries: Sequence[NewEntry]) -> None:
    """
    Apply the effects of new entries in other partitions. One round trip, more if earlier effects are missing there.

    Effects in a partition that does not answer, or takes no writes, stay pending.
    """
    with suppress(StoreUnavailable):
        replies = await site.redis.pipeline(
            [_command(entry, q, _commands(site, entry, q), before) for entry, q, before in entries]
        )
        behind = {
            (entry.p, q): entry.id
            for (entry, q, _), (status,) in zip(entries, replies, strict=True)
            if status == "behind"
        }
        for (p, q), last in behind.items():
            await apply_missing(site, p, q, last)


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
        last[each.p] = min(last[each.p], each.applied or log.START, key=log.sort_key)
    return last


@asynccontextmanager
async def completing(site: Site) -> AsyncIterator[None]:
    """Complete what other processes leave, every `INTERVAL`, as long as the context is open."""
    if site.partitions == 1:
        yield
        return
    searched, known = turns(site.partitions), Known()
    async with repeating(
        lambda: complete(site, next(searched), known),
        INTERVAL,
        "applying the effects of changes in other partitions failed",
    ):
        yield


async def _catch_up(site: Site, missing: Pending) -> None:
    """Apply missing effects from the log, in order. Two round trips for each `ENTRIES_AT_ONCE` entries of the log."""
    applied, position = missing.applied, missing.applied or log.START
    while _is_before(position, missing.last):
        entries = await log.read(site, missing.p, position, ENTRIES_AT_ONCE)
        commands: list[Command] = []
        for entry in entries:
            if effects := _commands(site, entry, missing.q):
                commands.append(_command(entry, missing.q, effects, applied))
                applied = entry.id
        await site.redis.pipeline(commands)
        position = entries[-1].id if entries else missing.last
    if _is_before(applied, missing.last):
        await _skip(site, missing, applied)


async def _skip(site: Site, missing: Pending, applied: str) -> None:
    """Go on after an effect that is neither applied nor in the log, so that later effects are applied."""
    script_keys = _keys(missing.q)
    (status,) = await site.redis.run(APPLY_EFFECT.command(script_keys, missing.p, applied, missing.last))
    if status == "applied":
        lost = f"effects of {keys.log(missing.p)} in partition {missing.q} up to {missing.last}"
        logger.error("%s are lost, as the log was deleted: run `upvote verify --repair`", lost)


def _commands(site: Site, entry: Entry, q: int) -> list[tuple[str, ...]]:
    """The commands of the effects of an entry in a partition."""
    of_kind = EFFECTS.get(entry.kind)
    found = of_kind(site, entry) if of_kind else []
    return [command for effect in found if effect.q == q for command in effect.commands]


def _command(entry: Entry, q: int, commands: Sequence[tuple[str, ...]], before: str) -> Command:
    script_keys = [*_keys(q), *(key for _, key, *_ in commands)]
    flat: list[Argument] = []
    for name, _, *arguments in commands:
        flat += [name, len(arguments), *arguments]
    return APPLY_EFFECT.command(script_keys, entry.p, before, entry.id, *flat)


def _keys(q: int) -> list[str]:
    return [keys.applied(q), keys.closed(q), keys.user(q, ""), keys.events(q)]


def _is_before(applied: str, last: str) -> bool:
    return log.sort_key(applied or log.START) < log.sort_key(last)
