"""
The public keys of issuers, the identity providers at which users log in: they verify the tokens that issuers sign. One
process fetches them for all. They survive a restart, and are not in backups: a provider may have revoked them since.
"""

from typing import NamedTuple

from store.identities import ISSUER
from store.kinds import Kind, Text
from store.leases import Lease
from store.site import Site

FETCH_PAUSE_MS = 5_000  # milliseconds between two fetches from an issuer, of all processes

NAME = Text("ISSUER", ISSUER.pattern)

keyset = Kind(
    "keyset",
    "hash",
    parts=(NAME,),
    holds="in partition 0: the keys of an issuer that its provider has answered (a JSON Web Key Set), its addresses, "
    "the source that was asked, when, and until when they are fresh (unix milliseconds)",
    written_by="the server's tasks",
)


class FetchedKeys(NamedTuple):
    """
    What a provider has answered: `text` is its key set. `fetched_at` is when it was asked, `fresh_until` when to ask
    again (unix milliseconds). `source` is the URL that was asked, `endpoints` what discovery says, as JSON, else "".
    """

    source: str
    text: str
    fetched_at: int
    fresh_until: int
    endpoints: str = ""


class KeySets:
    """Reads and writes the fetched keys of issuers."""

    def __init__(self, site: Site) -> None:
        self._site = site

    async def version(self, issuer: str) -> tuple[str, str]:
        """What changes with each fetch: the source, and when it was asked; "" if it never was. One round trip."""
        source, at = await self._site.redis.run(("HMGET", keyset(0, issuer), "source", "fetched_at"))
        return source or "", at or ""

    async def read(self, issuer: str) -> FetchedKeys | None:
        """What the provider of an issuer has answered last; None if it never has. One round trip."""
        found = await self._site.redis.run(("HMGET", keyset(0, issuer), *FetchedKeys._fields))
        if None in found:
            return None
        source, text, fetched_at, fresh_until, endpoints = found
        return FetchedKeys(source, text, int(fetched_at), int(fresh_until), endpoints)

    async def write(self, issuer: str, fetched: FetchedKeys) -> None:
        """Store the answer of a provider for all processes. One round trip."""
        flat = [part for pair in fetched._asdict().items() for part in pair]
        await self._site.redis.run(("HSET", keyset(0, issuer), *flat))

    async def may_fetch(self, issuer: str) -> bool:
        """
        Whether no process has begun to fetch in the last `FETCH_PAUSE_MS`; from now on this one has. One round trip.
        """
        return await Lease(self._site, f"keys-{issuer}", FETCH_PAUSE_MS).extend()
