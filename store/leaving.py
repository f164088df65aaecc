"""
Users who are deleted: what is left of them is a pseudonym, `~` and twelve random characters, in the same partition (a
share of the data). It has their votes and the texts that stay. A name is never given again: it is kept as a digest,
made with a secret key of the store.

`begin` marks a user, and ends all sessions, in one step. `archive/leaving.py` then replaces the name everywhere in
steps, of which this module has the scripts.
"""

import hmac
import secrets
from collections.abc import Iterable, Mapping, Sequence
from enum import Enum
from hashlib import sha1
from typing import NamedTuple, Self

from store import keys, log, records
from store.client import Command
from store.errors import WRONG_PASSWORD, BadCredentials, BadToken, NotFound
from store.kinds import Backup, Kind
from store.log import Entry
from store.needed_writes import accepted_when_full
from store.queries import Read
from store.ranking.formulas import DAY
from store.scripts.registry import Script
from store.site import Site

END_LEAVING = Script("end_leaving")
LEAVE = Script("leave")
NOTE_DELETED_USER = Script("note_deleted_user")
READ_PSEUDONYMS = Script("read_pseudonyms")
REPLACE_NAME = Script("replace_name")

KEPT_IN_LOG = 30 * DAY * 1000  # milliseconds after which no entry of the log names a deleted user
SECRET_BYTES = 32  # of the key for digests of names

leaving = Kind(
    "leaving",
    "zset",
    parts=(),
    holds="users who are being deleted, by when that began: name, pseudonym, and what becomes of the texts, keep or "
    "remove",
    lifetime="until that is done",
    written_by="deleteUser",
    backup=Backup.COPIED,
    record="leaving",
)
refused = Kind(
    "refused",
    "set",
    parts=(),
    holds="names of users who are being deleted, in lower case: nobody acts by these",
    lifetime="until that is done",
    written_by="deleteUser",
)
departed = Kind(
    "departed",
    "hash",
    parts=(),
    holds="pseudonyms of deleted users, by the HMAC-SHA1 of their names",
    written_by="deleteUser",
    backup=Backup.COPIED,
    record="departed",
)
namekey = Kind(
    "namekey",
    "string",
    parts=(),
    holds="the key of these digests, in partition 0 and wherever there are some",
    written_by="deleteUser",
    backup=Backup.COPIED,
    record="departed",
)
# lists of a user that the pseudonym takes over; what else is found by the name is removed
KEPT = (keys.timeline, keys.held, keys.comments, keys.unlisted, keys.held_comments)
# kinds of keys, of anybody, in which the name of a user may be
NAMED = (
    "article",
    "comment",
    "voted",
    "downvoted",
    "annulled",
    "flags",
    "heldedit",
    "action",
    "appeal",
    "user",
    "following",
    "followers",
    "groupfollowers",
    "blocked",
    "unblocked",
    "moderators",
    "archived",
    "actions",
    "answer",
)


class DeletedTexts(Enum):
    """What becomes of the texts of a user who is deleted."""

    KEEP = "keep"
    REMOVE = "remove"


class Leaver(NamedTuple):
    """A user who is being deleted: the name as written, what takes its place, and whether the texts are removed."""

    name: str
    pseudonym: str
    removes_texts: bool

    @classmethod
    def parse(cls, text: str) -> Self:
        """Decode a member of the set `leaving`."""
        name, pseudonym, texts = text.split(" ")
        return cls(name, pseudonym, DeletedTexts(texts) is DeletedTexts.REMOVE)

    @property
    def text(self) -> str:
        texts = DeletedTexts.REMOVE if self.removes_texts else DeletedTexts.KEEP
        return f"{self.name} {self.pseudonym} {texts.value}"

    @property
    def folded(self) -> str:
        return self.name.lower()


async def begin(
    site: Site,
    username: str,
    password_hash: str,
    *,
    removes_texts: bool,
    pseudonym: str | None = None,
    token_digest: str = "",
) -> Leaver:
    """
    Mark a user as one who is being deleted, which ends all sessions: from now on nobody acts by this name. With a
    password hash, only if it is still the stored one; with the digest of a token, only if that is still good. Without
    a `pseudonym`, a random one is made. Safe to repeat. Three round trips.

    Raises:
        BadCredentials: the stored hash is another one.
        BadToken: the token was used, or has ended.
        NotFound: there is no such user.
    """
    partition, name, key = site.partition_of_user(username), username.lower(), await name_key(site)
    texts = DeletedTexts.REMOVE if removes_texts else DeletedTexts.KEEP
    given = (name, keys.slot(name), password_hash, pseudonym or keys.pseudonym(name), texts.value, key, token_digest)
    status, *reply = await site.redis.run(site.command(LEAVE, partition, *given))
    match status:
        case "changed":
            raise BadCredentials(WRONG_PASSWORD)
        case "bad":
            raise BadToken
        case "missing":
            raise NotFound(f"there is no user:{name}", "userId")
    leaver = Leaver.parse(reply[0])
    await refuse(site, leaver)
    return leaver


async def refuse(site: Site, leaver: Leaver) -> None:
    """Let no script write for the user, also of requests that have read the session before. One round trip."""
    await site.redis.pipeline(
        [accepted_when_full(("SADD", refused(partition), leaver.folded)) for partition in range(site.partitions)]
    )


async def name_key(site: Site) -> str:
    """The key of the store for digests of names. One round trip, or two at first use, which makes it."""
    key = await site.redis.run(("GET", namekey(0)))
    if key is None:
        made = secrets.token_hex(SECRET_BYTES)
        _, key = await site.redis.pipeline([accepted_when_full(("SET", namekey(0), made, "NX")), ("GET", namekey(0))])
    return str(key)


async def keep_names(site: Site, names: Sequence[tuple[str, str, str]]) -> None:
    """
    Keep names from being given again. For each there are the key of its digest, the digest, and the pseudonym. A store
    without a key takes the first one; names under another key than the store's are left out. Three round trips.
    """
    for partition in range(site.partitions):
        await site.redis.run(("SET", namekey(partition), names[0][0], "NX"))
    own = await name_key(site)
    commands: list[Command] = [
        ("HSET", departed(site.partition_of_user(pseudonym)), digest, pseudonym)
        for key, digest, pseudonym in names
        if key == own
    ]
    await site.redis.pipeline(commands)


def digest(key: str, username: str) -> str:
    """The digest of a name, as `name_digests.lua` computes it."""
    return hmac.new(key.encode(), username.lower().encode(), sha1).hexdigest()


async def replace(
    site: Site, leaver: Leaver, partition: int, found: Sequence[str], *, drops_entries: bool = False
) -> bool:
    """
    Replace the name in some keys of a partition. With `drops_entries`, entries of the log with texts of the user are
    removed, too. Returns whether anything has changed. One round trip.
    """
    given = (leaver.name, leaver.pseudonym, "1" if drops_entries else "", *found)
    _, changes = await site.redis.run(site.command(REPLACE_NAME, partition, *given))
    return bool(changes)


async def end(site: Site, leaver: Leaver) -> None:
    """Say in each log that a user was deleted, and end the deletion. A round trip for each partition, and two."""
    until = site.clock() + KEPT_IN_LOG
    for partition in range(site.partitions):
        await site.redis.run(site.command(NOTE_DELETED_USER, partition, leaver.name, leaver.pseudonym, until))
    partition = site.partition_of_user(leaver.name)
    await site.redis.pipeline([("SREM", refused(each), leaver.folded) for each in range(site.partitions)])
    await site.redis.run(site.command(END_LEAVING, partition, leaver.text, leaver.folded, leaver.pseudonym))


async def is_moderated(site: Site, leaver: Leaver, noted: Sequence[Kind]) -> bool:
    """
    Whether something of an action about the user is left to be done, such as votes to be annulled. `noted` are the
    kinds of keys that have the numbers of such actions. Two round trips.
    """
    partition = site.partition_of_user(leaver.name)
    found = await site.redis.pipeline([("ZRANGE", kind(partition), 0, -1) for kind in noted])
    numbers = {number for part in found for number in part}
    subjects = await site.redis.pipeline([("HGET", keys.action(partition, number), "subject") for number in numbers])
    return f"user:{leaver.folded}" in subjects


async def names(site: Site) -> set[str]:
    """The names, in lower case, of all users who are being deleted, and their pseudonyms. One round trip."""
    found = await site.redis.pipeline([("ZRANGE", leaving(partition), 0, -1) for partition in range(site.partitions)])
    leavers = [Leaver.parse(text) for part in found for text in part]
    return {name for leaver in leavers for name in (leaver.folded, leaver.pseudonym)}


def is_begun(site: Site, pseudonym: str) -> Read[bool]:
    """Whether this is the pseudonym of a user who is being deleted. It gets a hash only at the end of the deletion."""
    return Read(("ZRANGE", leaving(site.partition_of_user(pseudonym)), 0, -1), _has, (pseudonym,))


def is_own(name: str, kind: Kind, suffix: str) -> bool:
    """Whether a key is that of a list, or of something else, of the user with a name in lower case."""
    parts = kind.parts
    return bool(parts and parts[0].is_folded and suffix.split(":")[0] == name)


async def stored_name(site: Site, username: str) -> str | None:
    """The name of a user as written, also of one who is being deleted; None if there is none. One round trip."""
    name, left = await site.redis.run(("HMGET", keys.user(site.partition_of_user(username), username), "name", "left"))
    return name or (Leaver.parse(left).name if left else None)


async def pseudonyms(site: Site, names: Iterable[str]) -> dict[str, str]:
    """The pseudonyms of those who were deleted, by names in lower case. One round trip."""
    by_partition: dict[int, list[str]] = {}
    for name in names:
        by_partition.setdefault(site.partition_of_user(name), []).append(name)
    commands: list[Command] = [
        (*READ_PSEUDONYMS.beginning(partition), *some) for partition, some in by_partition.items()
    ]
    replies = await site.redis.pipeline(commands) if commands else []
    return {
        name: pseudonym
        for some, reply in zip(by_partition.values(), replies, strict=True)
        for name, pseudonym in zip(some, reply, strict=True)
        if pseudonym
    }


async def read_on(site: Site, positions: Mapping[int, str], count: int) -> dict[int, list[Entry]]:
    """As `log.read_on`: entries after positions, with the pseudonyms of deleted users. One round trip, or two."""
    probes: list[Command] = [("EXISTS", departed(partition)) for partition in range(site.partitions)]
    found, has_deleted = await log.read_on_and(site, positions, count, probes)
    if not any(has_deleted):
        return found
    renamed = iter(await with_pseudonyms(site, [entry for entries in found.values() for entry in entries]))
    return {partition: [next(renamed) for _ in entries] for partition, entries in found.items()}


async def with_pseudonyms(site: Site, entries: Iterable[Entry]) -> list[Entry]:
    """
    Entries of the log with the pseudonyms of deleted users in the place of their names. One round trip; none if there
    are no names in the entries.
    """
    listed = list(entries)
    names = sorted({name for entry in listed for name in _names(entry)})
    found = await pseudonyms(site, names)
    return (
        [_renamed(entry, found) if entry.kind != log.USER_DELETED else entry for entry in listed] if found else listed
    )


NAMES = ("followee", "voter", "name", "moderator", "poster")  # fields of entries that are a name
IN_WORDS = {  # fields that are words with names in them, and which part of a word, between colons, is the name
    "voters": 0,
    "upvoters": 0,
    "downvoters": 0,
    "karma": 0,
    "comments": 1,
    "notified": -3,  # from the end, as words of some entries begin with a number
}


def _names(entry: Entry) -> set[str]:
    """The names in an entry, in lower case; also other words that have the form of a name."""
    found = [entry.actor, *(entry.values.get(field, "") for field in NAMES)]
    found += [id.removeprefix("user:") for id in (entry.subject, entry.values.get("subject_id", ""))]
    for field, place in IN_WORDS.items():
        words = [word.split(":") for word in entry.values.get(field, "").split()]
        found += [parts[place] for parts in words if len(parts) >= abs(place)]
    return {name.lower() for name in found if records.NAME.fullmatch(name)}


def _has(pseudonym: str, leavers: Sequence[str]) -> bool:
    return any(Leaver.parse(text).pseudonym == pseudonym for text in leavers)


def _renamed(entry: Entry, pseudonyms: Mapping[str, str]) -> Entry:
    def name(text: str) -> str:
        return pseudonyms.get(text.lower(), text)

    def id(text: str) -> str:
        return f"user:{name(text.removeprefix('user:'))}" if text.startswith("user:") else text

    def words(text: str, place: int) -> str:
        split = [word.split(":") for word in text.split()]
        for parts in split:
            if len(parts) >= abs(place):
                parts[place] = name(parts[place])
        return " ".join(":".join(parts) for parts in split)

    values = dict(entry.values)
    values |= {field: name(values[field]) for field in NAMES if field in values}
    values |= {field: words(values[field], place) for field, place in IN_WORDS.items() if field in values}
    values |= {field: id(values[field]) for field in ("subject_id",) if field in values}
    return Entry(entry.partition, entry.id, entry.kind, entry.at, name(entry.actor), id(entry.subject), values)
