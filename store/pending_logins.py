"""
Log-ins at an issuer (OpenID Connect) that have begun at the front door, the path `/log-in/NAME`: what is stored under
the `state` with which the browser comes back. A state is accepted once, by whichever process it reaches.
"""

import json
import secrets
from hashlib import sha256
from typing import NamedTuple

from store.identities import IDENTITY, slot_of_digest
from store.kinds import Kind
from store.site import Site

LOGIN_LIFETIME = 10 * 60  # seconds
SECRET_BYTES = 32  # random ones of a state, a nonce and a verifier

entrance = Kind(
    "entrance",
    "string",
    parts=(IDENTITY,),
    holds="a log-in at an issuer that has begun, by the SHA-256 of its state: the issuer, the nonce, the verifier, and "
    "the page to go on with, as JSON",
    lifetime="ten minutes; once",
    written_by="the front door",
)


class PendingLogin(NamedTuple):
    """A log-in that has begun. `verifier` is that of PKCE (RFC 7636), `next` the page of this site to go on with."""

    issuer: str
    nonce: str
    verifier: str
    next: str


async def begin(site: Site, issuer: str, next: str) -> tuple[str, PendingLogin]:
    """
    Begin a log-in of a browser at an issuer, and return its `state`, a secret text, with what is kept under that. One
    round trip.
    """
    state, nonce, verifier = (secrets.token_urlsafe(SECRET_BYTES) for _ in range(3))
    begun = PendingLogin(issuer, nonce, verifier, next)
    await site.redis.run(("SET", _key(site, state), json.dumps(begun), "EX", LOGIN_LIFETIME))
    return state, begun


async def take(site: Site, state: str) -> PendingLogin | None:
    """
    What `begin` has kept for a state, and forget it; None if the state was used, has ended, or is unknown. One round
    trip.
    """
    found = await site.redis.run(("GETDEL", _key(site, state)))
    return PendingLogin(*json.loads(found)) if found else None


def _key(site: Site, state: str) -> str:
    digest = sha256(state.encode("utf-8", "replace")).hexdigest()
    return entrance(slot_of_digest(digest) % site.partitions, digest)
