"""
uvicorn's HTTP and WebSocket protocols with the limits that uvicorn lacks: connections, time and size of a request,
unread output, WebSocket control frames.

It starts requests itself, for the reason that `cycle.py` gives; parsing them is uvicorn's.
"""

from asyncio import TimerHandle, Transport
from collections import deque
from functools import partial
from typing import Any
from urllib.parse import unquote

from httptools import HttpParserError, HttpParserUpgrade, HttpRequestParser, parse_url
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol
from uvicorn.protocols.websockets.websockets_sansio_impl import WebSocketsSansIOProtocol
from websockets.frames import CloseCode, Frame

from engine import Code
from engine.errors import Refused
from engine.interfaces import STOPPING, announce_stop
from engine.websocket import MessageRate
from server.http_limits.connections import ConnectionLimiter, HeadersTooLarge, address_of, error_response
from server.http_limits.cycle import RequestCycle, ResponseWriter

SHUTDOWN_IDLE_SECONDS = 0.3  # an idle connection may still send a request while the server stops
SHUTDOWN_CLOSE_SECONDS = 1.0  # for a WebSocket client to answer the close frame while the server stops
MAX_PINGS = 100  # a second
MAX_FRAGMENTS = 1_000  # of a message
ASGI = {"version": "3.0", "spec_version": "2.3"}


class LimitedHttp(HttpToolsProtocol):
    """An HTTP connection, until it is upgraded to a WebSocket or closed."""

    cycle: RequestCycle

    def __init__(self, limiter: ConnectionLimiter, **given: Any) -> None:
        super().__init__(**given)
        self.timeout_keep_alive = limiter.idle_seconds  # type: ignore[assignment]  # uvicorn declares an int
        self._limiter = limiter
        self._is_admitted = False
        self._is_receiving = self._is_in_head = True  # the first request is waited for
        self._is_upgrade = self._is_stopping = False
        self._head_bytes = 0  # of an incomplete head, at least
        self._received = 0  # bytes of the latest data
        self._max_head_bytes = 0  # of the next head: what came since the data that ended the last one
        self._headers = 0  # of the request, without trailers
        self._parsed_url = b""  # of the last request
        self._request_timer: TimerHandle | None = None
        self._earlier: deque[RequestCycle] = deque()  # unfinished when a pipelined request came

    def connection_made(self, transport: Transport) -> None:  # type: ignore[override]  # as in uvicorn
        super().connection_made(transport)
        address = address_of(self.client)
        self._limiter.slow_clients.add(transport)
        self._unread = self._limiter.unread_output.add(address, transport)
        self._writer = ResponseWriter(transport, self._unread)
        self._is_admitted = self._limiter.admit(address)
        if self._is_admitted:
            self._start_request_timer()
        else:
            self._refuse(503, Code.TOO_MANY_CONNECTIONS, "too many connections")

    def connection_lost(self, exc: Exception | None) -> None:
        self._stop_request_timer()
        self._limiter.slow_clients.remove(self.transport)
        self._limiter.unread_output.remove(address_of(self.client), self._unread)
        if self._is_admitted:
            self._limiter.release(address_of(self.client))
        for cycle in self._earlier:  # uvicorn tells only the last one, and a write to a closed transport fails
            cycle.disconnected = True
            cycle.message_event.set()
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        """As in uvicorn, but an incomplete request is limited, and other upgrades than to a WebSocket are ignored."""
        self._is_receiving = True
        self._received = len(data)
        self._max_head_bytes += len(data)
        try:
            self.parser.feed_data(data)
        except HttpParserError as error:
            self.logger.warning("Invalid HTTP request received.")
            self._refuse_invalid(error.__context__)
        except HttpParserUpgrade as upgrade:
            if self._should_upgrade():
                self.handle_websocket_upgrade()
            elif self._is_upgrade:
                self._parse_without_upgrade(data[upgrade.args[0] :])
        else:
            if self._is_receiving:
                self._limit_incomplete_request(len(data))

    def _limit_incomplete_request(self, received: int) -> None:
        if self._request_timer is None:
            self._start_request_timer()
        try:
            if self._is_in_head:
                self._head_bytes += received
                self._limiter.check_incomplete_head(self._head_bytes)
            else:
                self._limiter.check_head(self.url, self.headers)  # with the trailers of a chunked body
        except HeadersTooLarge as error:
            self._refuse_invalid(error)

    def _parse_without_upgrade(self, rest: bytes) -> None:
        """
        Parse the request again without its `Upgrade` header: the parser stops at it and does not read the body.

        Java's HTTP client and `curl --http2` send `Upgrade: h2c` with their first request.
        """
        lines = [b"%b: %b\r\n" % header for header in self.headers if header[0] != b"upgrade"]
        head = b"%b %b HTTP/1.1\r\n%b\r\n" % (self.parser.get_method(), self.url, b"".join(lines))
        self.parser = HttpRequestParser(self)
        self.data_received(head + rest)

    def handle_websocket_upgrade(self) -> None:
        self._unset_keepalive_if_required()
        self._stop_request_timer()
        self._limiter.unread_output.remove(address_of(self.client), self._unread)
        super().handle_websocket_upgrade()

    def on_message_begin(self) -> None:
        self.url, self.headers, self.expect_100_continue = b"", [], False

    def on_headers_complete(self) -> None:
        """As in uvicorn, but with our own cycle, and the URL is not parsed again if it is that of the last request."""
        self._check_head()
        parser = self.parser
        version, method = parser.get_http_version(), parser.get_method()
        scope: dict[str, Any] = {
            "type": "http",
            "asgi": ASGI,
            "http_version": version,
            "server": self.server,
            "client": self.client,
            "scheme": self.scheme,
            "method": method.decode("ascii"),
            "root_path": "",
            "headers": self.headers,
            "state": self.app_state.copy(),
        }
        self.scope = scope  # type: ignore[assignment]  # it has what uvicorn reads of it
        self._is_upgrade = parser.should_upgrade() and (method != b"CONNECT" or self._should_upgrade())
        if self._is_upgrade:
            return
        if self.url != self._parsed_url:
            self._target, self._parsed_url = target_of(self.url), self.url
        scope["path"], scope["raw_path"], scope["query_string"] = self._target
        keep_alive = version != "1.0" and parser.should_keep_alive() and not self._is_stopping
        self._start_cycle(RequestCycle(self, self._writer, scope, keep_alive))

    def _check_head(self) -> None:
        max_bytes, self._max_head_bytes = self._max_head_bytes, self._received
        self._is_in_head, self._head_bytes = False, 0
        self._headers = len(self.headers)
        if not self._limiter.is_small_head(max_bytes, self._headers):
            self._limiter.check_head(self.url, self.headers)

    def _start_cycle(self, cycle: RequestCycle) -> None:
        earlier, self.cycle = self.cycle, cycle
        if earlier is None or earlier.response_complete:
            self._start_asgi_task(cycle, self.app)
            return
        while self._earlier and self._earlier[0].response_complete:
            self._earlier.popleft()
        self._earlier.append(earlier)
        self.flow.pause_reading()
        self.pipeline.appendleft((cycle, self.app))

    def on_body(self, body: bytes) -> None:
        if not self.cycle.response_complete:
            self.cycle.add_body(body)

    def on_message_complete(self) -> None:
        self._is_receiving, self._is_in_head = False, True
        if self._request_timer is not None:
            self._stop_request_timer()
        if self._is_upgrade:
            return
        if len(self.headers) > self._headers:  # trailers of a chunked body
            self._limiter.check_head(self.url, self.headers)
        self.cycle.end_body()
        if self.cycle.response_complete:  # it did not wait for the end of the body
            self._start_idle_time()

    def on_response_complete(self) -> None:
        """As in uvicorn, but without a new timer for each response."""
        self.server_state.total_requests += 1
        if self.transport.is_closing():
            return
        self.flow.resume_reading()
        if self.pipeline:
            self._start_asgi_task(*self.pipeline.pop())
        else:
            self._start_idle_time()

    def _start_idle_time(self) -> None:
        """A request does not stop the timer: when it fires, it is set for the rest of the time."""
        self._idle_until = self.loop.time() + self.timeout_keep_alive
        if self.timeout_keep_alive_task is None:
            self._set_idle_timer(self.timeout_keep_alive)

    def _set_idle_timer(self, seconds: float) -> None:
        self.timeout_keep_alive_task = self.loop.call_later(seconds, self.timeout_keep_alive_handler)

    def timeout_keep_alive_handler(self) -> None:
        self.timeout_keep_alive_task = None
        if self._is_receiving or not self._is_idle():  # the request timer applies, or no time limit
            return
        remaining = self._idle_until - self.loop.time()
        if remaining > 0:
            self._set_idle_timer(remaining)
        else:
            super().timeout_keep_alive_handler()

    def shutdown(self) -> None:
        """Called by uvicorn when it stops. Requests that have begun, or arrive in the next moment, are answered."""
        announce_stop(self.app_state)
        self._is_stopping = True
        if self._is_idle():
            self.loop.call_later(SHUTDOWN_IDLE_SECONDS, self._close_if_idle)
        else:
            self.cycle.keep_alive = False

    def _is_idle(self) -> bool:
        return self.cycle is None or self.cycle.response_complete

    def _close_if_idle(self) -> None:
        if self._is_idle():
            self.transport.close()

    def _start_request_timer(self) -> None:
        self._request_timer = self.loop.call_later(self._limiter.request_seconds, self._request_timed_out)

    def _stop_request_timer(self) -> None:
        if self._request_timer is not None:
            self._request_timer.cancel()
            self._request_timer = None

    def _request_timed_out(self) -> None:
        if self._is_idle() if self._is_in_head else not self.cycle.response_started:
            seconds = self._limiter.request_seconds
            self._refuse(408, Code.TIMED_OUT, f"the request was not complete within {seconds:g} seconds")
        else:
            self.transport.close()

    def _refuse_invalid(self, reason: BaseException | None) -> None:
        if isinstance(reason, HeadersTooLarge):
            self._refuse(reason.status, Code.HEADERS_TOO_LARGE, str(reason))
        else:
            self._refuse(400, Code.BAD_REQUEST, "this is not HTTP")

    def _refuse(self, status: int, code: Code, reason: str) -> None:
        self.transport.write(error_response(status, Refused(code, reason)))
        self.transport.close()


def target_of(url: bytes) -> tuple[str, bytes, bytes]:
    """
    The path of a URL without and with its percent-encoding, and the query string.

    Raises:
        HttpParserInvalidURLError: it has no path.
    """
    parsed = parse_url(url)
    return unquote(parsed.path.decode("ascii")), parsed.path, parsed.query or b""


class LimitedWebSocket(WebSocketsSansIOProtocol):
    """A WebSocket connection. `LimitedHttp` has admitted it before the upgrade."""

    def __init__(self, limiter: ConnectionLimiter, **given: Any) -> None:
        super().__init__(**given)
        self._limiter = limiter
        self._pings = MessageRate(MAX_PINGS)

    def connection_made(self, transport: Transport) -> None:  # type: ignore[override]  # as in uvicorn
        super().connection_made(transport)
        self._unread = self._limiter.unread_output.add(address_of(self.client), transport)

    def connection_lost(self, exc: Exception | None) -> None:
        self._limiter.slow_clients.remove(self.transport)
        self._limiter.unread_output.remove(address_of(self.client), self._unread)
        self._limiter.release(address_of(self.client))
        super().connection_lost(exc)

    def shutdown(self) -> None:
        """Called by uvicorn when it stops. The application sees a disconnect, answers and closes the WebSocket."""
        if self.handshake_complete and not self.close_sent and STOPPING in self.app_state:
            announce_stop(self.app_state)
            self.close_timeout = SHUTDOWN_CLOSE_SECONDS
            self.queue.put_nowait({"type": "websocket.disconnect", "code": CloseCode.SERVICE_RESTART})
        else:
            super().shutdown()

    async def send(self, message: Any) -> None:
        """
        Raises:
            Refused: too many bytes wait to be read already; nothing was sent.
        """
        await self._unread.send(len(message.get("text") or ""), partial(super().send, message))

    def handle_ping(self) -> None:
        if self._pings.is_exceeded():
            self._fail(f"more than {MAX_PINGS} pings a second")
        super().handle_ping()

    def handle_cont(self, event: Frame) -> None:
        super().handle_cont(event)
        if len(self.frames) > MAX_FRAGMENTS:
            self._fail(f"a message of more than {MAX_FRAGMENTS} fragments")

    def _fail(self, reason: str) -> None:
        if not self.close_sent:
            self.conn.fail(CloseCode.POLICY_VIOLATION, reason)
            self.transport.write(b"".join(self.conn.data_to_send()))
            self.close_sent = True
            self.transport.close()
