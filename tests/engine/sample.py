"""
The sample schema of the tests of the engine, which serves any schema of Strawberry: served by uvicorn on a loopback
port, without the rest of the application.
"""

import asyncio
import threading
from collections.abc import AsyncGenerator, Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import datetime
from functools import partial
from typing import Any

import strawberry
import uvicorn
from starlette.types import ASGIApp
from strawberry.types import Info
from websockets.asyncio.client import connect

from engine import Client, Endpoint, EventId, Options
from server.http.connections import ConnectionLimiter
from server.http.limited_protocol import LimitedHttp
from server.http.limited_websocket import LimitedWebSocket
from tests.servers import PATIENCE

PROTOCOL = "graphql-transport-ws"


class NotToday(Exception):
    """An expected exception of the application, with extensions."""

    def __init__(self) -> None:
        super().__init__("not today")
        self.extensions = {"retryAfter": 60}


class StillNotToday(NotToday):
    """An exception that is expected because its base class is."""


@dataclass
class BackendUsage:
    """What an operation has cost at a backend, as the endpoint expects it of each context."""

    round_trips: int = 0
    commands: int = 0


@dataclass
class Opened:
    """The context of one operation or one event."""

    client: Client
    number: int
    usage: BackendUsage = field(default_factory=BackendUsage)
    is_shareable: bool = True
    response_headers: tuple[tuple[bytes, bytes], ...] = ()

    def extensions(self) -> dict[str, Any]:
        return {}

    def refresh(self, token: str | None, identified: Any) -> None:
        self.client = self.client._replace(token=token, identified=identified)


@dataclass
class Contexts:
    """All opened contexts, and the numbers of event streams that have started and ended."""

    opened: list[Opened] = field(default_factory=list)
    streams_started: int = 0
    streams_ended: int = 0

    def open(self, client: Client) -> Opened:
        """Open the context of a client. Two tokens make it fail: "revoked" as expected, "bug" unexpectedly."""
        if client.token == "revoked":
            raise StillNotToday
        if client.token == "bug":
            raise RuntimeError("secret of the context")
        self.opened.append(Opened(client, len(self.opened)))
        return self.opened[-1]


CONTEXTS = Contexts()


@strawberry.type
class Book:
    title: str = "a title"

    @strawberry.field
    def likes(self) -> list["Book"]:
        return []

    @strawberry.field
    def shelf(self, first: int | None = None, last: int | None = None) -> "Shelf":
        return Shelf()


@strawberry.type
class BookPlace:
    book: Book


@strawberry.type
class Shelf:
    """A list of books, of which `first`, `last` and `page` of its field choose a page: for the cost of pages."""

    total: int = 0
    books: list[Book] = strawberry.field(default_factory=list)
    places: list[BookPlace] = strawberry.field(default_factory=list)


@strawberry.type
class Query:
    @strawberry.field
    def shelf(self, first: int | None = None, last: int | None = None, page: int | None = None) -> Shelf:
        return Shelf()

    @strawberry.field
    def recent(self, most: int | None = None) -> Shelf:
        return Shelf()

    @strawberry.field
    def pick(self, ids: list[int] | None = None) -> list[Book]:
        return []

    @strawberry.field
    async def hello(self, info: Info, name: str = "world") -> str:
        info.context.usage.round_trips += 1
        return f"hello {name}"

    @strawberry.field
    def whoami(self, info: Info) -> str | None:
        return info.context.client.token

    @strawberry.field
    def address(self, info: Info) -> str:
        return info.context.client.address

    @strawberry.field
    def echo(self, id: strawberry.ID) -> str:
        return id

    @strawberry.field
    def twice(self, number: int) -> int:
        return 2 * number

    @strawberry.field
    def day(self, at: datetime) -> int:
        return at.day

    @strawberry.field
    def down(self, note: str | None = None) -> "Query":
        return Query()

    @strawberry.field
    def refuse(self) -> str | None:
        raise StillNotToday

    @strawberry.field
    async def never(self) -> str:
        await asyncio.Event().wait()
        return "too late"

    @strawberry.field
    async def fail(self) -> str | None:
        raise RuntimeError("secret of the field")

    @strawberry.field
    def surrogate(self) -> str:
        return "\ud800"  # a text that is not Unicode


@strawberry.type
class Mutation:
    @strawberry.mutation
    def change(self, by: int = 1) -> int:
        return by


@dataclass
class Tick:
    """A value of a subscription that has an id; one without a number is only an id."""

    id: str
    number: int | None


def event_id(value: Any) -> EventId | None:
    return EventId(value.id, is_only_id=value.number is None) if isinstance(value, Tick) else None


@strawberry.type
class Numbered:
    number: int


@strawberry.type
class Subscription:
    @strawberry.subscription
    async def ticks(self, info: Info, to: int = 3) -> AsyncGenerator[Numbered, None]:
        """Numbers from the one after the last event, and after the last one an event that is only an id."""
        for number in range(int(info.context.client.last_event_id or -1) + 1, to):
            yield Tick(str(number), number)
        yield Tick(str(to), None)

    @strawberry.subscription
    async def count(self, to: int = 3) -> AsyncGenerator[int, None]:
        for number in range(to):
            yield number

    @strawberry.subscription
    async def contexts(self, info: Info) -> AsyncGenerator[int, None]:
        yield info.context.number
        yield info.context.number

    @strawberry.subscription
    async def forever(self, size: int = 1) -> AsyncGenerator[str, None]:
        CONTEXTS.streams_started += 1
        try:
            while True:
                yield "x" * size
                await asyncio.sleep(0)
        finally:
            CONTEXTS.streams_ended += 1

    @strawberry.subscription
    async def silence(self) -> AsyncGenerator[int, None]:
        CONTEXTS.streams_started += 1
        try:
            await asyncio.Event().wait()
            yield 1
        finally:
            CONTEXTS.streams_ended += 1

    @strawberry.subscription
    async def breaks(self) -> AsyncGenerator[int, None]:
        yield 1
        raise RuntimeError("secret of the events")

    @strawberry.subscription
    async def refused(self) -> AsyncGenerator[int, None]:
        raise StillNotToday
        yield 1  # which makes it a generator


SCHEMA = strawberry.Schema(Query, Mutation, Subscription)


@dataclass(frozen=True)
class Server:
    port: int

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}/graphql"

    def socket(self, protocol: str = PROTOCOL, **options: Any) -> connect:
        return connect(self.url.replace("http", "ws"), subprotocols=[protocol], **options)


@contextmanager
def serving(limiter: ConnectionLimiter | None = None, **settings: Any) -> Iterator[Server]:
    options = Options(stats_header="X-Stats", event_id=event_id, **settings)
    endpoint = Endpoint(SCHEMA, CONTEXTS.open, {NotToday: "NOT_TODAY"}, options)
    with running(endpoint, limiter) as server:
        yield server


@contextmanager
def running(app: ASGIApp, limiter: ConnectionLimiter | None = None) -> Iterator[Server]:
    options: dict[str, Any] = {"lifespan": "off", "log_config": None, "access_log": False}
    config = uvicorn.Config(app, port=0, timeout_graceful_shutdown=1, **options)
    if limiter:
        config.http, config.ws = partial(LimitedHttp, limiter), partial(LimitedWebSocket, limiter)
    server = uvicorn.Server(config)
    thread = threading.Thread(target=server.run)
    thread.start()
    while not server.started:
        thread.join(0.01)
    try:
        yield Server(server.servers[0].sockets[0].getsockname()[1])
    finally:
        server.should_exit = True
        thread.join()


async def until(condition: Callable[[], bool]) -> None:
    async with asyncio.timeout(PATIENCE):
        while not condition():  # noqa: ASYNC110 - the server runs in another thread, with a loop of its own
            await asyncio.sleep(0.01)
