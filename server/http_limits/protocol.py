"""HTTP as uvicorn serves it, within bounds: how many connections, how much before a request is whole, for how long."""

from asyncio import Transport
from typing import Any

from httptools import HttpParserError, HttpParserUpgrade, HttpRequestParser
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

from engine import Code
from engine.errors import Refused
from engine.shutdown import tell
from server.http_limits.connections import Door, TooLong, address_of, response
from server.http_limits.cycles import Cycle
from server.http_limits.heads import LastHead
from server.http_limits.targets import target_of
from server.http_limits.timers import Timer

ASGI = {"version": "3.0", "spec_version": "2.3"}
LINGER = 0.3  # seconds that an idle connection has for a request which is on its way while we stop


class Guarded(HttpToolsProtocol):
    """A connection that speaks HTTP, until it becomes a socket or is closed."""

    cycle: Cycle  # we make no others

    def __init__(self, door: Door, **given: Any) -> None:
        super().__init__(**given)
        self._door = door
        self._timer = Timer(self.loop, self._cut)
        self._is_inside = False
        self._is_receiving = True
        self._is_in_head = self._has_received = False
        self._is_stopping = self._is_upgrading = self._has_begun = False
        self._unasked = 0  # headers of a request that need no look
        self._head_at_least = self._head_at_most = 0  # bytes
        self._last_head = LastHead()

    def connection_made(self, transport: Transport) -> None:  # type: ignore[override]  # as uvicorn has it
        super().connection_made(transport)
        self._door.readers.watch(transport)
        self._unread = self._door.outgoing.enter(address_of(self.client), transport)
        self._is_inside = self._door.enter(address_of(self.client))
        if self._is_inside:
            self._timer.set(self._door.seconds)
        else:
            self._refuse(503, Code.TOO_MANY_CONNECTIONS, "too many connections")

    def connection_lost(self, exc: Exception | None) -> None:
        self._timer.stop()
        self._door.readers.forget(self.transport)
        self._door.outgoing.leave(address_of(self.client), self._unread)
        if self._is_inside:
            self._door.leave(address_of(self.client))
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        is_first = not self._is_receiving and self._is_idle()  # byte of a request, and that of no other before it
        if is_first and (request := self._last_head.request_of(data)):
            self._begin_again(*request)
            return
        self._parse(data)
        if is_first and not self._is_receiving and not self._is_idle() and self.cycle.keep_alive:
            self._last_head.remember(data, self.cycle.scope)

    def _begin_again(self, scope: dict[str, Any], body: bytes) -> None:
        """Begin a request that is there as a whole, and whose head is the one before."""
        self._timer.clear()
        self.expect_100_continue = False
        scope["state"] = self.app_state.copy()
        self.cycle = Cycle(scope, self, not self._is_stopping, self._unread)
        self.cycle.add(body)
        self.cycle.end()
        self._start_asgi_task(self.cycle, self.app)

    def _parse(self, data: bytes) -> None:
        """As uvicorn has it, but that what is not whole has to become so in time."""
        self._head_at_most = len(data) + (self._head_at_most if self._is_in_head else 0)
        self._has_received = False
        try:
            self.parser.feed_data(data)
        except HttpParserError as error:
            self.logger.warning("Invalid HTTP request received.")
            self._refuse_head(error.__context__)
        except HttpParserUpgrade as end:
            if self._should_upgrade():
                self.handle_websocket_upgrade()
            elif self._is_upgrading:
                self._parse_without_upgrade(data[end.args[0] :])
        else:
            if self._is_receiving:
                self._wait_for_rest(len(data))

    def _parse_without_upgrade(self, rest: bytes) -> None:
        """Nobody has to follow to another protocol (Java's client invites to HTTP/2), but the parser ends there."""
        lines = [b"%b: %b\r\n" % header for header in self.headers if header[0] != b"upgrade"]
        self.parser = HttpRequestParser(self)
        head = b"%b %b HTTP/1.1\r\n%b\r\n" % (self.scope["method"].encode(), self.url, b"".join(lines))
        self._parse(head + rest)

    def _wait_for_rest(self, received: int) -> None:
        if self._has_begun:
            self._has_begun = False
            self._timer.set(self._door.seconds)
        if self._is_in_head and not self._has_received:  # then all of the data is of this head
            self._head_at_least += received
            if self._head_at_least > self._door.header_bytes + self._door.url_bytes:
                self._refuse(431, Code.HEADERS_TOO_LARGE, "the headers are too large")

    def handle_websocket_upgrade(self) -> None:
        self._timer.stop()
        self._door.outgoing.leave(address_of(self.client), self._unread)
        super().handle_websocket_upgrade()

    def on_message_begin(self) -> None:
        self.url, self.headers, self.expect_100_continue = b"", [], False
        self._is_receiving = self._is_in_head = self._has_begun = True
        self._head_at_least = 0
        self._unasked = self._door.headers

    def on_url(self, url: bytes) -> None:
        self.url += url
        self._door.check_url(self.url)

    def on_header(self, name: bytes, value: bytes) -> None:
        name, headers = name.lower(), self.headers
        if name == b"expect":
            self.expect_100_continue = value.lower() == b"100-continue"
        headers.append((name, value))
        if len(headers) > self._unasked:
            self._door.check_headers(headers)

    def on_headers_complete(self) -> None:
        """As uvicorn has it, without what is never asked of us, and with cycles of ours."""
        self._is_in_head, self._unasked = False, 0  # if there are more, they come after a body in chunks
        if self._head_at_most > self._door.header_bytes:
            self._door.check_headers(self.headers)
        parser = self.parser
        version = parser.get_http_version()
        scope: dict[str, Any] = {
            "type": "http",
            "asgi": ASGI,
            "http_version": version,
            "server": self.server,
            "client": self.client,
            "scheme": self.scheme,
            "method": parser.get_method().decode("ascii"),
            "root_path": self.root_path,
            "headers": self.headers,
            "state": self.app_state.copy(),
        }
        self.scope = scope  # type: ignore[assignment]  # it becomes one
        self._is_upgrading = parser.should_upgrade() and scope["method"] != "CONNECT"
        if self._is_upgrading:
            return
        scope["path"], scope["raw_path"], scope["query_string"] = target_of(self.url)
        is_first = self._is_idle()
        keep_alive = version != "1.0" and parser.should_keep_alive() and not self._is_stopping
        self.cycle = Cycle(scope, self, keep_alive, self._unread)
        if is_first:
            self._start_asgi_task(self.cycle, self.app)
        else:
            self.flow.pause_reading()
            self.pipeline.appendleft((self.cycle, self.app))

    def on_body(self, body: bytes) -> None:
        if not self._is_upgrading and not self.cycle.response_complete:
            self.cycle.add(body)

    def on_message_complete(self) -> None:
        self._is_receiving, self._has_received = False, True
        if self._is_idle():
            self._timer.set(self._door.idle_seconds)
            return
        self._timer.clear()
        if not self._is_upgrading:
            self.cycle.end()

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

    def _refuse_head(self, reason: BaseException | None) -> None:
        if isinstance(reason, TooLong):
            self._refuse(reason.status, Code.HEADERS_TOO_LARGE, str(reason))
        else:
            self._refuse(400, Code.BAD_REQUEST, "this is not HTTP")

    def _refuse(self, status: int, code: Code, reason: str) -> None:
        self.transport.write(response(status, Refused(code, reason)))
        self.transport.close()

    def _cut(self) -> None:
        if self._is_receiving and (self._is_idle() or not self.cycle.response_started):
            self._refuse(408, Code.TIMED_OUT, f"the request was not there within {self._door.seconds:g} seconds")
        else:
            self.transport.close()
