"""
Users who log in at an issuer, an identity provider outside (OpenID Connect). An identity is a subject of an issuer: the
claim `sub` of its tokens. It belongs to one user for ever. It is kept under a digest, made with the key of the store
for digests of names, so that nothing is left of it but the digest once its user is deleted.

At first sight a name is reserved for the identity in the partition (a share of the data) of its digest; then the user
is made in the partition of the name, which has all that the user owns. Both steps may be repeated, by any process.
"""

import hmac
import re
import unicodedata
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from hashlib import sha256
from itertools import count, islice
from typing import NamedTuple

from caches import memo
from store import keys, leaving, profiles, standing_bans
from store.client import Command
from store.client.connection import encoded
from store.errors import Invalid, NotFound, TokenRefused
from store.kinds import Backup, Kind, Text
from store.needed_writes import accepted_when_full
from store.queries import Read
from store.reserved_names import ReservedNames
from store.scripts.registry import Script
from store.site import Login, Site

READ_IDENTITY = Script("read_identity")
SWAP_IDENTITY = Script("swap_identity")
UPDATE_IDENTIFIED = Script("update_identified")

LONGEST_NAME = 20  # characters, as in `validation.USERNAME`
NAMELESS = "user"  # the beginning of the name of somebody whose claims have none that can be used
NAMES_AT_ONCE = 20  # that are looked up in one round trip
RESERVED, MADE, GONE = "reserved", "made", "gone"  # a name is kept for the subject; its user was made; was deleted
ISSUER = re.compile(r"[a-z0-9](?:[a-z0-9-]{0,30}[a-z0-9])?")  # the name of an issuer
SUBJECT_LENGTH = 255  # characters of a subject's id, at most
UNUSABLE = re.compile(r"[^A-Za-z0-9_-]+")  # what a username cannot have


def slot_of_digest(digest: str) -> int:
    return int(digest[:8], 16) % keys.SLOTS


IDENTITY = Text("DIGEST", "[0-9a-f]{64}", slot_of_digest)

identity = Kind(
    "identity",
    "string",
    parts=(IDENTITY,),
    holds="whose a subject of an issuer is, by an HMAC-SHA256 with `namekey`: reserved NAME or made NAME; gone, if the "
    "user was deleted",
    written_by="tokens of issuers, deleteUser",
    backup=Backup.COPIED,
    record="identity",
)
identities = Kind(
    "identities",
    "hash",
    parts=(keys.USERNAME,),
    holds="the subjects of issuers that are a user's: DIGEST: the issuer and the subject; iat:DIGEST: the time (unix "
    "milliseconds) of the newest token that has changed the profile; claimed:DIGEST: the roles that its claims gave",
    written_by="tokens of issuers",
    backup=Backup.COPIED,
    record="identities",
)


class Subject(NamedTuple):
    """Somebody at an issuer, by the name of the issuer in the file of issuers."""

    issuer: str
    id: str


class Identified(NamedTuple):
    """
    The user whom the token of an issuer names. It ends at `expires_at`; the user has logged in at the issuer at
    `authenticated_at` (both unix milliseconds), 0 if the issuer does not say.
    """

    username: str
    issuer: str
    expires_at: int
    authenticated_at: int = 0


@dataclass(frozen=True, slots=True)
class Claims:
    """
    What a token says of its subject. `name` is what a new user is called after; `issued_at` is in unix milliseconds,
    None if the token does not say. `profile` has what it says by the fields of a user, "" for nothing. `roles` are the
    words of the roles that it gives, None if the issuer gives no roles.
    """

    subject: Subject
    name: str = ""
    issued_at: int | None = None
    profile: Mapping[str, str] = field(default_factory=dict)
    roles: frozenset[str] | None = None


class IdentifiedUsers:
    """Finds and makes the users of issuers' tokens."""

    def __init__(self, site: Site, reserved_names: ReservedNames) -> None:
        self._site, self._reserved_names = site, reserved_names
        self._name_key: str | None = None

    def read(self, identified: Identified) -> Read[Login | None]:
        """The user of a token as stored now, in the form in which a session has its user; None if the user is gone."""
        username = identified.username
        return _read(keys.user(self._site.partition_of_user(username), username), identified.expires_at)

    async def may_stay(self, identified: Sequence[Identified]) -> list[bool]:
        """Whether users of tokens are still there, and not banned from the site. One round trip."""
        reads = [self.read(each) for each in identified]
        replies = await self._site.redis.pipeline([read.command for read in reads])
        logins, now = [read.result(reply) for read, reply in zip(reads, replies, strict=True)], self._site.clock()
        return [login is not None and standing_bans.of_site(login.bans, now) is None for login in logins]

    async def user_of(self, claims: Claims) -> str:
        """
        The name of the user whose claims these are. Somebody who is seen for the first time is made a user; a token
        that is newer than those before changes profile and roles.

        Two round trips; four or more for a new user.

        Raises:
            TokenRefused: the user was deleted.
        """
        digest = await self.digest(claims.subject)
        name = await self._made(digest, claims.subject)
        if name is None:
            return await self._make(digest, claims)
        if await self._update(digest, claims, name) == "missing":
            raise TokenRefused(reason=GONE)
        return name

    async def link(self, username: str, subject: Subject) -> str:
        """
        Make a subject that is nobody's yet that of an existing user, whose name is returned. Four round trips.

        Raises:
            NotFound: there is no such user.
            Invalid: the subject is another user's, or was that of a deleted one.
        """
        site, digest = self._site, await self.digest(subject)
        name = await site.redis.run(("HGET", keys.user(site.partition_of_user(username), username), "name"))
        if name is None:
            raise NotFound(f"there is no user {username}")
        state, _, owner = (await self._swap(digest, known="", wanted=f"{MADE} {name}")).partition(" ")
        if state == GONE:
            raise Invalid(f"{subject.id} of {subject.issuer} was a user who is deleted")
        if owner.lower() != name.lower():
            raise Invalid(f"{subject.id} of {subject.issuer} is {owner} already")
        if await self._update(digest, Claims(subject), name) == "missing":
            await self._swap(digest, known=f"{MADE} {name}", wanted="")
            raise NotFound(f"there is no user {username}")
        return str(name)

    async def digest(self, subject: Subject) -> str:
        """The digest of a subject. One round trip at first."""
        if self._name_key is None:
            self._name_key = await leaving.name_key(self._site)
        return hmac.new(self._name_key.encode(), "\0".join(subject).encode(), sha256).hexdigest()

    async def _made(self, digest: str, subject: Subject) -> str | None:
        """The name of the user of a subject; None if there is none yet. One round trip."""
        stored = await self._site.redis.run((*READ_IDENTITY.beginning(self._partition_of(digest)), digest))
        state, _, name = stored.partition(" ")
        if state == GONE:
            raise TokenRefused(reason=GONE)
        return name if state == MADE else None

    async def _make(self, digest: str, claims: Claims) -> str:
        """Reserve a name for a subject, and make the user of this name; with the next name if it is taken meanwhile."""
        known = ""  # what is stored: nothing yet
        while True:
            known = await self._swap(digest, known, f"{RESERVED} {await self._free(free_names(claims.name))}")
            state, _, name = known.partition(" ")
            if state == GONE:
                raise TokenRefused(reason=GONE)
            if state == MADE:
                return name
            if await self._update(digest, claims, name, makes=True) != "taken":
                await self._swap(digest, known, f"{MADE} {name}")
                return name

    async def _free(self, names: Iterator[str]) -> str:
        """The first of some names that nobody has, had or may have. One round trip for each `NAMES_AT_ONCE`."""
        while True:
            some = [name for name in islice(names, NAMES_AT_ONCE) if name not in self._reserved_names]
            taken = await self._taken(some)
            if free := [name for name in some if name not in taken]:
                return free[0]

    async def _taken(self, names: Sequence[str]) -> set[str]:
        site = self._site
        assert self._name_key is not None
        partitions = list(map(site.partition_of_user, names))
        held: list[Command] = [
            ("EXISTS", keys.user(partition, name)) for partition, name in zip(partitions, names, strict=True)
        ]
        had: list[Command] = [
            ("HEXISTS", leaving.departed(partition), leaving.digest(self._name_key, name))
            for partition, name in zip(partitions, names, strict=True)
        ]
        found = await site.redis.pipeline([*held, *had])
        return {name for name, is_taken in zip([*names, *names], found, strict=True) if is_taken}

    async def _swap(self, digest: str, known: str, wanted: str) -> str:
        """
        Change the state that is stored of a subject from `known` to `wanted`, "" for nothing, and return what is stored
        then. If another state than `known` is stored, it stays.
        """
        command = (*SWAP_IDENTITY.beginning(self._partition_of(digest)), digest, known, wanted)
        return str(await self._site.redis.run(command))

    async def _update(self, digest: str, claims: Claims, name: str, *, makes: bool = False) -> str:
        """Bring a user up to date with claims. Returns the reply of update_identified.lua, such as "missing"."""
        site = self._site
        given = (name, keys.slot(name), digest, " ".join(claims.subject), claims.issued_at or 0, "1" if makes else "")
        roles = "-" if claims.roles is None else " ".join(sorted(claims.roles))
        profile = [part for pair in self._usable(claims.profile).items() for part in pair]
        command = site.command(UPDATE_IDENTIFIED, site.partition_of_user(name), *given, roles, *profile)
        return str(await site.redis.run(command))

    def _usable(self, profile: Mapping[str, str]) -> dict[str, str]:
        """The texts of a profile, "" for one that nobody could write."""
        found = {}
        for name, text in profile.items():
            found[name] = ""
            with suppress(Invalid):
                if name == "display_name":
                    self._reserved_names.check(text)
                found[name] = text and profiles.RULES[name](text)
        return found

    def _partition_of(self, digest: str) -> int:
        return slot_of_digest(digest) % self._site.partitions


def free_names(claimed: str) -> Iterator[str]:
    """Names for a new user, the best first: what is claimed as far as it can be a name, then with -2, -3 and so on."""
    name = usable_name(claimed)
    yield name
    for number in count(2):
        suffix = f"-{number}"
        yield name[: LONGEST_NAME - len(suffix)] + suffix


def usable_name(claimed: str) -> str:
    """What stands before any `@`, in ASCII, with `-` for what a name cannot have."""
    text = unicodedata.normalize("NFKD", claimed.partition("@")[0])
    ascii = "".join(each for each in text if not unicodedata.combining(each))
    name = UNUSABLE.sub("-", ascii).strip("-")[:LONGEST_NAME].rstrip("-")
    return name if len(name) >= 2 else NAMELESS


async def digests_of(site: Site, username: str) -> list[str]:
    """The digests of the subjects that are a user's. One round trip."""
    listed = await site.redis.run(("HKEYS", identities(site.partition_of_user(username), username)))
    return sorted(name for name in listed if ":" not in name)  # others are such as `iat:` and a digest


async def refuse(site: Site, username: str) -> None:
    """Accept no token of a user who is being deleted any more. Two round trips."""
    await refuse_subjects(site, await digests_of(site, username))


async def refuse_subjects(site: Site, digests: Sequence[str]) -> None:
    """Mark subjects, given by their digests, as nobody's for ever. One round trip."""
    commands: list[Command] = [
        accepted_when_full(("SET", identity(slot_of_digest(each) % site.partitions, each), GONE)) for each in digests
    ]
    await site.redis.pipeline(commands)


async def subjects_of(site: Site, username: str) -> list[Subject]:
    """The subjects that are a user's. One round trip."""
    stored = await site.redis.run(("HGETALL", identities(site.partition_of_user(username), username)))
    return [Subject(*text.split(" ", 1)) for name, text in sorted(stored.items()) if ":" not in name]


@memo(entry_bytes=800, call_microseconds=2)
def _read(key: str, expires_at: int) -> Read[Login | None]:
    return Read(encoded(("HMGET", key, "name", "bans")), _login, (expires_at,))


def _login(expires_at: int, stored: Sequence[str | None]) -> Login | None:
    name, bans = stored
    return Login(name, expires_at, bans or "") if name else None
