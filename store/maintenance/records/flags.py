"""Backup records of flags, by which users ask moderators to look at an article or a comment."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from store import flags, keys
from store.client import Command
from store.kinds import Key
from store.maintenance.records.record import (
    MalformedRecord,
    OnSkipped,
    Record,
    check_number,
    check_text,
    flat,
    shown,
    valid,
)
from store.scripts.registry import Script
from store.site import Site

RESTORE_FLAGS = Script("restore_flags")
FLAGS_AT_ONCE = 500  # in a script


@dataclass(frozen=True, slots=True)
class FlagsRecord(Record):
    """Flags on the article or comment with this number, as the fields of their hash: by username, as `FLAG_TEXT`."""

    kind = "flags"

    number: int
    fields: dict[str, str]

    def check(self) -> None:
        where = f"flags on {shown(self.number)}"
        check_number(where, self.number)
        for name, text in self.fields.items():
            check_text(where, "username", name, keys.USERNAME)
            check_text(where, "flag", text, flags.FLAG_TEXT)
        try:
            flags.parse(self.fields)
        except ValueError as fault:
            raise MalformedRecord(f"{where}: {fault}") from fault

    def commands(self, site: Site) -> Iterator[Command]:
        """The scripts restore no flags on what is not in the dump: it was deleted while the dump was made."""
        partition, pairs = site.partition_of_article(self.number), list(self.fields.items())
        for start in range(0, len(pairs), FLAGS_AT_ONCE):
            some = dict(pairs[start : start + FLAGS_AT_ONCE])
            yield site.command(RESTORE_FLAGS, partition, self.number, *flat(some))


async def read_flags(site: Site, found: Sequence[Key], on_skipped: OnSkipped) -> list[FlagsRecord]:
    """Flags that are malformed are left out."""
    replies = await site.redis.pipeline([("HGETALL", key.text) for key in found])
    read = []
    for key, fields in zip(found, replies, strict=True):
        number = int(key.suffix)
        each = [(f"{key.text} {name}", FlagsRecord(number, {name: text})) for name, text in fields.items()]
        kept = {name: text for one in valid(each, on_skipped) for name, text in one.fields.items()}
        if kept:
            read.append(FlagsRecord(number, kept))
    return read
