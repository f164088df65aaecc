"""
Finds and repairs inboxes that do not agree with articles, comments and actions, which say whom they have notified.
These may be in other partitions, shares of the data, so they cannot be compared in one step. What they mean for an
inbox in another partition (`effects`) has to be applied before. A part of `verify`.
"""

from collections.abc import Sequence
from math import inf
from typing import NamedTuple

from store import effects, keys, notifications
from store.client import Command
from store.hidden import BLOCKED, UNBLOCKED
from store.kinds import Key
from store.maintenance.absent import FindHashes, fields_of
from store.maintenance.records.record import INSTANT
from store.maintenance.wrong import Wrong
from store.notifications import Notified
from store.site import Site

KINDS = {"article": keys.article, "comment": keys.comment, "action": keys.action}
CONFIRMATIONS = 2  # reads after the first one: what notifies may be hidden and shown again meanwhile
FIELDS = ("notified", "state", "away")  # of what notifies: whom, and what says that it is in no inbox


class DueNotification(NamedTuple):
    """A notification that the user of an inbox should have, from a text of the poster ("" if there is none)."""

    partition: int
    username: str
    poster: str
    member: str
    at: int

    @property
    def inbox(self) -> str:
        return keys.inbox(self.partition, self.username)


async def find(
    site: Site, inboxes: Sequence[Key], causes: Sequence[Key], archived: FindHashes | None = None
) -> list[Wrong]:
    """
    What is wrong in some inboxes, and what is missing in any inbox of what some articles, comments and actions notify
    (`causes`). `archived` finds those that Redis does not have.
    """
    found = await _wrong(site, inboxes, causes, archived)
    for _ in range(CONFIRMATIONS if found else 0):
        await effects.complete(site)  # a change may have been under way
        found = [wrong for wrong in await _wrong(site, inboxes, causes, archived) if wrong in found]
    return found


async def remove_excess(site: Site, inboxes: Sequence[Key]) -> None:
    """
    Remove what a restore has put into inboxes beyond what they had: notifications that were dropped before, whose user
    joined later, or whose article or comment was not restored, and the inboxes of no user. Nobody may write meanwhile.
    """
    accounts = [keys.user(key.partition, key.suffix) for key in inboxes]
    begins = await site.redis.pipeline([("HMGET", account, "joined", "inbox_dropped") for account in accounts])
    pairs = zip(inboxes, begins, strict=True)
    await site.redis.pipeline([("ZREMRANGEBYSCORE", key.text, "-inf", f"({_begin(*each)}") for key, each in pairs])
    for key in inboxes:
        await site.redis.pipeline([wrong.repair for wrong in await _unfounded(site, key, archived=None)])


async def _wrong(site: Site, inboxes: Sequence[Key], causes: Sequence[Key], archived: FindHashes | None) -> list[Wrong]:
    return [
        *[wrong for key in inboxes for wrong in await _unfounded(site, key, archived)],
        *await _missing(site, causes),
    ]


async def _unfounded(site: Site, key: Key, archived: FindHashes | None) -> list[Wrong]:
    """The notifications of an inbox that the fields of no article, comment or action have, or have at a later time."""
    found = await site.redis.run(("ZRANGE", key.text, 0, -1, "WITHSCORES"))
    is_user = await site.redis.run(("EXISTS", keys.user(key.partition, key.suffix)))
    causes = [(_cause(site, member), _number(member)) for member, _ in found]
    notified = await fields_of(site, causes, ("poster", *FIELDS), archived)
    blocked = {name.lower(): since for name, since in await _blocked(site, key)}
    wrong = []
    for (member, value), (poster, text, *hidden) in zip(found, notified, strict=True):
        known = notifications.notified(text or "") if is_user and not any(hidden) else []
        blocked_since = blocked.get((poster or "").lower(), inf)
        words = [each for each in known if _is_of(each, key.suffix, member) and each.at <= blocked_since]
        if not words:
            removal = ("ZREM", key.text, member)
            wrong.append(Wrong(f"{key.text} {member}", found=f"{float(value):.0f}", expected=None, repair=removal))
        elif float(value) < words[0].at:
            change = ("ZADD", key.text, words[0].at, member)
            wrong.append(
                Wrong(f"{key.text} {member}", found=f"{float(value):.0f}", expected=str(words[0].at), repair=change)
            )
    return wrong


async def _blocked(site: Site, key: Key) -> list[tuple[str, float]]:
    """The users whom the user of an inbox blocks, and since when."""
    found: list[tuple[str, float]] = await site.redis.run(
        ("ZRANGE", BLOCKED(key.partition, key.suffix), 0, -1, "WITHSCORES")
    )
    return found


async def _missing(site: Site, causes: Sequence[Key]) -> list[Wrong]:
    """The notifications of some articles, comments and actions that are in no inbox."""
    expected = [
        DueNotification(
            site.partition_of_user(each.username),
            each.username,
            poster or "",
            notifications.notification_member(int(key.suffix), each.kind, key.name),
            each.at,
        )
        for key, text, poster in await _notifying(site, causes)
        for each in notifications.notified(text)
    ]
    replies = await site.redis.pipeline([command for each in expected for command in _lookups(each)])
    wrong = []
    for each, value, (name, *begin), blocked, unblocked in zip(
        expected, *(replies[place::4] for place in range(4)), strict=True
    ):
        is_due = name and each.at >= _begin(*begin) and not _may_be_kept_out(each.at, blocked, unblocked)
        if value is None and is_due:
            repair = ("ZADD", each.inbox, each.at, each.member)
            wrong.append(Wrong(f"{each.inbox} {each.member}", found=None, expected=str(each.at), repair=repair))
    return wrong


def _lookups(each: DueNotification) -> Sequence[Command]:
    """The four commands that say whether a notification is there, and whether it has to be."""
    return (
        ("ZSCORE", each.inbox, each.member),
        ("HMGET", keys.user(each.partition, each.username), "name", "joined", "inbox_dropped"),
        ("ZSCORE", BLOCKED(each.partition, each.username), each.poster),
        ("ZSCORE", UNBLOCKED(each.partition, each.username), each.poster),
    )


async def _notifying(site: Site, causes: Sequence[Key]) -> list[tuple[Key, str, str | None]]:
    """
    Which articles, comments and actions notify users, whom, and by whose texts. Comments of deleted articles are being
    removed, and what is hidden is in no inbox.
    """
    replies = await site.redis.pipeline([("HMGET", key.text, "article", "poster", *FIELDS) for key in causes])
    found = [
        (key, text, article, poster)
        for key, (article, poster, text, *hidden) in zip(causes, replies, strict=True)
        if text and not any(hidden)
    ]
    lookups = [
        ("EXISTS", key.text if key.kind is keys.action else keys.article(key.partition, article or key.suffix))
        for key, _, article, _ in found
    ]
    exist = await site.redis.pipeline(lookups) if lookups else []
    return [(key, text, poster) for (key, text, _, poster), is_there in zip(found, exist, strict=True) if is_there]


def _begin(joined: str | None, dropped: str | None) -> int:
    """
    The time (unix milliseconds) before which an inbox has no notifications, given when its user joined and the time of
    the newest notification that was dropped. Texts may mention a name before a user has it.
    """
    times = [(joined, 0), (dropped, 1)]  # from when the user joined, but after what was dropped
    return max([0, *(int(time) + after for time, after in times if time and INSTANT.fullmatch(time))])


def _may_be_kept_out(at: int, blocked: float | None, unblocked: float | None) -> bool:
    """Whether a notification may be in no inbox as its user blocks who notifies, or did so at its time."""
    return (blocked is not None and blocked <= at) or (unblocked is not None and unblocked >= at)


def _cause(site: Site, member: str) -> str:
    """The hash that a member of an inbox is about. Other programs may have written the member."""
    number, key_of = _number(member), KINDS.get(member.rpartition(" ")[2], keys.comment)
    return key_of(site.partition_of_article(number), number)


def _number(member: str) -> int:
    """The number that a member of an inbox begins with; 0 if it has none."""
    number = member.partition(" ")[0]
    return int(number) if number.isascii() and number.isdigit() else 0


def _is_of(each: Notified, username: str, member: str) -> bool:
    """Whether a member NUMBER KIND TYPE of an inbox is this notification; its number is that of the text."""
    return each.username == username and member.split(" ")[1:2] == [each.kind]
