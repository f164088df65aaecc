"""
Finds and repairs the index of users by their addresses where it does not agree with the addresses of users, and mails
that are not in the queue. Finds addresses that are malformed. A part of `verify`.
"""

from collections.abc import Sequence
from functools import partial

from store import keys, kinds, mailboxes, mails
from store.kinds import Check, Key
from store.maintenance.records.mailboxes import MailboxRecord
from store.maintenance.records.record import MalformedRecord
from store.maintenance.wrong import Wrong, confirmed
from store.site import Site


async def find(site: Site, found: Sequence[Key]) -> list[Wrong]:
    """What is wrong with some keys. Read again if it seems wrong: a change may be under way."""
    checked = [key for key in found if key.kind.check in (Check.MAILBOX, Check.MAIL)]
    return await confirmed(checked, partial(_wrong_with, site))


async def malformed(site: Site, found: Sequence[Key]) -> list[tuple[str, str]]:
    """The keys of addresses that cannot be restored from a backup, each with what is wrong."""
    checked = [key for key in found if key.kind is mailboxes.mailbox]
    hashes = await site.redis.pipeline([("HGETALL", key.text) for key in checked])
    faults = [(key.text, _fault(key.suffix, fields)) for key, fields in zip(checked, hashes, strict=True)]
    return [(where, fault) for where, fault in faults if fault]


async def _wrong_with(site: Site, key: Key) -> list[Wrong]:
    if key.kind is mailboxes.mailbox:
        return await _of_mailbox(site, key)
    if key.kind is mailboxes.addressed:
        return await _of_address(site, key)
    return await (_of_queue(site, key) if key.kind is mails.mailing else _of_mail(site, key))


async def _of_mailbox(site: Site, key: Key) -> list[Wrong]:
    """Check that the user of a mailbox exists, and is found by the address."""
    is_user, email = await site.redis.pipeline(
        [("HEXISTS", keys.user(key.partition, key.suffix), "name"), ("HGET", key.text, "email")]
    )
    if not is_user:
        return [Wrong(key.text, found="there", expected=None, repair=("DEL", key.text))]
    if email is None:
        return []
    index = mailboxes.addressed(key.partition, mailboxes.digest(email))
    if await site.redis.run(("SISMEMBER", index, key.suffix)):
        return []
    return [Wrong(f"{index} {key.suffix}", found=None, expected="there", repair=("SADD", index, key.suffix))]


async def _of_address(site: Site, key: Key) -> list[Wrong]:
    """Check that the users who are found by an address have it."""
    names = sorted(await site.redis.run(("SMEMBERS", key.text)))
    emails = await site.redis.pipeline([("HGET", mailboxes.mailbox(key.partition, name), "email") for name in names])
    return [
        Wrong(f"{key.text} {name}", found="there", expected=None, repair=("SREM", key.text, name))
        for name, email in zip(names, emails, strict=True)
        if email is None or mailboxes.digest(email) != key.suffix
    ]


async def _of_queue(site: Site, key: Key) -> list[Wrong]:
    """The members of the queue of mails that are malformed, or in the wrong partition (share of the data)."""
    members = await site.redis.run(("ZRANGE", key.text, 0, -1))
    return [
        Wrong(f"{key.text} {member}", found="there", expected=None, repair=("ZREM", key.text, member))
        for member in members
        if kinds.parse(f"{mails.mail.name}:{{{key.partition}}}:{member}", site.partitions) is None
    ]


async def _of_mail(site: Site, key: Key) -> list[Wrong]:
    """Check that the hash of a mail is of one that waits in the queue."""
    queue = mails.mailing(key.partition)
    due, fields = await site.redis.pipeline([("ZSCORE", queue, key.suffix), ("HGETALL", key.text)])
    if due is not None or not fields:
        return []
    at = max((int(value) for name, value in fields.items() if name != "tries"), default=0)
    return [Wrong(f"{queue} {key.suffix}", found=None, expected=str(at), repair=("ZADD", queue, "NX", at, key.suffix))]


def _fault(username: str, fields: dict[str, str]) -> str:
    """What is wrong with the addresses of a user, or ""."""
    try:
        MailboxRecord(username, fields).check()
    except MalformedRecord as fault:
        return str(fault)
    return ""
