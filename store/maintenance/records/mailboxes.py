"""Backup records of the mail addresses of users, and of mails that wait to be sent."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from store import mailboxes, mails, validation
from store.client import Command
from store.kinds import Key
from store.mailboxes import MailFrequency
from store.maintenance.records.record import (
    INSTANT,
    OnSkipped,
    Record,
    check_fields,
    check_instant,
    check_text,
    flat,
    shown,
    valid,
    without_malformed,
)
from store.site import Site

MAILBOX_FIELDS = {
    "email": validation.EMAIL,
    "pending": validation.EMAIL,
    "unusable": validation.EMAIL,
    "replies": re.compile("|".join(each.value for each in MailFrequency)),  # how often what arrives is mailed
    "key": re.compile("[0-9a-f]{32}"),  # of links that end these mails
    "edit": re.compile("[0-9a-f]{8}"),  # a random text of the last edit
}
WAITING_FIELDS = {
    "since": INSTANT,
    "tries": re.compile("[0-9]{1,6}"),
}


@dataclass(frozen=True, slots=True)
class MailboxRecord(Record):
    """The hash of a user's addresses."""

    kind = "mailbox"

    username: str
    fields: dict[str, str]

    def check(self) -> None:
        where = f"addresses of {shown(self.username)}"
        check_text(where, "username", self.username, mailboxes.mailbox.suffix)
        check_fields(where, self.fields, needed={}, optional=MAILBOX_FIELDS)

    def commands(self, site: Site) -> Iterator[Command]:
        partition = site.partition_of_user(self.username)
        yield ("HSET", mailboxes.mailbox(partition, self.username), *flat(self.fields))
        if email := self.fields.get("email"):
            yield ("SADD", mailboxes.addressed(partition, mailboxes.digest(email)), self.username)


@dataclass(frozen=True, slots=True)
class MailingRecord(Record):
    """
    A mail that waits to be sent: `subject` is a username or the digest of an address, `what` what the mail is for,
    `due` when it is due (unix milliseconds), and `fields` its hash. Beside `WAITING_FIELDS` the hash has notifications
    or addresses, each with the instant at which it came.
    """

    kind = "mailing"

    subject: str
    what: str
    due: int
    fields: dict[str, str]

    def check(self) -> None:
        where = f"mail {shown(self.what)} of {shown(self.subject)}"
        check_text(where, "subject", self.subject, mails.SUBJECT)
        check_text(where, "kind", self.what, mails.WHAT)
        check_instant(where, "time", self.due)
        noted = self.fields.keys() - WAITING_FIELDS.keys()
        for name in noted:
            check_text(where, "part", name, mails.NOTED)
            check_text(where, name, self.fields[name], INSTANT)
        others = {name: self.fields[name] for name in self.fields.keys() - noted}
        check_fields(where, others, needed={}, optional=WAITING_FIELDS)

    def commands(self, site: Site) -> Iterator[Command]:
        partition = mails.partition_of(site, self.subject)
        yield ("ZADD", mails.mailing(partition), self.due, f"{self.subject}:{self.what}")
        if self.fields:
            yield ("HSET", mails.mail(partition, self.subject, self.what), *flat(self.fields))


async def read_mailboxes(site: Site, found: Sequence[Key], on_skipped: OnSkipped) -> list[MailboxRecord]:
    replies = await site.redis.pipeline([("HGETALL", key.text) for key in found])
    read = [
        (key.text, MailboxRecord(key.suffix, without_malformed(key.text, fields, MAILBOX_FIELDS, on_skipped)))
        for key, fields in zip(found, replies, strict=True)
        if fields
    ]
    return valid(read, on_skipped)


async def read_mailing(site: Site, found: Sequence[Key], on_skipped: OnSkipped) -> list[MailingRecord]:
    """The mails that wait in some partitions (shares of the data)."""
    read = []
    for key in found:
        for member, due in await site.redis.run(("ZRANGE", key.text, 0, -1, "WITHSCORES")):
            subject, _, what = member.partition(":")
            fields = await site.redis.run(("HGETALL", f"{mails.mail.name}:{{{key.partition}}}:{member}"))
            read.append((key.text, MailingRecord(subject, what, int(due), fields)))
    return valid(read, on_skipped)
