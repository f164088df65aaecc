"""Connections as uvicorn serves them, within bounds: how many, how much before a request is whole, and for how long."""

from asyncio import TimerHandle, Transport
from collections import Counter
from dataclasses import dataclass, field
from http import HTTPStatus
from typing import Any

from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol
from uvicorn.protocols.websockets.websockets_sansio_impl import WebSocketsSansIOProtocol
from websockets.frames import CloseCode, Frame

from server.readers import Readers
from server.wire import Code
from server.wire.answers import refusal_body
from server.wire.errors import Refused
from server.wire.messages import Closed
from server.wire.sockets import Pace
from server.wire.stopping import STOPPING, tell

MOST_PINGS = 100  # a second
MOST_FRAGMENTS = 1_000
LINGER = 0.3  # seconds that an idle connection has for a request which is on its way while we stop
CLOSING = 1.0  # seconds that a socket's client has to close it, too, while we stop


@dataclass
class Door:
    """
    Lets connections in, up to so many of a process and of an address; `trusted` are proxies, who come for many.

    Once inside, a request has to be whole within `seconds`, and answers have to be read.
    """

    connections: int = 1_000
    of_an_address: int | None = 100
    trusted: frozenset[str] = frozenset()
    seconds: float = 10.0
    headers: int = 100
    header_bytes: int = 16_384
    url_bytes: int = 65_536
    readers: Readers = field(default_factory=Readers)
    inside: Counter[str] = field(default_factory=Counter)

    def enter(self, address: str) -> bool:
        is_crowded = self.of_an_address is not None and self.inside[address] >= self.of_an_address
        if self.inside.total() >= self.connections or (is_crowded and address not in self.trusted):
            return False
        self.inside[address] += 1
        return True

    def leave(self, address: str) -> None:
        self.inside[address] -= 1
        if not self.inside[address]:
            del self.inside[address]


class TooLong(Exception):
    """Stops the parser; the connection knows what to answer."""


class Guarded(HttpToolsProtocol):
    """A connection that speaks HTTP, until it becomes a socket or is closed."""

    def __init__(self, door: Door, **given: Any) -> None:
        super().__init__(**given)
        self._door = door
        self._is_inside = False
        self._timer: TimerHandle | None = None
        self._is_in_head = False
        self._is_stopping = False
        self._head_bytes = self._header_bytes = 0
        self._status, self._refused = 400, Refused(Code.BAD_REQUEST, "this is not HTTP")

    def connection_made(self, transport: Transport) -> None:  # type: ignore[override]  # as uvicorn has it
        super().connection_made(transport)
        self._door.readers.watch(transport)
        self._is_inside = self._door.enter(address_of(self))
        if self._is_inside:
            self._start_timer()
        else:
            self._refuse(503, Code.TOO_MANY_CONNECTIONS, "too many connections")

    def connection_lost(self, exc: Exception | None) -> None:
        self._stop_timer()
        self._door.readers.forget(self.transport)
        if self._is_inside:
            self._door.leave(address_of(self))
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        super().data_received(data)
        if self._is_in_head and not self.transport.is_closing():
            self._head_bytes += len(data)
            if self._head_bytes > self._door.header_bytes + self._door.url_bytes:
                self._refuse(431, Code.HEADERS_TOO_LARGE, "the headers are too large")

    def handle_websocket_upgrade(self) -> None:
        self._stop_timer()
        super().handle_websocket_upgrade()

    def on_message_begin(self) -> None:
        super().on_message_begin()
        self._is_in_head = True
        self._head_bytes = self._header_bytes = 0
        self._start_timer()

    def on_url(self, url: bytes) -> None:
        super().on_url(url)
        if len(self.url) > self._door.url_bytes:
            self._stop_parsing(414, f"the URL is longer than {self._door.url_bytes} bytes")

    def on_header(self, name: bytes, value: bytes) -> None:
        super().on_header(name, value)
        self._header_bytes += len(name) + len(value) + len(": \r\n")
        if len(self.headers) > self._door.headers:
            self._stop_parsing(431, f"there are more than {self._door.headers} headers")
        if self._header_bytes > self._door.header_bytes:
            self._stop_parsing(431, f"the headers are longer than {self._door.header_bytes} bytes")

    def on_headers_complete(self) -> None:
        self._is_in_head = False
        super().on_headers_complete()
        if self._is_stopping:
            self.cycle.keep_alive = False

    def on_message_complete(self) -> None:
        self._stop_timer()
        super().on_message_complete()

    def shutdown(self) -> None:
        """What uvicorn calls when it stops: whoever asked is answered, and who is about to ask as well."""
        tell(self.app_state)
        self._is_stopping = True
        if self._is_idle():
            self.loop.call_later(LINGER, self._close_if_idle)
        else:
            self.cycle.keep_alive = False

    def _is_idle(self) -> bool:
        return self.cycle is None or self.cycle.response_complete

    def _close_if_idle(self) -> None:
        if self._is_idle():
            self.transport.close()

    def send_400_response(self, msg: str) -> None:
        """What uvicorn calls when the parser gives up: for what is no HTTP, or because we stopped it."""
        self.transport.write(response(self._status, self._refused))
        self.transport.close()

    def _stop_parsing(self, status: int, reason: str) -> None:
        self._status, self._refused = status, Refused(Code.HEADERS_TOO_LARGE, reason)
        raise TooLong

    def _refuse(self, status: int, code: Code, reason: str) -> None:
        self.transport.write(response(status, Refused(code, reason)))
        self.transport.close()

    def _start_timer(self) -> None:
        if self._timer is None:
            self._timer = self.loop.call_later(self._door.seconds, self._cut)

    def _stop_timer(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def _cut(self) -> None:
        self._timer = None
        if self.cycle is None or self.cycle.response_complete or not self.cycle.response_started:
            self._refuse(408, Code.TIMED_OUT, f"the request was not there within {self._door.seconds:g} seconds")
        else:
            self.transport.close()


class GuardedSocket(WebSocketsSansIOProtocol):
    """A connection that has become a WebSocket. It came through the door when it spoke HTTP."""

    def __init__(self, door: Door, **given: Any) -> None:
        super().__init__(**given)
        self._door = door
        self._pings = Pace(MOST_PINGS)

    def connection_lost(self, exc: Exception | None) -> None:
        self._door.readers.forget(self.transport)
        self._door.leave(address_of(self))
        super().connection_lost(exc)

    def shutdown(self) -> None:
        """What uvicorn calls when it stops: the application is told as if the client went, and closes the socket."""
        if self.handshake_complete and not self.close_sent and STOPPING in self.app_state:
            tell(self.app_state)
            self.close_timeout = CLOSING
            self.queue.put_nowait({"type": "websocket.disconnect", "code": CloseCode.SERVICE_RESTART})
        else:
            super().shutdown()

    def handle_ping(self) -> None:
        try:
            self._pings.count()
        except Closed as closed:
            self._fail(closed.reason)
        super().handle_ping()

    def handle_cont(self, event: Frame) -> None:
        super().handle_cont(event)
        if len(self.frames) > MOST_FRAGMENTS:
            self._fail(f"a message of more than {MOST_FRAGMENTS} fragments")

    def _fail(self, reason: str) -> None:
        if not self.close_sent:
            self.conn.fail(CloseCode.POLICY_VIOLATION, reason)
            self.transport.write(b"".join(self.conn.data_to_send()))
            self.close_sent = True
            self.transport.close()


def address_of(connection: Guarded | GuardedSocket) -> str:
    return connection.client[0] if connection.client else ""


def response(status: int, refused: Refused) -> bytes:
    body = refusal_body(refused)
    head = f"HTTP/1.1 {status} {HTTPStatus(status).phrase}\r\nContent-Type: application/json; charset=utf-8\r\n"
    return f"{head}Content-Length: {len(body)}\r\nConnection: close\r\n\r\n".encode() + body
