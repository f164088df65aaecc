"""
Backup records of the identities of users: which subjects of issuers are theirs. An issuer is an identity provider at
which users log in, a subject a person there.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from store import identities, leaving
from store.client import Command
from store.kinds import Key
from store.maintenance.records.accounts import NAME_KEY
from store.maintenance.records.record import (
    INSTANT,
    OnSkipped,
    Record,
    check_text,
    flat,
    shown,
    valid,
    without_malformed,
)
from store.site import Site
from store.validation import USERNAME

# a name is reserved for the subject, or its user was made; gone: the user was deleted
STATE = re.compile(rf"(?:reserved|made) {USERNAME.pattern}|gone")
DIGEST = re.compile(identities.IDENTITY.pattern)
SUBJECT = re.compile(rf"{identities.ISSUER.pattern} .{{1,{identities.SUBJECT_LENGTH}}}")
CLAIMED = re.compile(r"(?:admin|moderator(?::[a-z0-9_-]{1,50})?)(?: (?:admin|moderator(?::[a-z0-9_-]{1,50})?))*")
BY_PREFIX = {"iat:": INSTANT, "claimed:": CLAIMED}  # what the fields of `identities` hold; without a prefix, a subject


@dataclass(frozen=True, slots=True)
class IdentityRecord(Record):
    """Whose the subject with a digest is, and the key of these digests."""

    kind = "identity"

    key: str
    digest: str
    state: str

    def check(self) -> None:
        check_text("identity", "key", self.key, NAME_KEY)
        check_text("identity", "digest", self.digest, DIGEST)
        check_text("identity", "state", self.state, STATE)

    def commands(self, site: Site) -> Iterator[Command]:
        yield ("SET", leaving.namekey(0), self.key)
        partition = identities.slot_of_digest(self.digest) % site.partitions
        yield ("SET", identities.identity(partition, self.digest), self.state)


@dataclass(frozen=True, slots=True)
class IdentitiesRecord(Record):
    """The subjects that are a user's: the fields of `identities`."""

    kind = "identities"

    username: str
    fields: dict[str, str]

    def check(self) -> None:
        where = f"identities of {shown(self.username)}"
        check_text(where, "username", self.username, USERNAME)
        for name, value in self.fields.items():
            check_text(where, "field", name[-64:], DIGEST)  # what stands before the digest is a prefix, or ""
            check_text(where, "value", value, _pattern(name))

    def commands(self, site: Site) -> Iterator[Command]:
        if self.fields:
            partition = site.partition_of_user(self.username)
            yield ("HSET", identities.identities(partition, self.username), *flat(self.fields))


async def read_identity(site: Site, found: Sequence[Key], on_skipped: OnSkipped) -> list[IdentityRecord]:
    """The records of some keys of the kind `identity`. One round trip."""
    if not found:
        return []
    name_key, *states = await site.redis.pipeline([("GET", leaving.namekey(0)), *(("GET", key.text) for key in found)])
    read = [
        (key.text, IdentityRecord(name_key or "", key.suffix, state))
        for key, state in zip(found, states, strict=True)
        if state
    ]
    return valid(read, on_skipped)


async def read_identities(site: Site, found: Sequence[Key], on_skipped: OnSkipped) -> list[IdentitiesRecord]:
    """The records of some keys of the kind `identities`. One round trip."""
    replies = await site.redis.pipeline([("HGETALL", key.text) for key in found])
    read = []
    for key, fields in zip(found, replies, strict=True):
        patterns = {name: _pattern(name) for name in fields}
        usable = without_malformed(key.text, fields, patterns, on_skipped)
        read.append((key.text, IdentitiesRecord(key.suffix, usable)))
    return valid(read, on_skipped)


def _pattern(name: str) -> re.Pattern[str]:
    """The pattern of a field of `identities`, by the field's name: a prefix, or none, and a digest of 64 characters."""
    return BY_PREFIX.get(name[:-64], SUBJECT)
