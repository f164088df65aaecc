"""
Backup records of annulled votes: votes on articles and comments that do not count, each with the actions of moderators
that have annulled it.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from store import records
from store.client import Command
from store.kinds import Key
from store.maintenance.records.record import OnSkipped, Record, check_number, check_text, flat, shown, valid
from store.scripts.registry import Script
from store.site import Site

RESTORE_ANNULLED = Script("restore_annulled")
VOTES_AT_ONCE = 500  # in a script
# the value of a vote, 0 if it was withdrawn after it was annulled, and the numbers of the actions that have annulled it
ANNULLED_VOTE = re.compile(r"(?:0|1|-1)(?: [1-9][0-9]{0,15})+", re.ASCII)


@dataclass(frozen=True, slots=True)
class AnnulledRecord(Record):
    """Votes on an article or a comment, as the fields of their hash."""

    kind = "annulled"

    number: int
    fields: dict[str, str]

    def check(self) -> None:
        where = f"annulled votes on {shown(self.number)}"
        check_number(where, self.number)
        for name, text in self.fields.items():
            check_text(where, "username", name, records.NAME)
            check_text(where, "vote", text, ANNULLED_VOTE)

    def commands(self, site: Site) -> Iterator[Command]:
        """
        Commands that restore the votes. The script passes over an article or a comment that is not in the dump: it was
        deleted meanwhile.
        """
        # the number of a comment, too, tells the partition (share of the data) of its article
        partition, pairs = site.partition_of_article(self.number), list(self.fields.items())
        for start in range(0, len(pairs), VOTES_AT_ONCE):
            yield site.command(
                RESTORE_ANNULLED, partition, self.number, *flat(dict(pairs[start : start + VOTES_AT_ONCE]))
            )


async def read_annulled(site: Site, found: Sequence[Key], on_skipped: OnSkipped) -> list[AnnulledRecord]:
    """The records of keys of the kind `annulled`, without malformed votes, which are skipped. One round trip."""
    replies = await site.redis.pipeline([("HGETALL", key.text) for key in found])
    read = []
    for key, fields in zip(found, replies, strict=True):
        number = int(key.suffix)
        each = [(f"{key.text} {name}", AnnulledRecord(number, {name: text})) for name, text in fields.items()]
        kept = {name: text for one in valid(each, on_skipped) for name, text in one.fields.items()}
        if kept:
            read.append(AnnulledRecord(number, kept))
    return read
