"""What an application gives to the engine: options, the context of an operation, an observer, and when it stops."""

import asyncio
from collections.abc import Awaitable, Callable, Container, Hashable, Mapping, MutableMapping, Sequence
from contextlib import AbstractAsyncContextManager, AbstractContextManager, nullcontext
from dataclasses import dataclass, field
from typing import Any, NamedTuple, Protocol, TypeAlias

from starlette.types import Scope

from caches import POOL, Pool
from engine.clients import IPV6_PREFIX, Client, ClientHeaders
from engine.cookies import SessionCookie
from engine.limits.documents import Limits
from engine.limits.rate_limiter import RateLimiter
from engine.requests import OperationRequest

STOPPING = "stopping"  # key of the ASGI state: an event that is set when the server stops

# An extension of ASGI, of servers that take the text of a message also in parts, as UTF-8: an event that is encoded
# once is sent to many WebSockets, each with its own id around it. The message has the parts under this key, not `text`.
TEXT_PARTS = "engine.text_parts"


class BackendUsage(Protocol):
    """How many round trips to the application's data store, and commands to it, an execution took."""

    round_trips: int
    commands: int


class OperationContext(Protocol):
    """The context of one operation, or of one event of a subscription."""

    @property
    def usage(self) -> BackendUsage: ...

    @property
    def is_shareable(self) -> bool:
        """
        Whether all clients with an equal `ViewerKey` may get this result; read after the execution.

        False once the execution has read something in which those clients may differ, such as an address or a header.
        """
        ...

    @property
    def response_headers(self) -> Sequence[tuple[bytes, bytes]]:
        """Headers for the response to a mutation, such as cookies; read after the execution. Streams leave them out."""
        ...

    def extensions(self) -> dict[str, Any]:
        """Return further entries of the response's `extensions`."""
        ...

    def refresh(self, token: str | None, identified: Any) -> None:
        """
        Go on with another token of the same user, while a subscription runs. `identified` is that of its `Client`.
        """
        ...


class EventId(NamedTuple):
    """
    The id of an event of a subscription, without line breaks.

    An event that is only an id has no result: it tells the client how far it has come.
    """

    text: str
    is_only_id: bool = False


OpenContext: TypeAlias = Callable[[Client], OperationContext]
OnRefresh: TypeAlias = Callable[[Client], object]
# `Options` says what the following do.
ViewerKey: TypeAlias = Callable[[Client], Hashable]
Identify: TypeAlias = Callable[[Client], Awaitable[Client]]
FindUser: TypeAlias = Callable[[str], Awaitable[str | None]]  # the user's name by the token
WhileSubscribed: TypeAlias = Callable[[], AbstractAsyncContextManager[object]]
WatchSession: TypeAlias = Callable[[Client, Callable[[], object]], AbstractContextManager[object]]


class Refreshes(Protocol):
    """Tells the operations of a client that it goes on with another token of the same user."""

    def watch_token(self, on_refresh: OnRefresh) -> None:
        """Call a function with the client now, and whenever it has another token."""
        ...

    def unwatch_token(self, on_refresh: OnRefresh) -> None: ...


async def nobody(token: str) -> str | None:
    """The user of a token where tokens have no users."""
    return None


@dataclass(slots=True)
class Observation:
    """
    The execution of an operation so far: number of results, their total usage, codes of their errors.

    `seconds` is set at the end. `execution_path` of a query or mutation is "compiled", "coalesced" with an equal
    query, or the reason why it was not compiled.
    """

    request: OperationRequest
    results: int = 0
    round_trips: int = 0
    commands: int = 0
    codes: set[str] = field(default_factory=set)
    seconds: float = 0.0
    execution_path: str = ""
    trace_id: str | None = None
    span: Any = None  # set by an observer that traces
    counters: Any = None  # set by an observer that counts


class Observer(Protocol):
    """Is called for each operation, for example to count, log or trace it."""

    def on_start(self, observation: Observation) -> None:
        """The execution of an operation begins."""

    def on_end(self, observation: Observation) -> None:
        """The operation ended: with its last result, by a refusal, or because its client disconnected."""

    def on_result(self, observation: Observation, usage: BackendUsage) -> None:
        """The operation has one more result, which took `usage`."""

    def on_refusal(self, code: str, client: Client, request_id: str) -> None:
        """A request was refused before its operation was executed."""


class NullObserver:
    """Does nothing."""

    def on_start(self, observation: Observation) -> None:
        pass

    def on_end(self, observation: Observation) -> None:
        pass

    def on_result(self, observation: Observation, usage: BackendUsage) -> None:
        pass

    def on_refusal(self, code: str, client: Client, request_id: str) -> None:
        pass


@dataclass(frozen=True, slots=True, kw_only=True)
class Options:
    """
    The options of an endpoint. Sizes are in bytes or characters, times in seconds.

    `pool` limits the memory of all caches together. Browsers that open the endpoint as a page are redirected to
    `explorer_path`. A request with the header `stats_header: 1` gets the cost of its execution in `extensions`.

    `viewer_key` returns what the results of a client's queries depend on: equal queries of clients with equal keys
    that arrive at the same time are executed once. Without it every query is executed.

    A server that sends requests for its visitors sends its key in `key_header`, and the visitor's address in
    `visitor_header`; `rate_limiter.keys` looks keys up.

    X-Forwarded-For is used if one of `trusted_proxies` sent it. `on_untrusted_proxy` is called with the address of any
    other sender. All IPv6 addresses of a network with a prefix of `ipv6_prefix` bits count as one address.

    `event_id` returns the id of a value that a subscription yields. Server-sent events have it as their `id`; a client
    that connects again sends the last one, which is `Client.last_event_id`, so that its subscription can go on there.

    `watch_session` calls a function once others have ended the session of a client, as long as its context is open:
    the WebSocket or the stream of the client is closed then.

    `while_subscribed` returns a context that is entered before the source of events of a WebSocket or a stream is
    opened, and left after that is closed: an application without an open context need not receive events.

    `identify` returns a client with what the application has found out about its token, in `Client.identified`. It is
    called before each operation of a client with a token, and raises Refused for a token that is not accepted. Without
    it, contexts read the tokens.

    `cookie` is the cookie in which browsers may keep their token. `find_user` returns the name of the user of a token,
    who is always the same; None if the token is not valid now.

    Shared caches may serve the response to a GET without a token for `cache_seconds` without revalidation.

    A WebSocket may have `max_operations` at a time; further ones are refused with `TOO_MANY_OPERATIONS`. Messages
    beyond `max_messages` a second are read later.
    """

    trusted_documents: Mapping[str, str] = field(default_factory=dict)
    only_trusted: bool = False
    explorer_path: str | None = "/"
    allowed_origins: Container[str] = ()  # of pages of other sites that may open WebSockets
    trusted_proxies: Container[str] = ()
    on_untrusted_proxy: Callable[[str], object] = lambda address: None
    ipv6_prefix: int = IPV6_PREFIX
    limits: Limits = field(default_factory=Limits)
    rate_limiter: RateLimiter | None = None
    pool: Pool = POOL
    max_body: int = 100_000
    max_message: int = 64_000  # of a WebSocket
    max_messages: int = 200
    max_operations: int = 100
    init_timeout: float = 5.0  # from the handshake of a WebSocket to `connection_init`
    keep_alive: float = 12.0  # between two heartbeats of a stream
    observer: Observer = field(default_factory=NullObserver)
    viewer_key: ViewerKey | None = None
    event_id: Callable[[Any], EventId | None] = lambda value: None
    watch_session: WatchSession = lambda client, on_end: nullcontext()
    while_subscribed: WhileSubscribed = nullcontext
    cookie: SessionCookie | None = None
    identify: Identify | None = None
    find_user: FindUser = nobody
    stats_header: str | None = None
    key_header: str | None = None
    visitor_header: str | None = None
    cache_seconds: int = 0

    @property
    def client_headers(self) -> ClientHeaders:
        names = self.stats_header, self.key_header, self.visitor_header
        return ClientHeaders(*[name.lower().encode() if name else None for name in names])


def stop_event_of(scope: Scope) -> asyncio.Event:
    """Return the event that is set when the server stops; one that is never set if the server provides none."""
    return scope.get("state", {}).get(STOPPING) or asyncio.Event()


def announce_stop(state: MutableMapping[str, Any]) -> None:
    """Set the event of `stop_event_of`, so that streams and subscriptions end."""
    if STOPPING in state:
        state[STOPPING].set()
