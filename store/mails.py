"""
The queue of mails: which ones wait, and when each is due. Their contents and addresses are read when they are sent;
only notices, which go to an address that a user had before, are queued with that address.

A mail is taken out of the queue just before it is sent, so that it is never sent twice. One that could not be sent is
put off. The mails of a user are in the user's partition, the share of the data that has all that the user owns.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from store import keys
from store.client import Command
from store.kept_answers import new_call
from store.kinds import Backup, Check, Kind, Text
from store.mailboxes import ADDRESS_DIGEST, digest
from store.scripts.registry import Script
from store.site import Site
from store.validation import EMAIL, USERNAME

NOTE_UNUSABLE = Script("note_unusable")
PUT_OFF_MAIL = Script("put_off_mail")
QUEUE_MAIL = Script("queue_mail")
TAKE_MAIL = Script("take_mail")

NOTICES = ("change", "removal")  # to an address that a user had before: it was changed or removed
# what a mail is for; "identity" has a link that stands in for the password of a user who has none
WHATS = ("confirm", "reset", "identity", "replies", *NOTICES)
# a notification, as `notifications.notification_member` writes it, or the address of a notice
NOTED = re.compile(rf"[0-9]{{16}} [a-z]+ [a-z]+|{EMAIL.pattern}")
SUBJECT = Text("NAME", rf"(?:{keys.USERNAME.pattern}|{ADDRESS_DIGEST.pattern})", keys.slot, is_folded=True)
WHAT = Text("WHAT", f"(?:{'|'.join(WHATS)})")

mailing = Kind(
    "mailing",
    "zset",
    parts=(),
    holds="mails that wait, as SUBJECT:WHAT, by when they are due; the subject is a username or the SHA-1 of an "
    "address",
    lifetime="while there are any",
    written_by="register, editAccount, requestPasswordReset, requestConfirmation, all commands that notify",
    backup=Backup.COPIED_BY_MOVE,
    record="mailing",
    check=Check.MAIL,
)
mail = Kind(
    "mail",
    "hash",
    parts=(SUBJECT, WHAT),
    holds="of a mail that waits: since (when it was due first), tries; the notifications of a mail of replies, or the "
    "addresses of a notice, by when they came",
    lifetime="until it is sent or dropped",
    written_by="editAccount, all commands that notify, mails",
    backup=Backup.COPIED_BY_MOVE,
    record="mailing",
    check=Check.MAIL,
)


@dataclass(frozen=True, slots=True)
class WaitingMail:
    """
    A mail in the queue: to a user, or to those with an address, whose name or digest is `subject`; `what` is one of
    `WHATS`. `due` is when it is tried next, `since` when it was due at first (unix milliseconds). `about` are the
    notifications of a mail of replies, or the addresses of a notice.
    """

    partition: int
    subject: str
    what: str
    due: int
    fields: dict[str, str]

    @property
    def since(self) -> int:
        return int(self.fields.get("since", self.due))

    @property
    def tries(self) -> int:
        return int(self.fields.get("tries", 0))

    @property
    def about(self) -> dict[str, str]:
        return {name: at for name, at in self.fields.items() if name not in ("since", "tries")}


async def ask_for_reset(site: Site, username_or_email: str) -> None:
    """
    Queue the mail for a user who has forgotten their password. The command is the same whether there is such a user or
    not. One round trip.
    """
    is_name = USERNAME.fullmatch(username_or_email) is not None
    subject = username_or_email.lower() if is_name else digest(username_or_email)
    beginning = QUEUE_MAIL.beginning(partition_of(site, subject))
    await site.redis.run((*beginning, subject, "reset", site.clock()))


async def ask_for_identity(site: Site, username: str) -> None:
    """Queue the mail with a link that stands in for the password of a user who has none. One round trip."""
    beginning = QUEUE_MAIL.beginning(site.partition_of_user(username))
    await site.redis.run((*beginning, username.lower(), "identity", site.clock()))


def partition_of(site: Site, subject: str) -> int:
    """The partition of the mails to a user, or to those with an address."""
    return keys.slot(subject) % site.partitions


async def due(site: Site, most: int) -> list[WaitingMail]:
    """
    The mails that are due, at most `most`, in the order in which they became due. One round trip, two if there are any.
    """
    now = site.clock()
    replies = await site.redis.pipeline(
        [
            ("ZRANGE", mailing(partition), "-inf", now, "BYSCORE", "LIMIT", 0, most, "WITHSCORES")
            for partition in range(site.partitions)
        ]
    )
    found = sorted(
        (int(score), partition, member) for partition, pairs in enumerate(replies) for member, score in pairs
    )[:most]
    if not found:
        return []
    known = await site.redis.pipeline(
        [("HGETALL", mail(partition, *member.split(":"))) for _, partition, member in found]
    )
    pairs = zip(found, known, strict=True)
    return [_waiting(partition, member, at, fields) for (at, partition, member), fields in pairs]


def _waiting(partition: int, member: str, at: int, fields: dict[str, str]) -> WaitingMail:
    subject, _, what = member.partition(":")
    return WaitingMail(partition, subject, what, at, fields)


async def of_user(site: Site, username: str) -> list[WaitingMail]:
    """The mails that wait for a user, except resets that are asked for by an address. One round trip."""
    partition, subject = site.partition_of_user(username), username.lower()
    scores: list[Command] = [("ZSCORE", mailing(partition), f"{subject}:{what}") for what in WHATS]
    hashes: list[Command] = [("HGETALL", mail(partition, subject, what)) for what in WHATS]
    replies = await site.redis.pipeline([*scores, *hashes])
    found = zip(WHATS, replies[: len(WHATS)], replies[len(WHATS) :], strict=True)
    return [WaitingMail(partition, subject, what, int(due), fields) for what, due, fields in found if due is not None]


async def take(site: Site, waiting: WaitingMail, *, about: Sequence[str] = ()) -> bool:
    """
    Take a mail out of the queue, with the notifications or the address that it is about; False if it was taken or put
    off meanwhile. One round trip.
    """
    given: Command = (waiting.subject, waiting.what, waiting.due, site.clock(), *about, new_call())
    (status,) = await site.redis.run((*TAKE_MAIL.beginning(waiting.partition), *given))
    return bool(status == "taken")


async def put_off(site: Site, waiting: WaitingMail, until: int, *, has_failed: bool = True) -> None:
    """Try a mail again at `until` (unix milliseconds); a try that `has_failed` is counted. One round trip."""
    given = (waiting.subject, waiting.what, waiting.due, until, waiting.since, waiting.tries + has_failed)
    await site.redis.run((*PUT_OFF_MAIL.beginning(waiting.partition), *given))


async def put_back(site: Site, waiting: WaitingMail, until: int, *, about: Sequence[str] = ()) -> None:
    """Try a mail again at `until` that was taken, with what it was `about`, and not sent. One round trip."""
    noted = [text for name in about for text in (name, waiting.about[name])]
    taken = ""  # in place of the time at which it was due
    given: Command = (waiting.subject, waiting.what, taken, until, waiting.since, waiting.tries + 1, *noted)
    await site.redis.run((*PUT_OFF_MAIL.beginning(waiting.partition), *given))


async def note_unusable(site: Site, username: str, address: str) -> None:
    """Note that a mail server has refused an address of a user for good. One round trip."""
    beginning = NOTE_UNUSABLE.beginning(site.partition_of_user(username))
    await site.redis.run((*beginning, username.lower(), address))


@dataclass(frozen=True, slots=True)
class MailBacklog:
    """How many mails are due, and since when the first one is (unix milliseconds); None without any."""

    count: int
    oldest: int | None


async def backlog(site: Site) -> MailBacklog:
    """How many mails are due. One round trip."""
    now, partitions = site.clock(), range(site.partitions)
    counts: list[Command] = [("ZCOUNT", mailing(partition), "-inf", now) for partition in partitions]
    firsts: list[Command] = [("ZRANGE", mailing(partition), 0, 0, "WITHSCORES") for partition in partitions]
    replies = await site.redis.pipeline([*counts, *firsts])
    oldest = min((int(score) for pairs in replies[len(counts) :] for _, score in pairs), default=now + 1)
    return MailBacklog(sum(replies[: len(counts)]), oldest if oldest <= now else None)
