"""
Server keys: a server that asks on behalf of its visitors, such as one that renders pages, identifies itself by one.

A key is the text `NAME.SECRET`. The store holds the SHA-256 of the secret, in one hash for all keys, which is in the
first partition (a share of the data).
"""

import re
import secrets
from collections.abc import Sequence
from dataclasses import dataclass
from hashlib import sha256
from hmac import compare_digest

from store import keys
from store.kept_answers import new_call
from store.kinds import Backup, Check, Kind
from store.scripts.registry import Script
from store.site import Site

SERVER_KEY = Script("server_key")

SECRET_BYTES = 32  # random ones of a secret
NAME = re.compile(r"[a-z0-9][a-z0-9_-]{0,49}")
VALUE = re.compile(r"([0-9a-f]{64}) ([0-9]{1,15})")  # digest of the secret, and when it was created
PARTITION = 0  # the partition whose keys include the hash

serverkeys = Kind(
    "serverkeys",
    "hash",
    parts=(),
    holds="SHA-256 of the secret of each server key, and when it was created, by name; in partition 0",
    written_by="key create, key revoke",
    backup=Backup.COPIED,
    record="serverkeys",
    check=Check.PARTITION,
)


@dataclass(frozen=True, slots=True)
class ServerKeys:
    """Commands on server keys."""

    site: Site

    async def create(self, name: str) -> str | None:
        """
        Create a key and return its text, which is stored nowhere; None if there is one of this name. One round trip.

        Raises:
            ValueError: this is not a name.
            StoreUnavailable: the store is closed for writes, because it is being moved or was moved.
        """
        if not NAME.fullmatch(name):
            raise ValueError(name)
        secret = secrets.token_urlsafe(SECRET_BYTES)
        status = await self._run("create", name, f"{digest_of(secret)} {self.site.clock()}")
        return f"{name}.{secret}" if status == "done" else None

    async def revoke(self, name: str) -> bool:
        """
        Delete a key and return whether there was one. Servers refuse it within a second. One round trip.

        Raises:
            StoreUnavailable: as `create`.
        """
        return await self._run("revoke", name, value="") == "done"

    async def created(self) -> dict[str, int]:
        """When each key was created (unix milliseconds), by name. One round trip."""
        stored: dict[str, str] = await self.site.redis.run(("HGETALL", serverkeys(PARTITION)))
        return {name: int(value.split()[1]) for name, value in sorted(stored.items()) if VALUE.fullmatch(value)}

    async def names(self, texts: Sequence[str]) -> list[str | None]:
        """The names of the keys with these texts; None for each that is not a key. One round trip."""
        given = [text.partition(".") for text in texts]
        found = await self.site.redis.run(("HMGET", serverkeys(PARTITION), *[name for name, _, _ in given]))
        return [
            name if value and compare_digest(digest_of(secret), value.partition(" ")[0]) else None
            for (name, _, secret), value in zip(given, found, strict=True)
        ]

    async def _run(self, action: str, name: str, value: str) -> str:
        script_keys = [serverkeys(PARTITION), keys.closed(PARTITION)]
        (status,) = await self.site.redis.run(SERVER_KEY.command(script_keys, action, name, value, new_call()))
        return str(status)


def digest_of(secret: str) -> str:
    return sha256(secret.encode(errors="replace")).hexdigest()
