"""Backup records of the actions of moderators, and of appeals against them."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from store import annulments, appeals, bans, keys, moderation, moderation_records, notifications, records
from store.client import Command
from store.kinds import Key
from store.maintenance.records.record import (
    COUNT,
    INSTANT,
    MalformedRecord,
    OnSkipped,
    Record,
    check_fields,
    check_number,
    flat,
    shown,
    valid,
)
from store.site import Site

ANYTHING = re.compile(".*", re.DOTALL)
KIND = re.compile("|".join(kind.value for kind in moderation_records.ModerationKind))
ACTION_FIELDS = {
    "kind": KIND,
    "at": INSTANT,
    "moderator": records.NAME,
    "subject": re.compile(rf"(?:article|comment):{keys.NUMBER.pattern}|user:{keys.USERNAME.pattern}"),
    "reason": ANYTHING,
}
OPTIONAL_FIELDS = {  # see `keys.action`
    "group": re.compile(keys.GROUP.pattern),
    "note": ANYTHING,
    "until": INSTANT,
    "texts": re.compile("1"),
    "votes": re.compile("1"),
    "from": INSTANT,
    "to": INSTANT,
    "kept": re.compile("1"),
    "annulled": COUNT,
    "total": COUNT,
    "reaches": INSTANT,
    "annulment": re.compile("done|restoring|restored"),
    "ban": re.compile(keys.NUMBER.pattern),
    "before": re.compile("pending|removed"),
    "held_by": re.compile(r"\S+"),
    "role": re.compile("|".join(role.value for role in moderation_records.Role)),
    "reverts": re.compile(keys.NUMBER.pattern),
    "reverted_by": re.compile(keys.NUMBER.pattern),
    "notified": re.compile("[a-z0-9_: -]{1,10000}"),
}
APPEAL_FIELDS = {"username": records.NAME, "at": INSTANT, "text": ANYTHING}
OPTIONAL_APPEAL_FIELDS = {
    "groups": re.compile("[a-z0-9_ -]{1,1000}"),
    "answer": ANYTHING,
    "answered_by": records.NAME,
    "answered_at": INSTANT,
    "ended": INSTANT,
}


@dataclass(frozen=True, slots=True)
class ActionRecord(Record):
    """The hash of an action of a moderator."""

    kind = "action"

    number: int
    fields: dict[str, str]

    def check(self) -> None:
        where = f"action {shown(self.number)}"
        check_number(where, self.number)
        check_fields(where, self.fields, needed=ACTION_FIELDS, optional=OPTIONAL_FIELDS)
        if moderation.slot_of(self.fields["subject"]) != self.number % keys.SLOTS:
            raise MalformedRecord(f"{where}: it is not of the slot of {self.fields['subject']}")

    def commands(self, site: Site) -> Iterator[Command]:
        partition = site.partition_of_article(self.number)
        yield ("HSET", keys.action(partition, self.number), *flat(self.fields))
        for scope in moderation.scopes_of(self.fields):
            yield ("ZADD", keys.actions(partition, scope), self.fields["at"], keys.member(self.number))
        if "texts" in self.fields:  # some of the banned user's texts may still have to be removed
            yield ("ZADD", bans.cleaning(partition), self.fields["at"], self.number)
        if "votes" in self.fields and not self._is_settled:
            yield ("ZADD", annulments.annulling(partition), self.fields["at"], self.number)
        for each in notifications.notified(self.fields.get("notified", "")):
            inbox = keys.inbox(site.partition_of_user(each.username), each.username)
            yield ("ZADD", inbox, each.at, notifications.notification_member(self.number, each.kind, self.kind))

    @property
    def _is_settled(self) -> bool:
        """Whether none of the votes that it annuls counts any more or, if it is reverted, all count again."""
        # a revert with `kept` leaves them annulled
        is_restored = "reverted_by" in self.fields and "kept" not in self.fields
        return self.fields.get("annulment") == ("restored" if is_restored else "done")


@dataclass(frozen=True, slots=True)
class AppealRecord(Record):
    """`number` is that of the action."""

    kind = "appeal"

    number: int
    fields: dict[str, str]

    def check(self) -> None:
        where = f"appeal against action {shown(self.number)}"
        check_number(where, self.number)
        check_fields(where, self.fields, needed=APPEAL_FIELDS, optional=OPTIONAL_APPEAL_FIELDS)
        if ("answered_by" in self.fields) != ("answered_at" in self.fields):
            raise MalformedRecord(f"{where}: it says only in part when and by whom it was answered")

    def commands(self, site: Site) -> Iterator[Command]:
        partition = site.partition_of_article(self.number)
        yield ("HSET", appeals.appeal(partition, self.number), *flat(self.fields))
        for queue, since in appeals.waiting(partition, self.fields).items():
            yield ("ZADD", queue, since, keys.member(self.number))


async def read_actions(site: Site, found: Sequence[Key], on_skipped: OnSkipped) -> list[ActionRecord]:
    replies = await site.redis.pipeline([("HGETALL", key.text) for key in found])
    read = [(key.text, ActionRecord(int(key.suffix), fields)) for key, fields in zip(found, replies, strict=True)]
    return valid(read, on_skipped)


async def read_appeals(site: Site, found: Sequence[Key], on_skipped: OnSkipped) -> list[AppealRecord]:
    replies = await site.redis.pipeline([("HGETALL", key.text) for key in found])
    read = [(key.text, AppealRecord(int(key.suffix), fields)) for key, fields in zip(found, replies, strict=True)]
    return valid(read, on_skipped)
