"""
Sessions, named by opaque random tokens: opened, read, renewed, listed and ended. The store holds only the SHA-256 of a
token. A token names the slot of its user, from which the partition (a share of the data) of the session follows.
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
from store.errors import BadCredentials, NotFound, StoreUnavailable, Unauthenticated
from store.kept_answers import new_call
from store.queries import Read
from store.scripts.registry import Script
from store.site import Actor, Login, Session, Site, actor_slot, digest_and_name, parse_login

END_LISTED_SESSIONS = Script("end_listed_sessions")
END_SESSION = Script("end_session")
LISTED_SESSIONS = Script("listed_sessions")
OPEN_SESSION = Script("open_session")
RENEW_SESSION = Script("renew_session")

SECRET_BYTES = 32  # random ones of a token
RENEWALS_IN_A_LIFETIME = 24  # of a session that is always in use, at least
RENEWAL_INTERVAL = 60 * 60  # seconds, at most
LONGEST = 365 * 24 * 60 * 60  # seconds from log-in that a session lasts, however often it is used
MAX_SESSIONS = 100  # of a user
MAX_AGENT = 80  # characters
ID_BYTES = 16  # of the id under which its user sees a session
TOKEN_LENGTH = 46  # base64 of 34 bytes, which leaves four bits unused
TOKEN = re.compile(rf"[A-Za-z0-9_-]{{{TOKEN_LENGTH}}}", re.ASCII)


@dataclass(frozen=True, slots=True)
class NewSession:
    """
    A session just opened. The token is returned once and stored nowhere. `details` are its id, when it was opened and
    its agent, as the store has them.
    """

    token: str
    login: Login
    details: str


@dataclass(frozen=True, slots=True)
class ListedSession:
    """
    Where a user is logged in. Instants are in unix milliseconds. `agent` is the family and the system of the program,
    None if it is not known. The `id` is random; it is not the token, and not its digest.
    """

    id: str
    opened_at: int
    used_at: int
    agent: str | None
    is_current: bool


def _has_length(token: str) -> bool:
    return len(token) == TOKEN_LENGTH


@memo(entry_bytes=600, call_microseconds=3, when=_has_length)
def parse_token(token: str) -> Session | None:
    """The session of a token; None if the text is not a token. Only the canonical base64 of a token is accepted."""
    if not TOKEN.fullmatch(token):
        return None
    raw = urlsafe_b64decode(token + "==")
    if _token(raw) != token:
        return None
    return Session(sha256(raw).hexdigest(), int.from_bytes(raw[SECRET_BYTES:]) % keys.SLOTS)


def new_token(username: str) -> str:
    """A random token, with the slot of the user: base64 of both."""
    raw = secrets.token_bytes(SECRET_BYTES) + keys.slot(username).to_bytes(2)
    return _token(raw)


def _token(raw: bytes) -> str:
    return urlsafe_b64encode(raw).decode().rstrip("=")


class Sessions:
    """Commands on sessions. `open` gives the token; the other commands take what `parse_token` makes of it."""

    def __init__(self, site: Site) -> None:
        self._site = site

    def read(self, session: Session) -> Read[Login | None]:
        return _read(self._site.partitions, session)

    async def open(self, username: str, password_hash: str = "", agent: str = "") -> NewSession:
        """
        Open a session. With a password hash, only if it is still the stored one. Beyond `MAX_SESSIONS` the session of
        the user that was used longest ago ends. One round trip.

        Raises:
            BadCredentials: the stored hash is another one.
            StoreUnavailable: the store is closed for writes, because it is being moved or was moved.
        """
        opened, session = self.generate(username, agent)
        login = opened.login
        beginning = OPEN_SESSION.beginning(self._site.partition_of_user(username))
        times = (self._site.clock(), login.expires_at, login.used_at)
        (status,) = await self._site.redis.run(
            (*beginning, password_hash, username, session.digest, *times, opened.details, MAX_SESSIONS)
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
        beginning = END_SESSION.beginning(session.slot % self._site.partitions)
        (status,) = await self._site.redis.run((*beginning, session.digest, self._site.clock(), new_call()))
        if status == "missing":
            raise Unauthenticated

    async def close_listed(self, actor: Actor, id: str | None = None) -> bool:
        """
        End a session of the user who acts, by its id; without an id, all but the current one. Returns whether the
        current one has ended by this. One round trip.

        Raises:
            Unauthenticated: the current session has ended, or there is none.
            NotFound: the user has no session with this id.
        """
        beginning = END_LISTED_SESSIONS.beginning(actor_slot(actor) % self._site.partitions)
        digest, username = digest_and_name(actor)
        status, *own = await self._site.redis.run(
            (*beginning, digest, self._site.clock(), id or "", username, new_call())
        )
        if status == "unauthenticated":
            raise Unauthenticated
        if status == "missing":
            raise NotFound("you have no session with this id", "sessionId")
        is_own: bool = own == ["own"]
        return is_own

    async def listed(self, actor: Actor) -> list[ListedSession]:
        """The sessions of the user who acts, last used first; none if the session has ended. One round trip."""
        beginning = LISTED_SESSIONS.beginning(actor_slot(actor) % self._site.partitions)
        digest, username = digest_and_name(actor)
        replies = await self._site.redis.run((*beginning, digest, self._site.clock(), username))
        found = [self._listed(*reply) for reply in replies]
        return sorted(found, key=lambda each: (-each.used_at, -each.opened_at, each.id))

    def _listed(self, id: str, opened: str, used: str, agent: str, ends: str, own: str) -> ListedSession:
        """
        A session as its user sees it. One of an earlier version that was not used since may lack `opened` and `used`:
        in their place stands its last renewal, which follows from its end.
        """
        renewed = max(0, int(ends) - self._site.session_lifetime * 1000)
        return ListedSession(id, int(opened or renewed), int(used or renewed), agent or None, own == "own")

    def is_aging(self, login: Login, now: int) -> bool:
        """Whether a session in use should be renewed: once an hour. `now` in unix milliseconds."""
        interval = min(RENEWAL_INTERVAL * 1000, self._site.session_lifetime * 1000 // RENEWALS_IN_A_LIFETIME)
        return now - login.used_at > interval

    async def renew(self, session: Session, login: Login) -> Login:
        """
        Extend a session by its lifetime from now on, until `LONGEST` seconds after log-in, and return it with its new
        end. One round trip.

        If the store takes no writes, or the session has just ended, it is returned as it was.
        """
        now, lifetime = self._site.clock(), self._site.session_lifetime * 1000
        beginning = RENEW_SESSION.beginning(session.slot % self._site.partitions)
        with suppress(StoreUnavailable):
            status, *ends = await self._site.redis.run(
                (*beginning, session.digest, now, lifetime, LONGEST * 1000, secrets.token_hex(ID_BYTES))
            )
            return login._replace(expires_at=int(ends[0]), used_at=now) if status == "renewed" else login
        return login

    async def usernames(self, sessions: Sequence[Session]) -> list[str | None]:
        """The usernames of sessions; None where there is none, or it has ended. One round trip."""
        reads = [self.read(session) for session in sessions]
        replies = await self._site.redis.pipeline([read.command for read in reads])
        logins, now = [read.result(reply) for read, reply in zip(reads, replies, strict=True)], self._site.clock()
        return [login.username if login and login.expires_at >= now else None for login in logins]

    def generate(self, username: str, agent: str = "") -> tuple[NewSession, Session]:
        """A new session for a user, not stored yet: what its user gets, and what the store gets."""
        token = new_token(username)
        session = parse_token(token)
        assert session is not None
        login = self.new_login(username)
        details = f"{secrets.token_hex(ID_BYTES)} {login.used_at} {agent[:MAX_AGENT]}".rstrip()
        return NewSession(token, login, details), session

    def new_login(self, username: str) -> Login:
        """What the key of a session of a user has if it is opened now."""
        now = self._site.clock()
        return Login(username, now + min(self._site.session_lifetime, LONGEST) * 1000, used_at=now)


@memo(entry_bytes=800, call_microseconds=2)
def _read(partitions: int, session: Session) -> Read[Login | None]:
    return Read(encoded(("GET", keys.session(session.slot % partitions, session.digest))), parse_login)
