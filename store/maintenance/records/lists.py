"""
Backup records of lists that users make, such as what they have saved. The declaration of a kind of key, with its
`member`, says what these lists have.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from store import keys
from store.client import Command
from store.kinds import Backup, Key, Kind, Member, declared
from store.maintenance.records.accounts import instant
from store.maintenance.records.record import (
    MalformedRecord,
    OnSkipped,
    Record,
    check_instant,
    check_text,
    shown,
    valid,
)
from store.scripts.registry import Script
from store.site import Site

RESTORE_LISTED = Script("restore_listed")


@dataclass(frozen=True, slots=True)
class ListRecord(Record):
    """A list, or its part in one share of the data: its members, with when they were added (unix milliseconds)."""

    of: Kind
    owner: str
    members: dict[str, int]

    @property
    def kind(self) -> str:
        return self.of.name

    def as_list(self) -> list[Any]:
        return [self.kind, self.owner, self.members]

    def check(self) -> None:
        where = f"{self.kind} of {shown(self.owner)}"
        check_text(where, "username", self.owner, keys.USERNAME)
        for member, since in self.members.items():
            if not member_of(self.of).fits(member):
                raise MalformedRecord(f"{where}: {shown(member)} is no usable member")
            check_instant(where, f"time of {member}", since)

    def commands(self, site: Site) -> Iterator[Command]:
        """
        A list in the partition of its owner is restored as it was. Another list has only members that are in the dump:
        others were deleted while it was made.
        """
        if self.of.is_with_owner:
            pairs = [part for member, since in self.members.items() for part in (since, member)]
            yield ("ZADD", self.of(site.partition_of_user(self.owner), self.owner), *pairs)
            return
        for member, since in self.members.items():
            named = member_of(self.of)
            partition = named.partition_of(member, site.partitions)
            both = [self.of(partition, self.owner), *mirrored(self.of, partition, member)]
            yield RESTORE_LISTED.command([named.key(partition, member), *both], since, member, self.owner)


def kinds_of_lists() -> list[Kind]:
    return [kind for kind in declared() if kind.member and kind.backup is Backup.COPIED]


def member_of(kind: Kind) -> Member:
    assert kind.member
    return kind.member


def mirrored(kind: Kind, partition: int, member: str) -> list[str]:
    """The key that has the owners of the lists that a member is in, if the kind has such keys."""
    return [kind.mirror(partition, member_of(kind).part(member))] if kind.mirror else []


async def read_lists(site: Site, found: Sequence[Key], on_skipped: OnSkipped) -> list[ListRecord]:
    """Members that are malformed are left out."""
    replies = await site.redis.pipeline([("ZRANGE", key.text, 0, -1, "WITHSCORES") for key in found])
    read = []
    for key, pairs in zip(found, replies, strict=True):
        each = [(f"{key.text} {member}", _of_one(key, member, since)) for member, since in pairs]
        kept = {member: since for one in valid(each, on_skipped) for member, since in one.members.items()}
        if kept:
            read.append(ListRecord(key.kind, key.suffix, kept))
    return read


def _of_one(key: Key, member: str, since: float) -> ListRecord:
    return ListRecord(key.kind, key.suffix, {member: instant(since)})
