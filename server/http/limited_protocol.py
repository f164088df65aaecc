"""
uvicorn's HTTP protocol with the limits that it lacks: connections, time and size of a request, unread output.

Requests are parsed, started and answered by uvicorn. `tests/test_private_names.py` lists the undocumented parts of
uvicorn that are used here, as another version may change them.
"""

import logging
from asyncio import TimerHandle, Transport, get_running_loop
from collections import deque
from functools import partial
from typing import Any

from httptools import HttpParserError, HttpParserUpgrade, HttpRequestParser
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol, RequestResponseCycle

from engine import Code
from engine.errors import Refused
from engine.interfaces import announce_stop
from server.http.connections import ConnectionLimiter, HeadTooLarge, address_of, error_response
from server.http.responses import ResponseWriter, run

SHUTDOWN_IDLE_SECONDS = 0.3  # an idle connection may still send a request while the server stops

logger = logging.getLogger("uvicorn.error")


class LimitedHttp(HttpToolsProtocol):
    """An HTTP connection, until it is upgraded to a WebSocket or closed."""

    def __init__(self, limiter: ConnectionLimiter, *, app_state: dict[str, Any], **given: Any) -> None:
        super().__init__(app_state=app_state, **given)
        self.timeout_keep_alive = limiter.idle_seconds  # type: ignore[assignment]  # uvicorn declares an int
        self._limiter = limiter
        self._state = app_state  # of the application's lifespan, with the event that says that the server stops
        self._request_timer: TimerHandle | None = None
        self._idle_timer: TimerHandle | None = None
        self._idle_since: float | None = None  # by the loop's clock; None while a request is received or answered
        self._is_admitted = self._is_stopping = False
        self._is_upgrade = False  # the request asks for an upgrade, which is ignored unless it is to a WebSocket
        # the first request is waited for
        self._is_receiving = self._is_in_head = True
        self._head_bytes = 0  # of an incomplete head, at least
        self._header_count = 0  # how many the request has, without trailers
        # A cycle is a request with its response, in uvicorn's words. The oldest is first; ended ones are removed late.
        self._cycles: deque[RequestResponseCycle] = deque()

    def connection_made(self, transport: Transport) -> None:  # type: ignore[override]  # as in uvicorn
        super().connection_made(transport)
        self._socket = transport
        self._address = address_of(transport)
        self._limiter.slow_clients.add(transport)
        self._unread = self._limiter.unread(self._address, transport)
        writer = ResponseWriter(transport)
        self.transport = writer  # type: ignore[assignment]  # it has the methods that are called
        self.app = partial(run, self.app, writer, self._unread)
        self._is_admitted = self._limiter.admit(self._address)
        if self._is_admitted:
            self._start_request_timer()
        else:
            self._refuse(503, Code.TOO_MANY_CONNECTIONS, "too many connections")

    def connection_lost(self, exc: Exception | None) -> None:
        self._stop_request_timer()
        self._stop_idle_timer()
        self._limiter.slow_clients.remove(self._socket)
        self._unread.remove()
        if self._is_admitted:
            self._limiter.release(self._address)
        for cycle in self._cycles:  # uvicorn tells only the last one, and a write to a closed transport fails
            cycle.disconnected = True
            cycle.message_event.set()
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        """As in uvicorn, but an incomplete request is limited, and other upgrades than to a WebSocket are ignored."""
        self._unset_keepalive_if_required()
        self._is_receiving = True
        try:
            if self._is_websocket_requested(memoryview(data)):
                self.handle_websocket_upgrade()
            elif self._is_receiving:
                self._limit_incomplete_request(len(data))
        except HttpParserError as error:
            logger.warning("Invalid HTTP request received.")
            self._refuse_invalid(error.__context__)
        except HeadTooLarge as error:
            self._refuse_invalid(error)

    def _is_websocket_requested(self, data: memoryview) -> bool:
        """
        Parse the data. A loop, because one read may have any number of requests with an upgrade that is ignored.

        Raises:
            HttpParserError: it is not HTTP, or too large.
        """
        while True:
            try:
                self.parser.feed_data(data)
                return False
            except HttpParserUpgrade as upgrade:
                if self._should_upgrade() or not self._is_upgrade:  # the parser also stops at CONNECT, no upgrade
                    return self._should_upgrade()
                data = data[upgrade.args[0] :]  # what follows the head
            self._begin_without_upgrade()

    def _begin_without_upgrade(self) -> None:
        """
        Parse the head of a request again without its `Upgrade` header, at which the parser stops. Its body follows.

        Java's HTTP client and `curl --http2` send `Upgrade: h2c` with their first request.
        """
        lines = [b"%b: %b\r\n" % header for header in self.headers if header[0] != b"upgrade"]
        head = b"%b %b HTTP/1.1\r\n%b\r\n" % (self.parser.get_method(), self.url, b"".join(lines))
        self.parser = HttpRequestParser(self)
        self.parser.feed_data(head)

    def _limit_incomplete_request(self, received: int) -> None:
        """
        Raises:
            HeadTooLarge: the head exceeds a limit already.
        """
        if self._request_timer is None:
            self._start_request_timer()
        if self._is_in_head:
            self._head_bytes += received
            self._limiter.check_incomplete_head(self._head_bytes)
        else:
            self._limiter.check_head(self.url, self.headers)  # with the trailers of a chunked body

    def handle_websocket_upgrade(self) -> None:
        self._stop_request_timer()
        self._stop_idle_timer()
        self._unread.remove()
        self.transport = self._socket
        super().handle_websocket_upgrade()

    def on_headers_complete(self) -> None:
        """Called by the parser. uvicorn starts the request, or queues it behind earlier ones of the connection."""
        self._limiter.check_head(self.url, self.headers)
        self._is_receiving, self._is_in_head = True, False
        self._head_bytes, self._header_count = 0, len(self.headers)
        self._is_upgrade = self.parser.should_upgrade() and (
            self.parser.get_method() != b"CONNECT" or self._should_upgrade()
        )
        if self._is_upgrade and not self._should_upgrade():
            return  # the head is parsed again
        super().on_headers_complete()
        if not self._is_upgrade:
            self._add_cycle(self.cycle)

    def _add_cycle(self, cycle: RequestResponseCycle) -> None:
        while self._cycles and self._cycles[0].response_complete:
            self._cycles.popleft()
        self._cycles.append(cycle)
        if self._is_stopping:
            cycle.keep_alive = False

    def on_message_complete(self) -> None:
        """Called by the parser."""
        self._is_receiving, self._is_in_head = False, True
        self._stop_request_timer()
        if self._is_upgrade:
            return
        if len(self.headers) > self._header_count:  # trailers of a chunked body
            self._limiter.check_head(self.url, self.headers)
        super().on_message_complete()
        if self.cycle.response_complete:  # the response did not wait for the end of the body
            self._become_idle()

    def on_response_complete(self) -> None:
        """As in uvicorn, but without a new timer for each response: that takes a fiftieth of the CPU time of a page."""
        if self.pipeline or self._socket.is_closing():
            super().on_response_complete()
        else:
            self.flow.resume_reading()
            self._become_idle()

    def _become_idle(self) -> None:
        self._idle_since = self.loop.time()
        if self._idle_timer is None:
            self._idle_timer = self.loop.call_later(self.timeout_keep_alive, self._check_idle)

    def _unset_keepalive_if_required(self) -> None:
        """Called when data arrive, here and in uvicorn. The timer stays: it looks whether the connection is idle."""
        self._idle_since = None

    def _check_idle(self) -> None:
        """Close the connection if it was idle long enough; if it became idle later, look again then."""
        self._idle_timer = None
        if self._idle_since is None:
            return
        left = self._idle_since + self.timeout_keep_alive - self.loop.time()
        if left > 0:
            self._idle_timer = self.loop.call_later(left, self._check_idle)
        else:
            self.timeout_keep_alive_handler()

    def _stop_idle_timer(self) -> None:
        if self._idle_timer is not None:
            self._idle_timer.cancel()
            self._idle_timer = None

    def timeout_keep_alive_handler(self) -> None:
        if self._is_answered() and not self._is_receiving:  # else the request timer applies, or no time limit
            super().timeout_keep_alive_handler()

    def shutdown(self) -> None:
        """Called by uvicorn when it stops. Requests that have begun, or arrive in the next moment, are answered."""
        announce_stop(self._state)
        self._is_stopping = True
        if self._is_answered():
            get_running_loop().call_later(SHUTDOWN_IDLE_SECONDS, super().shutdown)
        else:
            super().shutdown()

    def _is_answered(self) -> bool:
        return all([cycle.response_complete for cycle in self._cycles])

    def _start_request_timer(self) -> None:
        self._request_timer = get_running_loop().call_later(self._limiter.request_seconds, self._request_timed_out)

    def _stop_request_timer(self) -> None:
        if self._request_timer is not None:
            self._request_timer.cancel()
            self._request_timer = None

    def _request_timed_out(self) -> None:
        """A request that waits for earlier ones of its connection gets more time: it was not read meanwhile."""
        incomplete = None if self._is_in_head else self.cycle
        if not all(cycle is incomplete or cycle.response_complete for cycle in self._cycles):
            self._start_request_timer()
        elif incomplete is not None and incomplete.response_started:
            self._socket.close()
        else:
            seconds = self._limiter.request_seconds
            self._refuse(408, Code.TIMED_OUT, f"the request was not complete within {seconds:g} seconds")

    def _refuse_invalid(self, reason: BaseException | None) -> None:
        if isinstance(reason, HeadTooLarge):
            self._refuse(reason.status, Code.HEADERS_TOO_LARGE, str(reason))
        else:
            self._refuse(400, Code.BAD_REQUEST, "this is not HTTP")

    def _refuse(self, status: int, code: Code, reason: str) -> None:
        self._socket.write(error_response(status, Refused(code, reason)))
        self._socket.close()
