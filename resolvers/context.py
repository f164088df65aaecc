"""What one request knows: its reads, its viewer, its instant, and what it cost."""

from asyncio import Future, ensure_future, shield
from collections.abc import Awaitable, Callable, Hashable, Sequence
from dataclasses import is_dataclass
from functools import partial
from typing import Any

from strawberry.dataloader import DataLoader

from resolvers.dataloader import Reads
from resolvers.live import Live
from resolvers.rate_limits import WriteRates
from store.client.client import RedisUsage, current_usage
from store.errors import Unauthenticated
from store.sessions import Session, parse_token
from store.store import Store

Batch = Callable[..., Awaitable[Sequence[Any]]]
USUAL_RATES = WriteRates()


class Context:
    """`now` is the instant that a request sees, in unix milliseconds; without `live` its subscriptions hear nothing,
    and without `address`, where it comes from, nothing is too often."""

    def __init__(
        self,
        store: Store,
        token: str | None = None,
        live: Live | None = None,
        address: str | None = None,
        rates: WriteRates | None = None,
    ) -> None:
        self.store = store
        self.live = live or Live(store)
        self.address = address
        self.rates = rates or USUAL_RATES
        self.usage = RedisUsage()
        current_usage.set(self.usage)
        self._expired_pins: list[str] = []
        self._go_on_as(parse_token(token) if token else None)

    def renew(self) -> None:
        """Forget what was read: something was written since."""
        self.now = self.store.site.clock()
        self.reads = Reads(self.store, self._login)
        self._batches: dict[Hashable, DataLoader[Any, Any]] = {}

    def log_in(self, token: str) -> None:
        """Go on as whom a new session belongs to."""
        self._go_on_as(parse_token(token))

    def log_out(self) -> None:
        self._go_on_as(None)

    async def viewer(self) -> str | None:
        """The name of who is logged in."""
        login = await self.reads.login()
        if login is None or self.session is None or login.expires_at < self.now:
            return None
        if self.store.sessions.is_aging(login, self.now):
            await self.store.sessions.renew(self.session, login)
        return login.username

    def actor(self) -> Session:
        """The session that a write has to prove."""
        if self.session is None:
            raise Unauthenticated
        return self.session

    def resolve(self, batch: Batch, parent: Any, arguments: dict[str, Any]) -> Awaitable[Any]:
        """
        One parent's value of a batch, which runs once for all the parents of a tick.

        A batch answers with a value for each parent, or with an exception for a parent that it has no value for. Who
        stops waiting cancels nothing: Strawberry's DataLoader would cancel a batch that has not begun, and then add
        later parents to that same batch, which never runs.
        """
        key = batch, _hashable(arguments)
        if key not in self._batches:
            self._batches[key] = DataLoader(partial(_run, batch, self, arguments), cache=False)
        value = ensure_future(self._batches[key].load(parent))
        value.add_done_callback(_read_error)
        return shield(value)

    def note_expired_pin(self, listing: str) -> None:
        self._expired_pins.append(listing)

    def notes(self) -> dict[str, Any]:
        """What clients are told beside the data."""
        return {"expiredPins": sorted(set(self._expired_pins))} if self._expired_pins else {}

    def _go_on_as(self, session: Session | None) -> None:
        self.session = session
        self._login = self.store.sessions.read(session) if session else None
        self.renew()


async def _run(batch: Batch, context: Context, arguments: dict[str, Any], parents: list[Any]) -> Sequence[Any]:
    return await batch(parents, context, **arguments)


def _hashable(value: Any) -> Hashable:
    """A key that is equal for equal arguments, which may be lists and input objects."""
    match value:
        case list() | tuple():
            return tuple(map(_hashable, value))
        case dict():
            return frozenset((name, _hashable(each)) for name, each in value.items())
        case _ if is_dataclass(value):
            return type(value), _hashable(vars(value))
        case Hashable():
            return value
        case _:
            return id(value)


def _read_error(value: "Future[Any]") -> None:
    """Python logs an error that nobody has read, though here nobody may be left who waits for it."""
    if not value.cancelled():
        value.exception()
