"""Backup records of the edits that rules of the site hold: they wait until a moderator approves or rejects them."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from store import held_edits, links
from store.client import Command
from store.kinds import Key
from store.maintenance.records.record import (
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
from store.scripts.registry import Script
from store.site import Site

RESTORE_HELD_EDIT = Script("restore_held_edit")
# fields of `HELD_EDIT`: `mentions` has names, each with the slot of the user; at most `most_mentions` of them notify
NEEDED = {"at": INSTANT, held_edits.HELD_BY: held_edits.HOLD_WORDS, "most_mentions": re.compile("[0-9]{1,4}")}
OPTIONAL = {"mentions": re.compile(r"[a-z0-9_-]{2,20} [0-9]{1,4}(?: [a-z0-9_-]{2,20} [0-9]{1,4})*")}


@dataclass(frozen=True, slots=True)
class HeldEditRecord(Record):
    """The edit that waits for an article or a comment, as the fields of its hash."""

    kind = "held_edit"

    number: int
    fields: dict[str, str]

    def check(self) -> None:
        where = f"edit of {shown(self.number)}"
        check_number(where, self.number)
        check_fields(where, self.fields, needed=NEEDED, optional=OPTIONAL)
        if not any(name in self.fields for name in held_edits.TEXTS):
            raise MalformedRecord(f"{where}: it changes nothing")

    def commands(self, site: Site) -> Iterator[Command]:
        """The script restores no edit of what is not in the dump: it was deleted while the dump was made."""
        kept = {name: text for name, text in self.fields.items() if name != links.FIELD}
        if link := kept.get("link"):
            kept[links.FIELD] = links.digest(link)
        yield site.command(RESTORE_HELD_EDIT, site.partition_of_article(self.number), self.number, *flat(kept))


async def read_held_edits(site: Site, found: Sequence[Key], on_skipped: OnSkipped) -> list[HeldEditRecord]:
    """Edits that are malformed are left out."""
    replies = await site.redis.pipeline([("HGETALL", key.text) for key in found])
    read = [
        (key.text, HeldEditRecord(int(key.suffix), fields))
        for key, fields in zip(found, replies, strict=True)
        if fields
    ]
    return valid(read, on_skipped)
