"""
Effects of changes in other partitions (shares of the data) than their own: a follow changes the followers of a user of
another partition, a vote on a comment the karma of its poster, a text the inboxes of those whom it mentions.

The script of such a change appends its entry to the log, the stream of its own partition, and notes in `effects` that
the entry has an effect in another one. There `apply_effect.lua` applies it and stores in `applied` how far it has come
in that log, in one step: each effect is applied once, in the order of the log. The process that makes a change applies
its effect at once; if it dies before, another process does.
"""

import logging
from collections.abc import AsyncIterator, Callable, Iterator, Mapping, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, replace
from typing import NamedTuple

from store import followed, keys, kinds, log, mailboxes, mails, notifications
from store.background import repeating, turns
from store.client import Argument, Command
from store.errors import StoreUnavailable
from store.hidden import BLOCKED
from store.kinds import Kind
from store.log import Entry
from store.notifications import Notified
from store.records import ContentState, Vote
from store.scripts.registry import Script
from store.site import Site

APPLY_EFFECT = Script("apply_effect")

INTERVAL = 1.0  # seconds between two searches for effects that are not applied
ENTRIES_AT_ONCE = 1_000  # of a log, in a round trip

NOTED = Kind(
    "effects",
    "hash",
    parts=(),
    holds="id of the last entry of this partition's log with an effect in another partition, by that partition",
    written_by="follow, unfollow, post, comment, edit, vote, delete, import",
)
APPLIED = Kind(
    "applied",
    "hash",
    parts=(),
    holds="id of the last entry of another partition's log whose effect is applied in this partition, by that "
    "partition",
    written_by="the same, and a task of every server",
)

logger = logging.getLogger("upvote")


Known = dict[tuple[int, int], str]  # the last entry with an effect, by the partitions of the log and of the effect


@dataclass(frozen=True, slots=True)
class Effect:
    """
    Commands on keys of partition `target`. Each is the name of the command, the key, and the arguments after it.

    Besides commands of Redis there are five that `apply_effect.lua` implements: NOTIFY adds a notification to an inbox;
    PUTBACK adds one again that had been removed; UPVOTED notes by whom a user was upvoted; ANNULLED notes whose upvotes
    of a user count no more; DECIDED notes what became of a user's flag. They do nothing for users who do not exist.
    """

    target: int
    commands: tuple[tuple[str, ...], ...]


class Pending(NamedTuple):
    """
    Effects of entries in the log of `partition` on partition `target` that are not applied: of all entries after
    the one with the id `applied`, or from the first on if that is "", up to the one with the id `last`.
    """

    partition: int
    target: int
    applied: str
    last: str


class NewEntry(NamedTuple):
    """
    A new entry with an effect in partition `target`.

    `before` is the id of the last entry with an effect there, or "".
    """

    entry: Entry
    target: int
    before: str


# The effects of an entry, for each kind of entry that has some: see `EFFECTS`.
def _of_followed(site: Site, entry: Entry) -> list[Effect]:
    target, followers = _followers(site, entry)
    return [Effect(target, (("ZADD", followers, entry.values["since"], entry.actor),))]


def _of_unfollowed(site: Site, entry: Entry) -> list[Effect]:
    target, followers = _followers(site, entry)
    return [Effect(target, (("ZREM", followers, entry.actor),))]


def _followers(site: Site, entry: Entry) -> tuple[int, str]:
    """The partition and the key of the followers of the user or group that an entry is about."""
    followable = followed.OF_ENTRIES[entry.kind]
    followee = entry.values[followable.field]
    target = followable.partition_of(site, followee)
    return target, followable.followers(target, followee)


def _of_commented(site: Site, entry: Entry) -> list[Effect]:
    target = site.partition_of_user(entry.actor)
    added = Effect(target, (("ZADD", keys.comments(target, entry.actor), entry.values["time"], _member(entry)),))
    return [added, *_notifications(site, entry)]


def _of_comment_imported(site: Site, entry: Entry) -> list[Effect]:
    if not entry.actor:  # a deleted comment, which has replies
        return []
    target, karma = site.partition_of_user(entry.actor), int(entry.values["up"]) - 1  # the poster's own vote gives none
    added = ("ZADD", keys.comments(target, entry.actor), entry.values["time"], _member(entry))
    earned = ("HINCRBY", keys.user(target, entry.actor), "comment_karma", str(karma))
    return [Effect(target, (added, earned) if karma else (added,))]


def _of_comment_voted(site: Site, entry: Entry) -> list[Effect]:
    poster = entry.values["poster"]
    target = site.partition_of_user(poster)
    account = keys.user(target, poster)
    counted = ("HINCRBY", account, "comment_karma", entry.values["karma"])
    is_up = entry.values["value"] == str(Vote.UP.value) and entry.values["karma"] != "0"  # 0: the vote is annulled
    return [Effect(target, (counted, ("UPVOTED", account, entry.actor)) if is_up else (counted,))]


def _of_comment_deleted(site: Site, entry: Entry) -> list[Effect]:
    poster = entry.values["poster"]
    if not poster:
        return []  # a comment that was deleted before
    target = site.partition_of_user(poster)
    lists = (keys.comments, keys.unlisted, keys.held_comments)
    removed = [("ZREM", each(target, poster), _member(entry)) for each in lists]
    counted = ("HINCRBY", keys.user(target, poster), "comment_karma", entry.values["karma"])
    return [Effect(target, (*removed, counted)), *_ended_notifications(site, entry)]


def _of_comment_state_changed(site: Site, entry: Entry) -> list[Effect]:
    """
    `karma` is the change of the poster's karma. `listed` is "" if the comment is not in lists and inboxes any more.
    `announced` says that it is visible for the first time.
    """
    values, poster = entry.values, entry.values["poster"]
    target = site.partition_of_user(poster)
    counted = ("HINCRBY", keys.user(target, poster), "comment_karma", values["karma"])
    held, member = keys.held_comments(target, poster), _member(entry)
    is_held = values["state"] != ContentState.VISIBLE.value
    noted = ("ZADD", held, values["time"], member) if is_held else ("ZREM", held, member)
    commands = (*_listed(target, poster, member, values), noted, *((counted,) if values["karma"] != "0" else ()))
    on_inboxes = _returned_notifications if values["listed"] else _ended_notifications
    if values.get("announced"):
        on_inboxes = _notifications
    return [Effect(target, commands), *on_inboxes(site, entry)]


def _of_flags_decided(site: Site, entry: Entry) -> list[Effect]:
    """`outcomes` has a word NAME:OUTCOME for each who has flagged the subject: what has become of the flag."""
    _, _, number = entry.subject.partition(":")
    effects = []
    for word in entry.values["outcomes"].split():
        name, _, outcome = word.partition(":")
        target = site.partition_of_user(name)
        effects.append(Effect(target, (("DECIDED", keys.user(target, name), number, outcome),)))
    return effects


def _of_annulled_votes(site: Site, entry: Entry) -> list[Effect]:
    """
    `karma` has a word NAME:CHANGE:UPVOTED for each poster in another partition: the change of the karma of comments,
    and 1 if upvotes are among the votes, else 0. Entries of earlier versions lack UPVOTED.
    """
    effects, command = [], "ANNULLED" if entry.kind == "votes_annulled" else "UPVOTED"
    for word in entry.values["karma"].split():
        poster, change, *upvoted = word.split(":")
        target = site.partition_of_user(poster)
        account = keys.user(target, poster)
        counted, noted = ("HINCRBY", account, "comment_karma", change), (command, account, entry.values["voter"])
        effects.append(Effect(target, (counted, noted) if upvoted == ["1"] else (counted,)))
    return effects


def _of_comments_listed(site: Site, entry: Entry) -> list[Effect]:
    """
    The effects of an entry about comments of one article that become visible or invisible with it. Its values are
    words. `comments` has NUMBER:POSTER:TIME of each comment. `notified` has NUMBER:NOTIFIED of each comment and each
    user whom it had notified (see `notifications.notified`); so has `announced`, of comments that notify only now, as
    they are visible for the first time. `of_article` has whom the article itself has notified. `poster` has posted the
    article; entries of earlier versions lack it.
    """
    effects, posters = [], dict[str, str]()
    for word in entry.values["comments"].split():
        number, poster, time = word.split(":")
        posters[number] = poster
        target = site.partition_of_user(poster)
        values = {"time": time, "listed": entry.values["listed"]}
        effects.append(Effect(target, _listed(target, poster, keys.member(int(number)), values)))
    on_inboxes = _returned_notifications if entry.values["listed"] else _ended_notifications
    for name, effects_of in (("notified", on_inboxes), ("announced", _notifications)):
        for word in entry.values.get(name, "").split():
            number, _, notified = word.partition(":")
            values = {"notified": notified, "poster": posters[number]}
            effects += effects_of(site, replace(entry, subject=f"comment:{number}", values=values))
    of_article = _notifications if entry.values.get("article_announced") else on_inboxes
    values = {"notified": entry.values["of_article"], "poster": entry.values.get("poster", "")}
    return effects + of_article(site, replace(entry, values=values))


def _listed(target: int, poster: str, member: str, values: Mapping[str, str]) -> tuple[tuple[str, ...], ...]:
    """
    The commands that move a comment to the list of its poster's comments or, if `listed` is "", to the list of those
    that are not shown. `member` stands for it in both lists.
    """
    own, other = keys.comments(target, poster), keys.unlisted(target, poster)
    if not values["listed"]:
        own, other = other, own
    return ("ZADD", own, values["time"], member), ("ZREM", other, member)


def _notifications(site: Site, entry: Entry) -> list[Effect]:
    return [
        Effect(target, (("NOTIFY", keys.inbox(target, each.username), *_notice(entry, member, each)),))
        for target, member, each in _notified(site, entry)
    ]


def _returned_notifications(site: Site, entry: Entry) -> list[Effect]:
    return [
        Effect(target, (("PUTBACK", keys.inbox(target, each.username), *_notice(entry, member, each)),))
        for target, member, each in _notified(site, entry)
    ]


def _ended_notifications(site: Site, entry: Entry) -> list[Effect]:
    return [
        Effect(target, (("ZREM", keys.inbox(target, each.username), member),))
        for target, member, each in _notified(site, entry)
    ]


def _notice(entry: Entry, member: str, notified: Notified) -> tuple[str, ...]:
    """The arguments of NOTIFY and PUTBACK. Who notifies is the poster of the text; nobody is named for moderators."""
    actor = "" if notified.kind == "moderation" else entry.values.get("poster", entry.actor)
    return notified.username, member, str(notified.at), actor


def _notified(site: Site, entry: Entry) -> Iterator[tuple[int, str, Notified]]:
    """
    Whom a text notifies: each with the partition, and the member of the inbox there. The entry of an edit of a text
    that is not visible has the value `told`, a part of `notified`: these users are notified now, the others once the
    text is visible again.
    """
    type, _, number = entry.subject.partition(":")
    for each in notifications.notified(entry.values.get("told", entry.values.get("notified", ""))):
        member = notifications.notification_member(int(number), each.kind, type)
        yield site.partition_of_user(each.username), member, each


def _member(entry: Entry) -> str:
    return keys.member(int(entry.subject.partition(":")[2]))


# by the kind of an entry; entries of other kinds have no effects
EFFECTS: Mapping[str, Callable[[Site, Entry], list[Effect]]] = {
    "followed": _of_followed,
    "unfollowed": _of_unfollowed,
    "group_followed": _of_followed,
    "group_unfollowed": _of_unfollowed,
    "posted": _notifications,
    "edited": _notifications,
    "deleted": _ended_notifications,
    "commented": _of_commented,
    "comment_imported": _of_comment_imported,
    "comment_voted": _of_comment_voted,
    "comment_edited": _notifications,
    "comment_deleted": _of_comment_deleted,
    "flags_decided": _of_flags_decided,
    "moderated": _notifications,
    "appeal_answered": _notifications,
    "comment_state_changed": _of_comment_state_changed,
    "comments_listed": _of_comments_listed,
    "votes_annulled": _of_annulled_votes,
    "votes_restored": _of_annulled_votes,
}


async def apply_noted(site: Site, entry: Entry, noted: Sequence[int | str]) -> None:
    """Apply the effects of a new entry, as `apply` does. `noted` is as for `new_entries`."""
    if found := new_entries(entry, noted):
        await apply(site, found)


def new_entries(entry: Entry, noted: Sequence[int | str]) -> list[NewEntry]:
    """
    One `NewEntry` for each partition in which a new entry has an effect. `noted` is the reply of `note_effects` in
    notifications.lua: for each such partition its number, and the id of the entry before with an effect there.
    """
    return [NewEntry(entry, int(target), str(before)) for target, before in zip(noted[::2], noted[1::2], strict=True)]


async def apply(site: Site, entries: Sequence[NewEntry]) -> None:
    """
    Apply the effects of new entries in other partitions. One round trip, more if earlier effects are missing there.

    Effects in a partition that does not answer, or takes no writes, stay pending.
    """
    with suppress(StoreUnavailable):
        replies = await site.redis.pipeline(
            [_command(entry, target, _commands(site, entry, target), before) for entry, target, before in entries]
        )
        behind = {
            (entry.partition, target): entry.id
            for (entry, target, _), (status,) in zip(entries, replies, strict=True)
            if status == "behind"
        }
        for (partition, target), last in behind.items():
            await apply_missing(site, partition, target, last)


async def apply_missing(site: Site, partition: int, target: int, last: str) -> None:
    """
    Apply the effects of the log of `partition` in partition `target` up to an entry.

    One round trip if none is missing.
    """
    with suppress(StoreUnavailable):
        applied = await site.redis.run(("HGET", APPLIED(target), partition)) or ""
        if _is_before(applied, last):
            await _catch_up(site, Pending(partition, target, applied, last))


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
    noted = await site.redis.pipeline([("HGETALL", NOTED(each)) for each in sources])
    unknown = [
        (partition, int(target), last)
        for partition, targets in zip(sources, noted, strict=True)
        for target, last in targets.items()
        if known.get((partition, int(target))) != last
    ]
    commands = [("HGET", APPLIED(target), partition) for partition, target, _ in unknown]
    applied = await site.redis.pipeline(commands) if commands else []
    found = [
        Pending(partition, target, id or "", last)
        for (partition, target, last), id in zip(unknown, applied, strict=True)
    ]
    known |= {(each.partition, each.target): each.last for each in found if not _is_before(each.applied, each.last)}
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
        last[each.partition] = min(last[each.partition], each.applied or log.START, key=log.sort_key)
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
        entries = await log.read(site, missing.partition, position, ENTRIES_AT_ONCE)
        commands: list[Command] = []
        for entry in entries:
            if effects := _commands(site, entry, missing.target):
                commands.append(_command(entry, missing.target, effects, applied))
                applied = entry.id
        await site.redis.pipeline(commands)
        position = entries[-1].id if entries else missing.last
    if _is_before(applied, missing.last):
        await _skip(site, missing, applied)


async def _skip(site: Site, missing: Pending, applied: str) -> None:
    """Go on after an effect that is neither applied nor in the log, so that later effects are applied."""
    script_keys = _keys(missing.target)
    (status,) = await site.redis.run(APPLY_EFFECT.command(script_keys, missing.partition, applied, missing.last))
    if status == "applied":
        lost = f"effects of {keys.log(missing.partition)} in partition {missing.target} up to {missing.last}"
        logger.error("%s are lost, as the log was deleted: run `upvote verify --repair`", lost)


def _commands(site: Site, entry: Entry, target: int) -> list[tuple[str, ...]]:
    """The commands of the effects of an entry in a partition."""
    of_kind = EFFECTS.get(entry.kind)
    found = of_kind(site, entry) if of_kind else []
    return [command for effect in found if effect.target == target for command in effect.commands]


def _command(entry: Entry, target: int, commands: Sequence[tuple[str, ...]], before: str) -> Command:
    """The call that applies these commands of an entry, if the entry `before` is the last one that was applied."""
    script_keys = [*_keys(target), *(key for _, key, *_ in commands)]
    flat: list[Argument] = []
    for name, _, *arguments in commands:
        flat += [name, len(arguments), *arguments]
    return APPLY_EFFECT.command(script_keys, entry.partition, before, entry.id, *flat)


def _keys(target: int) -> list[str]:
    """KEYS 1 to 8 of `apply_effect.lua`; the keys that the commands change follow."""
    others = [
        mailboxes.mailbox(target, ""),
        mails.mailing(target),
        kinds.script_key("mail", target),
        BLOCKED(target, ""),
    ]
    return [APPLIED(target), keys.closed(target), keys.user(target, ""), keys.events(target), *others]


def _is_before(applied: str, last: str) -> bool:
    return log.sort_key(applied or log.START) < log.sort_key(last)
