"""The context of one request: its reads, its viewer, its time, and its cost."""

from asyncio import Future, ensure_future, shield
from collections.abc import Awaitable, Callable, Hashable, Sequence
from dataclasses import fields, is_dataclass
from functools import partial
from math import inf
from time import monotonic
from typing import Any, ClassVar, TypeVar

from strawberry.dataloader import DataLoader

from database.database import Database
from resolvers.dataloader import Reads
from resolvers.live import Live
from resolvers.rate_limits import RateLimit, WriteRates
from store.client.client import RedisUsage, current_usage
from store.errors import Forbidden, Unauthenticated
from store.sessions import Login, Session, parse_token
from store.store import Store

T = TypeVar("T")
Batch = Callable[..., Awaitable[Sequence[Any]]]
DEFAULT_RATES = WriteRates()


class SessionEnded(Unauthenticated):
    """The token names no session any more, or never did. `extensions` are those of a response or of this error."""

    extensions: ClassVar[dict[str, str]] = {"session": "ended"}


class Context:
    """
    `now` is the time of a request in unix milliseconds.

    Without `live` subscriptions receive no events. Without `address`, the client's, writes are not rate-limited.
    `database` is None if UPVOTE_DATABASE_URL is `none`. `server_key` is the text that the client gave, not checked yet;
    `last_event_id` the id of the last event that an EventSource received before it connected again. `is_shareable`
    becomes False when the response has a value for this client only.
    """

    def __init__(
        self,
        store: Store,
        token: str | None = None,
        live: Live | None = None,
        address: str | None = None,
        rates: WriteRates | None = None,
        read_rate_limit: Callable[[], RateLimit] | None = None,
        database: Database | None = None,
        server_key: str | None = None,
        last_event_id: str = "",
    ) -> None:
        self.store = store
        self.database = database
        self.live = live or Live(store, database=database)
        self.address = address
        self.rates = rates or DEFAULT_RATES
        self.last_event_id = last_event_id
        self._server_key, self._key_checked_at = server_key, -inf
        self.usage = RedisUsage()
        current_usage.set(self.usage)
        self._read_rate_limit = read_rate_limit
        self.is_shareable = True
        self._expired_pins: list[str] = []
        session = parse_token(token) if token else None
        self._use(session)
        self._is_token_refused = bool(token) and session is None

    def clear(self) -> None:
        """Discard everything that was read."""
        self.now = self.store.site.clock()
        self.reads = Reads(self.store, self._login, self.database)
        self._batches: dict[Hashable, DataLoader[Any, Any]] = {}

    async def write(self, command: Awaitable[T]) -> T:
        """Run a command of the store. If it succeeds, discard everything that was read before it."""
        result = await command
        self.clear()
        return result

    def log_in(self, token: str) -> None:
        """Continue with a new session."""
        self._use(parse_token(token))

    def log_out(self) -> None:
        self._use(None)

    async def viewer(self) -> str | None:
        """The username of the logged-in user; None if nobody is logged in."""
        login = await self._renewed(await self.reads.login())
        return login.username if login else None

    async def login(self) -> Login | None:
        """The session of the logged-in user, with the time when it ends; None if nobody is logged in."""
        return await self._renewed(await self.reads.stored_login())

    async def _renewed(self, login: Login | None) -> Login | None:
        """The session unless it has ended. One that is aging is extended first, by one round trip."""
        if login is None or self.session is None or login.expires_at < self.now:
            return None
        if self.store.sessions.is_aging(login, self.now):
            login = await self.store.sessions.renew(self.session, login)
            self.reads.set_login(login)
        return login

    def actor(self) -> Session:
        """The session for a write, which checks it."""
        if self.session is None:
            raise Unauthenticated
        return self.session

    async def require_server_key(self, max_age: float = 0) -> None:
        """
        One round trip, none if this found a valid key at most `max_age` seconds ago.

        Raises:
            Forbidden: the request has no server key, or it was revoked.
        """
        self.is_shareable = False  # requests of others may be equal but for the key
        if monotonic() <= self._key_checked_at + max_age:
            return
        if self._server_key is None or await self.store.server_keys.names([self._server_key]) == [None]:
            raise Forbidden("only server keys may read this")
        self._key_checked_at = monotonic()

    def note_unauthenticated(self) -> None:
        """Note that the store has refused a write for its session."""
        self._is_token_refused = self._is_token_refused or self.session is not None

    def unauthenticated(self) -> Unauthenticated:
        """The error of a subscription, whose responses have no `extensions` to report an ended session."""
        return SessionEnded() if self._has_session_ended() else Unauthenticated()

    def resolve(self, batch: Batch, parent: Any, arguments: dict[str, Any]) -> Awaitable[Any]:
        """
        Resolve a field of one parent. The batch is called once for all parents of a tick.

        It returns a value or an exception for each parent. The value is shielded from cancellation: Strawberry's
        DataLoader cancels a batch that it has not dispatched yet, and then adds later parents to the cancelled batch.
        """
        key = batch, _hashable(arguments)
        if key not in self._batches:
            self._batches[key] = DataLoader(partial(_run, batch, self, arguments), cache=False)
        value = ensure_future(self._batches[key].load(parent))
        value.add_done_callback(_mark_retrieved)
        return shield(value)

    def note_expired_pin(self, listing: str) -> None:
        self._expired_pins.append(listing)

    def rate_limit(self) -> RateLimit | None:
        """
        What is left of this client's points; None without rate limits.

        Clients with equal tokens, or without any, may take from different buckets: the result is for this one alone.
        """
        self.is_shareable = False
        return self._read_rate_limit() if self._read_rate_limit else None

    def extensions(self) -> dict[str, Any]:
        """Entries of `extensions` in the response."""
        notes: dict[str, Any] = {}
        if self._expired_pins:
            notes["expiredPins"] = sorted(set(self._expired_pins))
        if self._has_session_ended():
            notes |= SessionEnded.extensions
        return notes

    def _has_session_ended(self) -> bool:
        """
        Whether the request's token is known to name no session.

        A text that is not a token is known at once. Else the session has to be read, which happens with the first read
        of the store, or a write has to be refused.
        """
        return self._is_token_refused or self.reads.has_ended(self.now)

    def _use(self, session: Session | None) -> None:
        self._is_token_refused = False
        self.session = session
        self._login = self.store.sessions.read(session) if session else None
        self.clear()


async def _run(batch: Batch, context: Context, arguments: dict[str, Any], parents: list[Any]) -> Sequence[Any]:
    return await batch(parents, context, **arguments)


def _hashable(value: Any) -> Hashable:
    """
    A key that is equal for the same arguments, which may be lists and input objects.

    Some values are equal and yet not the same, such as 1 and true, or the decimals 1.0 and 1.00.
    """
    match value:
        case list() | tuple():
            return tuple(map(_hashable, value))
        case dict():
            return frozenset((name, _hashable(each)) for name, each in value.items())
        case _ if is_dataclass(value) and not isinstance(value, type):
            return type(value), tuple(_hashable(getattr(value, field.name)) for field in fields(value))
        case Hashable():
            return type(value), value, repr(value)
        case _:
            return id(value)


def _mark_retrieved(value: "Future[Any]") -> None:
    """asyncio logs exceptions that are never retrieved, which is normal here if the request was cancelled."""
    if not value.cancelled():
        value.exception()
