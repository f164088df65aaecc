"""Backup records of what is written about groups, such as their titles: the kind of key `place` has it."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from store import keys
from store.client import Command
from store.kinds import Key
from store.maintenance.records.record import INSTANT, OnSkipped, Record, check_fields, check_text, flat, shown, valid
from store.site import Site

FIELDS = {"created": INSTANT}
OPTIONAL_FIELDS = {
    "listed": INSTANT,
    "title": re.compile(".+", re.DOTALL),
    "about": re.compile(".+", re.DOTALL),
}


@dataclass(frozen=True, slots=True)
class GroupRecord(Record):
    """The hash of what is written about a group."""

    kind = "place"

    group: str
    fields: dict[str, str]

    def check(self) -> None:
        where = f"place {shown(self.group)}"
        check_text(where, "name", self.group, keys.PLACE)
        check_fields(where, self.fields, needed=FIELDS, optional=OPTIONAL_FIELDS)

    def commands(self, site: Site) -> Iterator[Command]:
        partition = site.partition_of_group(self.group)
        yield ("HSET", keys.place(partition, self.group), *flat(self.fields))
        if "listed" in self.fields:
            yield ("ZADD", keys.groups(partition), 0, self.group)


async def read_places(site: Site, found: Sequence[Key], on_skipped: OnSkipped) -> list[GroupRecord]:
    replies = await site.redis.pipeline([("HGETALL", key.text) for key in found])
    read = [(key.text, GroupRecord(key.suffix, fields)) for key, fields in zip(found, replies, strict=True) if fields]
    return valid(read, on_skipped)
