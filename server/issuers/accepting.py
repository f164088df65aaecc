"""
Accepts the tokens of issuers, services at which users log in: finds the user of each token, and remembers it by the
digest of the token until the token ends, or until the key that has signed it leaves the set of its issuer.
"""

import asyncio
from collections.abc import AsyncIterator, Callable, Collection, Mapping
from contextlib import asynccontextmanager
from hashlib import sha256
from typing import NamedTuple

from caches import POOL
from engine import Client, Code, RateLimiter, Refused
from server.issuers import keyrings, people, tokens
from server.issuers.file import Issuer, Issuers
from server.issuers.keyrings import KeysUnavailable
from server.issuers.keys import IssuerKey
from server.issuers.tokens import Token
from store.errors import StoreUnavailable, TokenRefused
from store.events import SESSIONS, Event, EventKind, Events
from store.identities import Identified
from store.key_sets import KeySets
from store.store import Store

COST_OF_A_REFUSAL = 10  # points of the address: a token that is not accepted is checked every time
REMEMBERED_BYTES = 700  # of a remembered token and its user, for the size of the cache
MICROSECONDS = 300  # that it takes to check a token and to find its user
EXPIRED = "expired"


class Remembered(NamedTuple):
    """The user of a token that was checked, and the key that has signed it."""

    identified: Identified
    key: IssuerKey


class AcceptedTokens:
    """
    The tokens of the issuers in the file. While a token is checked, all requests with it wait for this one check.
    `on_revoked` is called when tokens were forgotten because their key has left the set of its issuer.

    Raises:
        WrongIssuers: a file of keys is not usable.
    """

    def __init__(self, file: Issuers, rates: RateLimiter | None = None) -> None:
        self.file = file
        self.on_revoked: Callable[[], object] = lambda: None
        # Deletions of users that this process knows of: a check that was begun before one is not remembered.
        self._deletions = 0
        self._rates = rates
        self._issuers: Mapping[str, Issuer] = {each.issuer: each for each in file.issuers}
        self._remembered = POOL.cache("tokens of issuers", MICROSECONDS)
        self._checks: dict[bytes, asyncio.Task[Remembered]] = {}
        self.keyrings = keyrings.keyrings(file, self._forget_revoked)

    @asynccontextmanager
    async def running(self, store: Store, events: Events) -> AsyncIterator[None]:
        """As long as the context is open, keep keys current, and forget users whom any process has deleted."""
        self._store = store
        with events.subscribed(self._note, SESSIONS):
            async with keyrings.kept_current(self.keyrings.values(), KeySets(store.site)):
                yield

    def remembered(self, token: str) -> Identified | None:
        """The user of a token that was checked before; None if it has to be checked. No round trip."""
        found: Remembered | None = self._remembered.get(sha256(token.encode("utf-8", "replace")).digest())
        if found is None or not found.key.is_current or self._store.site.clock() >= found.identified.expires_at:
            return None
        return found.identified

    async def user_of(self, token: str) -> Identified:
        """
        The user of a token. No round trip if it is remembered, else two; a few more for a new user.

        Raises:
            TokenRefused: it is not accepted, or has expired.
            KeysUnavailable: the keys of its issuer cannot be had now.
            StoreUnavailable: the store does not answer.
        """
        return self.remembered(token) or await self._checked(token)

    @property
    def front_doors(self) -> list[str]:
        """The names of the issuers at which browsers can log in."""
        return [each.name for each in self.file.issuers if each.client_id is not None]

    def mapped_fields(self, issuer: str) -> Collection[str]:
        """The fields of a user, such as `about`, that the tokens of the issuer with this name set."""
        found = self.file.named(issuer)
        return people.mapped(found) if found else ()

    async def identified(self, client: Client) -> Client:
        """
        The client with the user of its token, if that is one of an issuer. A token that has expired counts as none.

        Raises:
            Refused: the token is not accepted, the client's address has no points left, or the keys cannot be had now.
        """
        token = client.token
        if token is None or not tokens.is_issuer_token(token):
            return client
        known = self.remembered(token)
        if known is None:
            nobody = client._replace(token=None, identified=None)  # so that the points are those of the address
            charge = await self._rates.admit(nobody) if self._rates else None
            try:
                known = await self._checked(token)
            except TokenRefused as fault:
                if fault.reason == EXPIRED:
                    return client._replace(identified=None)
                if charge:
                    charge.set(COST_OF_A_REFUSAL)
                raise refusal(fault) from None
            except (KeysUnavailable, StoreUnavailable) as fault:
                raise Refused(Code.UNAVAILABLE, str(fault)) from fault
        return client._replace(identified=known)

    async def _checked(self, token: str) -> Identified:
        digest = sha256(token.encode("utf-8", "replace")).digest()
        check = self._checks.get(digest)
        if check is None:
            check = self._checks[digest] = asyncio.create_task(self._check(token, digest))
            check.add_done_callback(lambda done: self._end(digest, done))
        return (await asyncio.shield(check)).identified

    def _end(self, digest: bytes, check: "asyncio.Task[Remembered]") -> None:
        del self._checks[digest]
        if not check.cancelled():
            check.exception()  # read here, or asyncio logs it if nobody waits for the check any more

    async def _check(self, text: str, digest: bytes) -> Remembered:
        """Check a token and find its user. The result is remembered, unless it may be outdated by now."""
        deletions, token = self._deletions, self.parse(text)
        key = await self.require_signed(token)
        username = await self._store.identities.user_of(people.claims_of(token))
        identified = people.identified(token, username, self._store.site.clock())
        found = Remembered(identified, key)
        if key.is_current and deletions == self._deletions:
            self._remembered.put(digest, found, REMEMBERED_BYTES)
        return found

    def parse(self, text: str, audience: frozenset[str] | None = None) -> Token:
        """
        What a token says, before its signature is checked. With `audience` it must be for one of these client ids,
        whatever the file says. Raises TokenRefused.
        """
        return tokens.parse(text, self._issuers, self._store.site.clock() / 1000, audience)

    async def require_signed(self, token: Token) -> IssuerKey:
        """
        The key by which a token is signed.

        Raises:
            TokenRefused: its issuer has no such key, or another one has signed it; or it has expired.
            KeysUnavailable: the keys of its issuer cannot be had now.
        """
        keyring, has_expired = self.keyrings[token.issuer.name], token.has_expired(self._store.site.clock() / 1000)
        if has_expired:  # it is not worth a fetch
            key = keyring.current.find(token.key_id, token.algorithm)
        else:
            key = await keyring.find(token.key_id, token.algorithm)
        if key is None or not key.has_signed(token.signed, token.signature):
            raise TokenRefused(reason="key")
        if has_expired:
            raise TokenRefused(reason=EXPIRED)
        return key

    def _forget_revoked(self) -> None:
        """Forget the tokens that were signed by keys that are not current any more."""
        for digest, entry in list(self._remembered.entries.items()):
            if not entry.value.key.is_current:
                self._remembered.discard(digest)
        self.on_revoked()

    def _note(self, event: Event) -> None:
        """
        Forget all tokens after a user was deleted, or if an event that says so may have been lost. Both are rare. All
        tokens are then checked again.
        """
        if event.kind in (EventKind.USER_DELETED, EventKind.MISSED):
            self._deletions += 1
            self._remembered.clear()


def refusal(fault: TokenRefused) -> Refused:
    """The refusal of a request whose token is not accepted."""
    extensions = {"code": str(Code.UNAUTHENTICATED), "reason": fault.reason}
    return Refused(Code.UNAUTHENTICATED, errors=[{"message": fault.message, "extensions": extensions}])
