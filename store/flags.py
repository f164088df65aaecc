"""
Flags, by which users ask moderators to look at an article or a comment (below: a thing), and the queues in which things
wait for moderators. Flags are private: no event, no page of changes and no view of the database has them.

A flagged thing waits in the queue FLAGGED while it is visible: in that of the site, and in those of the groups that its
article had when it was flagged. The queue PENDING has things that are not shown before a moderator approves them.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from enum import Enum
from typing import Any, NamedTuple

from store import comments, flaggers, keys, records, removals, standing_bans, validation, verdicts
from store.client import Command
from store.errors import Forbidden, NotFound, refuse
from store.flaggers import Weight
from store.kept_answers import hash_left_out
from store.keys import GROUP, NUMBER
from store.kinds import Backup, Check, Kind, Text
from store.listings import Listing
from store.queries import Read
from store.records import Article, Comment, UncachedArticle, UncachedComment
from store.scripts.registry import Script
from store.site import Actor, Site

FLAG = Script("flag")

FLAG_TEXT = re.compile(  # the value of a field of `flags`
    r"(?P<at>[0-9]{1,15}) (?P<reason>[a-z_]+) (?P<name>[A-Za-z0-9_-]{2,20}|~[a-z0-9]{12}) "
    r"(?P<counts>\+?)(?P<action>-|[1-9][0-9]{0,15}) "
    rf"(?P<groups>-|{GROUP.pattern}(?:,{GROUP.pattern})*) (?P<note>.*)",
    re.DOTALL,
)
APPEALS = "appeals"  # the queue of the actions to which a user objects and nobody has answered
QUEUE_NAME = Text("QUEUE", f"(?:flagged|pending|{APPEALS})")
QUEUE_SCOPE = Text("SCOPE", rf"(?:all|group:{GROUP.pattern})")
ALL = "all"  # the scope of a queue that has everything

FLAGS = Kind(
    "flags",
    "hash",
    parts=(NUMBER,),
    holds="the flags on an article or a comment, by usernames in lower case: time, reason, name, `+` if it counts "
    "toward hiding and the action that has cleared it, groups, note",
    lifetime="while it has flags",
    written_by="flag, unflag, approve, edit, delete",
    backup=Backup.COPIED,
    record="flags",
    check=Check.FLAGS,
)
QUEUE = Kind(
    "queue",
    "zset",
    parts=(QUEUE_NAME, QUEUE_SCOPE),
    holds="numbers of the articles and comments that wait for moderators, of the site or of a group: those that are "
    "flagged, by the time of the first flag, and those that are pending; numbers of the actions whose appeals wait, by "
    "the time of the appeal",
    lifetime="while anything waits",
    written_by="flag, unflag, appeal, delete, and all commands of moderators",
    backup=Backup.DERIVED,
    rebuilt_from="the flags, the states and the appeals",
    check=Check.QUEUE,
)


class FlagReason(Enum):
    SPAM = "spam"
    ABUSE = "abuse"
    OFF_TOPIC = "off_topic"
    ILLEGAL = "illegal"
    OTHER = "other"


REASONS = frozenset(each.value for each in FlagReason)


class Queue(Enum):
    """What waits for moderators, and why."""

    FLAGGED = "flagged"
    PENDING = "pending"


class Flag(NamedTuple):
    """
    A flag of a user, set at an instant (unix milliseconds). `groups` are those that the article had then; `cleared_by`
    is the number of the action that approved the thing, None while the flag stands. `counts` says whether it counts
    toward hiding the thing, by the rules of the site when it was set.
    """

    username: str
    reason: FlagReason
    note: str | None
    at: int
    groups: tuple[str, ...]
    cleared_by: int | None = None
    counts: bool = False


class Flagged(NamedTuple):
    """
    An article or a comment after a command; None if the flag has hidden it. `changed` is False if the flag was as it is
    now, or counts no more.
    """

    username: str
    subject: Article | Comment | None
    changed: bool


async def flag(
    site: Site, actor: Actor, kind: str, number: int, reason: FlagReason, note: str | None = None
) -> Flagged:
    """
    Flag an article or a comment, which is its `kind`. Another reason or note replaces the earlier flag, at its time.
    Safe to repeat. If enough flags count by the rules of the site, the thing is hidden until a moderator approves it.

    One round trip; one more before it if the session is stored in another partition, and one with a rule for users who
    flag. With a rule that hides things also what `flaggers.weigh` takes, one or two to know which earlier flaggers are
    banned, and if the thing is hidden what `removals.update_lists` or `comments.apply_state` takes.

    Raises:
        NotFound: there is no such article or comment in Redis.
        Forbidden: the article or comment is the actor's own, or not visible.
        Invalid: the note is too long, or has characters that are not allowed.
        RuleBroken: the actor's account is too young, or has too little karma, by the rules of the site.
        Unauthenticated, Banned: the session has ended, or the actor is banned from the site or one of the groups.
    """
    note = validation.note(note)
    await verdicts.check_flag(site, actor)
    weight = await flaggers.weigh(site, actor, kind, number)
    return await _set(site, actor, kind, number, reason.value, note, weight, await _banned(site, number, weight))


async def unflag(site: Site, actor: Actor, kind: str, number: int) -> Flagged:
    """Withdraw a flag. Costs and raises as `flag`."""
    return await _set(site, actor, kind, number, reason="", note="", weight=flaggers.NO_WEIGHT)


def standing(site: Site, number: int) -> Read[list[Flag]]:
    """The flags on a thing that were not cleared, oldest first."""
    return Read(("HGETALL", FLAGS(site.partition_of_article(number), number)), _standing)


def standing_of(site: Site, number: int, username: str) -> Read[Flag | None]:
    """The flag of a user on a thing; None if there is none, or if it was cleared."""
    name = username.lower()
    return Read(("HGET", FLAGS(site.partition_of_article(number), number), name), _standing_flag, (name,))


def listing(site: Site, queue: Queue, groups: Sequence[str] | None) -> Listing:
    """
    The things in a queue, newest first: of the whole site, or of any of some groups. One that waits in several groups
    is listed once.
    """
    return queue_listing(site, queue.value, groups)


def queue_listing(site: Site, queue: str, groups: Sequence[str] | None) -> Listing:
    """As `listing`, of a queue by its name in keys, such as `APPEALS`."""
    if groups is None:
        return _listing(site, queue, ALL)
    if len(groups) == 1:
        return _listing(site, queue, f"group:{groups[0]}")
    unions = tuple(
        tuple(QUEUE(partition, queue, f"group:{group}") for group in groups) for partition in range(site.partitions)
    )
    indexes = tuple(QUEUE(partition, queue, ALL) for partition in range(site.partitions))
    name = f"queue:{queue}:moderated"
    return Listing(name, indexes, by_time=True, may_be_archived=False, unions=unions)


def parse(fields: Mapping[str, str]) -> list[Flag]:
    """
    The flags in a hash, oldest first.

    Raises:
        ValueError: a flag is malformed.
    """
    return sorted((_flag(name, text) for name, text in fields.items()), key=lambda flag: (flag.at, flag.username))


def stands(text: str) -> bool:
    """Whether a flag was not cleared, by the text of its field; also one that is malformed."""
    match = FLAG_TEXT.fullmatch(text)
    return not match or match["action"] == "-"


def waiting(partition: int, number: int, flags: Iterable[Flag], is_visible: bool) -> dict[str, int]:
    """
    The keys of the queues in which a thing with these flags waits, each with the time since when (unix milliseconds).
    """
    standing = [flag for flag in flags if flag.cleared_by is None] if is_visible else []
    if not standing:
        return {}
    since = min(flag.at for flag in standing)
    scopes = [ALL, *(f"group:{group}" for flag in standing for group in flag.groups)]
    return {QUEUE(partition, Queue.FLAGGED.value, scope): since for scope in scopes}


def state_commands(partition: int, number: int) -> list[Command]:
    """
    What `is_visible` needs to know of an article or a comment with this number. A thing with a `state`, or with `away`,
    which hides it together with its article, is not visible.
    """
    return [
        ("HMGET", keys.article(partition, number), "poster", "state", "away"),
        ("HMGET", keys.comment(partition, number), "poster", "state", "away"),
    ]


def is_visible(replies: Sequence[Sequence[str | None]]) -> bool | None:
    """Whether a thing is visible, by the replies to `state_commands`; None if there is none."""
    known = [state or away for poster, state, away in replies if poster]
    return not known[0] if known else None


async def _banned(site: Site, number: int, weight: Weight) -> str:
    """
    The names of those whose flags on a thing counted when they were set, and who are banned now. No round trip if the
    new flag does not count. Else one, and one more if the new flag may hide the thing.
    """
    if not weight.hide_at:  # the new flag does not count
        return ""
    found = parse(await site.redis.run(("HGETALL", FLAGS(site.partition_of_article(number), number))))
    names = [flag.username.lower() for flag in found if flag.counts and flag.cleared_by is None]
    if len(names) + 1 < weight.hide_at:
        return ""
    words = await site.redis.pipeline(
        [("HGET", keys.user(site.partition_of_user(name), name), "bans") for name in names]
    )
    now = site.clock()
    return " ".join(
        name for name, each in zip(names, words, strict=True) if any(standing_bans.standing(each or "", now))
    )


async def _set(
    site: Site, actor: Actor, kind: str, number: int, reason: str, note: str, weight: Weight, banned: str = ""
) -> Flagged:
    partition = site.partition_of_article(number)
    given = (kind, reason, note, *weight, comments.STUBS_AT_ONCE, banned)
    status, *reply = await site.run(FLAG, partition, actor, site.partitions, number, *given)
    if status == "own":
        raise Forbidden(f"{kind}:{number} is your own", "subjectId")
    if not reply:
        _refuse(status, kind, number)
    username, flat = reply
    if status == "hides":
        await _complete_hiding(site, kind, number, flat)
        return Flagged(username, subject=None, changed=True)
    key = keys.article if kind == "article" else keys.comment
    fields = records.pairs(flat) if flat else await hash_left_out(site.redis, key(partition, number))
    if not fields:
        _refuse("missing", kind, number)
    return Flagged(username, _record(kind, number, fields), status == "changed")


async def _complete_hiding(site: Site, kind: str, number: int, change: Sequence[Any]) -> None:
    if kind == "article":
        await removals.update_lists(site, number)
    else:
        await comments.apply_state(site, actor="", number=number, change=change)


def _refuse(status: str, kind: str, number: int) -> None:
    """Raise the refusal of a script. Its field is that of the input."""
    match status:
        case "missing":
            raise NotFound(f"there is no {kind}:{number}", "subjectId")
        case "hidden":
            raise Forbidden(f"{kind}:{number} is not visible", "subjectId")
    refuse(status, kind, number)


def _record(kind: str, number: int, fields: dict[str, str]) -> Article | Comment:
    if kind == "article":
        article = records.article(number, fields)
        assert article
        return UncachedArticle(*article)
    comment = records.comment(number, fields)
    assert comment
    return UncachedComment(*comment)


def _standing(fields: dict[str, str]) -> list[Flag]:
    return [flag for flag in parse(fields) if flag.cleared_by is None]


def _standing_flag(name: str, text: str | None) -> Flag | None:
    flag = _flag(name, text) if text else None
    return None if flag is None or flag.cleared_by else flag


def _flag(name: str, text: str) -> Flag:
    match = FLAG_TEXT.fullmatch(text)
    if not match or match["reason"] not in REASONS or match["name"].lower() != name:
        raise ValueError(f"{text[:100]!r} is no flag of {name[:20]}")
    groups = () if match["groups"] == "-" else tuple(match["groups"].split(","))
    cleared_by = None if match["action"] == "-" else int(match["action"])
    counts = bool(match["counts"])
    return Flag(
        match["name"], FlagReason(match["reason"]), match["note"] or None, int(match["at"]), groups, cleared_by, counts
    )


def _listing(site: Site, queue: str, scope: str) -> Listing:
    indexes = tuple(QUEUE(partition, queue, scope) for partition in range(site.partitions))
    return Listing(f"queue:{queue}:{scope}", indexes, by_time=True, may_be_archived=False)
