"""
Sessions, named by opaque random tokens: opened, read, renewed and ended. The store holds only the SHA-256 of a token.
"""

import re
import secrets
from base64 import urlsafe_b64decode, urlsafe_b64encode
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from hashlib import sha256

from caches import memo
from store import keys
from store.client.connection import encoded
from store.errors import BadCredentials, StoreUnavailable, Unauthenticated
from store.queries import Read
from store.scripts.registry import Script
from store.site import Login, Session, Site, parse_login

END_SESSION = Script("end_session")
OPEN_SESSION = Script("open_session")
RENEW_SESSION = Script("renew_session")

SECRET_BYTES = 32
RENEWALS_IN_A_LIFETIME = 24
TOKEN = re.compile(r"[A-Za-z0-9_-]{46}", re.ASCII)  # base64 of 34 bytes, which leaves four bits unused


@dataclass(frozen=True, slots=True)
class NewSession:
    """A session just opened. The token is returned once and stored nowhere."""

    token: str
    login: Login


def parse_token(token: str) -> Session | None:
    """The session of a token; None if the text is not a token. Only the canonical base64 of a token is accepted."""
    return _session_of(token) if TOKEN.fullmatch(token) else None


@memo(600, microseconds=3)
def _session_of(token: str) -> Session | None:
    raw = urlsafe_b64decode(token + "==")
    if _token(raw) != token:
        return None
    return Session(sha256(raw).hexdigest(), int.from_bytes(raw[SECRET_BYTES:]) % keys.SLOTS)


def new_token(username: str) -> str:
    raw = secrets.token_bytes(SECRET_BYTES) + keys.slot(username).to_bytes(2)
    return _token(raw)


def _token(raw: bytes) -> str:
    return urlsafe_b64encode(raw).decode().rstrip("=")


class Sessions:
    def __init__(self, site: Site) -> None:
        self._site = site

    def read(self, session: Session) -> Read[Login | None]:
        return _read(self._site.session_key(session))

    async def open(self, username: str, password_hash: str = "") -> NewSession:
        """
        Open a session. With a password hash, only if it is still the stored one. One round trip.

        Raises:
            BadCredentials: the stored hash is another one.
            StoreUnavailable: the store is closed for writes, because it is being moved or was moved.
        """
        opened, session = self.generate(username)
        p, lifetime = self._site.home_of_user(username), self._site.session_lifetime * 1000
        script_keys = [
            keys.user(p, username),
            self._site.session_key(session),
            keys.sessions(p, username),
            keys.closed(p),
        ]
        times = (self._site.clock(), opened.login.expires_at, lifetime)
        (status,) = await self._site.redis.run(
            OPEN_SESSION.command(script_keys, password_hash, username, session.digest, *times)
        )
        if status == "changed":  # the stored password, after it was verified
            raise BadCredentials
        return opened

    async def close(self, session: Session) -> None:
        """
        End a session. One round trip.

        Raises:
            Unauthenticated: the session has ended, or there is none.
            StoreUnavailable: the store is closed for writes, because it is being moved or was moved; the session is
                still open in the other store.
        """
        script_keys = [self._site.session_key(session), keys.closed(session.slot % self._site.partitions)]
        (status,) = await self._site.redis.run(END_SESSION.command(script_keys, self._site.clock()))
        if status == "missing":
            raise Unauthenticated

    def is_aging(self, login: Login, now: int) -> bool:
        """Whether a session in use should be renewed: after a 24th of its lifetime. `now` in unix milliseconds."""
        lifetime = self._site.session_lifetime * 1000
        return login.expires_at - now < lifetime - lifetime // RENEWALS_IN_A_LIFETIME

    async def renew(self, session: Session, login: Login) -> Login:
        """
        Extend a session by its lifetime from now on, and return it with its new end. One round trip.

        If the store takes no writes, or the session has just ended, it is returned as it was.
        """
        renewed = login._replace(expires_at=self.login(login.username).expires_at)
        p = session.slot % self._site.partitions
        script_keys = [self._site.session_key(session), keys.sessions(p, login.username), keys.closed(p)]
        lifetime = self._site.session_lifetime * 1000
        command = RENEW_SESSION.command(script_keys, login.username, session.digest, renewed.expires_at, lifetime)
        with suppress(StoreUnavailable):
            (status,) = await self._site.redis.run(command)
            return renewed if status == "renewed" else login
        return login

    async def usernames(self, sessions: Sequence[Session]) -> list[str | None]:
        """The usernames of sessions; None where there is none, or it has ended. One round trip."""
        reads = [self.read(session) for session in sessions]
        replies = await self._site.redis.pipeline([read.command for read in reads])
        logins, now = [read.result(reply) for read, reply in zip(reads, replies, strict=True)], self._site.clock()
        return [login.username if login and login.expires_at >= now else None for login in logins]

    def generate(self, username: str) -> tuple[NewSession, Session]:
        """A new session for a user, not stored yet: what its user gets, and what the store gets."""
        token = new_token(username)
        session = parse_token(token)
        assert session is not None
        return NewSession(token, self.login(username)), session

    def login(self, username: str) -> Login:
        return Login(username, self._site.clock() + self._site.session_lifetime * 1000)


@memo(800, microseconds=2)
def _read(key: str) -> Read[Login | None]:
    return Read(encoded(("GET", key)), parse_login)
