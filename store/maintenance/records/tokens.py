"""
Records of one-time tokens and of invitations, for moves of a store. Backups have none: after the restore of a backup,
tokens that were used since would be valid again.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from store import keys, validation
from store.client import Command
from store.invitations import invitation
from store.kinds import Key
from store.maintenance.records.record import OnSkipped, Record, check_instant, check_text, shown, valid
from store.one_time_tokens import MAX_DETAIL, parse_stored
from store.scripts.registry import Script
from store.site import Site

RESTORE_TOKEN = Script("restore_token")

STORED = re.compile(r"[A-Za-z0-9_-]+ [a-z]+ [0-9]+ [^ ]+ .*")  # as `one_time_tokens.parse_stored` takes it
PURPOSE = re.compile("[a-z]{1,20}")
CALL = re.compile("-|[0-9a-f]{1,64}")
# when it ends, and its slot (0 to 1023); while somebody registers with it, the name and the random text of the call
INVITATION = re.compile("[0-9]{1,15} [0-9]{1,4}(?: [a-z0-9_-]{2,20} [0-9a-f]{64})?")
DETAIL = re.compile(f".{{0,{MAX_DETAIL}}}")


@dataclass(frozen=True, slots=True)
class TokenRecord(Record):
    """`ends` is in unix milliseconds. `call` is the random text of the call that has used the token; - before."""

    kind = "token"

    digest: str
    username: str
    purpose: str
    ends: int
    call: str
    detail: str

    def check(self) -> None:
        where = f"token of {shown(self.username)}"
        check_text(where, "digest", self.digest, keys.DIGEST)
        check_text(where, "username", self.username, validation.USERNAME)
        check_text(where, "purpose", self.purpose, PURPOSE)
        check_instant(where, "end", self.ends)
        check_text(where, "call", self.call, CALL)
        check_text(where, "detail", self.detail, DETAIL)

    def commands(self, site: Site) -> Iterator[Command]:
        now = site.clock()
        if self.ends > now:
            beginning = RESTORE_TOKEN.beginning(site.partition_of_user(self.username))
            given = (self.digest, self.username, self.purpose, self.ends, self.call, self.detail)
            yield (*beginning, *given, now)


async def read_tokens(site: Site, found: Sequence[Key], on_skipped: OnSkipped) -> list[TokenRecord]:
    """The records of some keys of tokens. One round trip."""
    values = await site.redis.pipeline([("GET", key.text) for key in found])
    read = []
    for key, value in zip(found, values, strict=True):
        stored = parse_stored(value) if value and STORED.fullmatch(value) else None
        if stored:
            given = (stored.username, stored.purpose, stored.ends, stored.call or "-", stored.detail)
            read.append((key.text, TokenRecord(key.suffix, *given)))
        elif value:
            on_skipped(key.text)
    return valid(read, on_skipped)


@dataclass(frozen=True, slots=True)
class InvitationRecord(Record):
    """`text` is what the key of the invitation has: see `INVITATION`."""

    kind = "invitation"

    digest: str
    text: str

    def check(self) -> None:
        check_text("invitation", "digest", self.digest, keys.DIGEST)
        check_text("invitation", "value", self.text, INVITATION)

    def commands(self, site: Site) -> Iterator[Command]:
        ends, slot, *_ = map(int, self.text.split(" ")[:2])
        if ends > site.clock():
            yield ("SET", invitation(slot % site.partitions, self.digest), self.text, "PX", ends - site.clock())


async def read_invitations(site: Site, found: Sequence[Key], on_skipped: OnSkipped) -> list[InvitationRecord]:
    """The records of some keys of invitations. One round trip."""
    values = await site.redis.pipeline([("GET", key.text) for key in found])
    pairs = zip(found, values, strict=True)
    return valid([(key.text, InvitationRecord(key.suffix, value)) for key, value in pairs if value], on_skipped)
