"""HTTP as uvicorn serves it, within bounds: how many connections, how much before a request is whole, for how long."""

from asyncio import Event, Transport
from http import HTTPStatus
from typing import Any
from urllib.parse import unquote

from httptools import parse_url
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

from server.cycles import Cycle
from server.doors import Door, address_of
from server.timers import Timer
from server.wire import Code
from server.wire.answers import refusal_body
from server.wire.errors import Refused
from server.wire.stopping import tell

LINGER = 0.3  # seconds that an idle connection has for a request which is on its way while we stop


class TooLong(Exception):
    """Stops the parser; the connection knows what to answer."""


class Guarded(HttpToolsProtocol):
    """A connection that speaks HTTP, until it becomes a socket or is closed."""

    def __init__(self, door: Door, **given: Any) -> None:
        super().__init__(**given)
        self._door = door
        self._timer = Timer(self.loop, self._cut)
        self._is_inside = False
        self._is_receiving = True
        self._is_in_head = self._has_received = False
        self._is_stopping = False
        self._head_at_least = self._head_at_most = 0  # bytes
        self._status, self._refused = 400, Refused(Code.BAD_REQUEST, "this is not HTTP")

    def connection_made(self, transport: Transport) -> None:  # type: ignore[override]  # as uvicorn has it
        super().connection_made(transport)
        self._door.readers.watch(transport)
        self._is_inside = self._door.enter(address_of(self.client))
        if self._is_inside:
            self._timer.set(self._door.seconds)
        else:
            self._refuse(503, Code.TOO_MANY_CONNECTIONS, "too many connections")

    def connection_lost(self, exc: Exception | None) -> None:
        self._timer.stop()
        self._door.readers.forget(self.transport)
        if self._is_inside:
            self._door.leave(address_of(self.client))
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        self._head_at_most = len(data) + (self._head_at_most if self._is_in_head else 0)
        self._has_received = False
        super().data_received(data)
        if self._is_in_head and not self._has_received:  # then all of the data is of this head
            self._head_at_least += len(data)
            if self._head_at_least > self._door.header_bytes + self._door.url_bytes and not self.transport.is_closing():
                self._refuse(431, Code.HEADERS_TOO_LARGE, "the headers are too large")

    def handle_websocket_upgrade(self) -> None:
        self._timer.stop()
        super().handle_websocket_upgrade()

    def on_message_begin(self) -> None:
        super().on_message_begin()
        self._is_receiving = self._is_in_head = True
        self._head_at_least = 0
        self._timer.set(self._door.seconds)

    def on_url(self, url: bytes) -> None:
        super().on_url(url)
        if len(self.url) > self._door.url_bytes:
            self._stop_parsing(414, f"the URL is longer than {self._door.url_bytes} bytes")

    def on_header(self, name: bytes, value: bytes) -> None:
        name = name.lower()
        if name == b"expect":
            self.expect_100_continue = value.lower() == b"100-continue"
        self.headers.append((name, value))
        if len(self.headers) > self._door.headers:
            self._stop_parsing(431, f"there are more than {self._door.headers} headers")
        if not self._is_in_head:  # it comes after a body in chunks
            self._measure_headers()

    def on_headers_complete(self) -> None:
        """As uvicorn has it, without what is never asked of us, and with cycles of ours."""
        self._is_in_head = False
        if self._head_at_most > self._door.header_bytes:
            self._measure_headers()
        parser, scope = self.parser, self.scope
        scope["method"] = parser.get_method().decode("ascii")
        scope["http_version"] = version = parser.get_http_version()
        if parser.should_upgrade() and self._should_upgrade():
            return
        url = parse_url(self.url)
        scope["path"], scope["raw_path"] = unquote(url.path.decode("ascii")), url.path
        scope["query_string"] = url.query or b""
        is_first = self._is_idle()
        self.cycle = Cycle(
            scope=scope,
            transport=self.transport,
            flow=self.flow,
            logger=self.logger,
            access_logger=self.access_logger,
            access_log=self.access_log,
            default_headers=self.server_state.default_headers,
            message_event=Event(),
            expect_100_continue=self.expect_100_continue,
            keep_alive=version != "1.0" and parser.should_keep_alive() and not self._is_stopping,
            on_response=self.on_response_complete,
        )
        if is_first:
            self._start_asgi_task(self.cycle, self.app)
        else:
            self.flow.pause_reading()
            self.pipeline.appendleft((self.cycle, self.app))

    def on_message_complete(self) -> None:
        self._is_receiving, self._has_received = False, True
        if self._is_idle():
            self._timer.set(self._door.idle_seconds)
        else:
            self._timer.clear()
        super().on_message_complete()

    def on_response_complete(self) -> None:
        """As uvicorn has it, but for the timer."""
        self.server_state.total_requests += 1
        if self.transport.is_closing():
            return
        self.flow.resume_reading()
        if self.pipeline:
            self._start_asgi_task(*self.pipeline.pop())
        elif not self._is_receiving:
            self._timer.set(self._door.idle_seconds)

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

    def _measure_headers(self) -> None:
        size = sum(len(name) + len(value) + len(": \r\n") for name, value in self.headers)
        if size > self._door.header_bytes:
            self._stop_parsing(431, f"the headers are longer than {self._door.header_bytes} bytes")

    def _stop_parsing(self, status: int, reason: str) -> None:
        self._status, self._refused = status, Refused(Code.HEADERS_TOO_LARGE, reason)
        raise TooLong

    def _refuse(self, status: int, code: Code, reason: str) -> None:
        self.transport.write(response(status, Refused(code, reason)))
        self.transport.close()

    def _cut(self) -> None:
        if self._is_receiving and (self._is_idle() or not self.cycle.response_started):
            self._refuse(408, Code.TIMED_OUT, f"the request was not there within {self._door.seconds:g} seconds")
        else:
            self.transport.close()


def response(status: int, refused: Refused) -> bytes:
    body = refusal_body(refused)
    head = f"HTTP/1.1 {status} {HTTPStatus(status).phrase}\r\nContent-Type: application/json; charset=utf-8\r\n"
    return f"{head}Content-Length: {len(body)}\r\nConnection: close\r\n\r\n".encode() + body
