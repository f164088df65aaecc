"""A request and its response as uvicorn carries them, but for bodies and answers that are there as a whole."""

from asyncio import Event
from typing import Any

from uvicorn.protocols.http.flow_control import HIGH_WATER_LIMIT
from uvicorn.protocols.http.httptools_impl import STATUS_LINE, HttpToolsProtocol, RequestResponseCycle

from server.http_limits.unread_answers import SMALL, Unread

CONTROLS = bytes({*range(32), 127} - {ord("\t")})  # which no header may hold
COPIED = 32_768  # bytes of a body that are sooner copied behind their head than written as a second piece
BODILESS = (204, 304)
STAYING, CLOSING = b"\r\n\r\n", b"\r\nconnection: close\r\n\r\n"  # how a head ends


class Cycle(RequestResponseCycle):
    """
    Holds the head of a response back until the first of its body is there, and writes a whole one at once.

    Each write is a system call, and costs more than all that is done here.
    """

    disconnected = response_started = response_complete = False
    more_body = True
    chunked_encoding: bool | None = None
    expected_content_length = 0

    _start: dict[str, Any] | None = None
    _event: Event | None = None
    _has_news = False
    _waiting = 0  # bytes of the body

    def __init__(self, scope: Any, connection: HttpToolsProtocol, keep_alive: bool, unread: Unread) -> None:
        """As uvicorn's, which is not called: what all requests begin with is above, and few need an event."""
        self.scope = scope
        self.keep_alive = keep_alive
        self.waiting_for_100_continue = connection.expect_100_continue
        self.transport = connection.transport
        self.flow = connection.flow
        self.logger = connection.logger
        self.access_logger = connection.access_logger
        self.access_log = connection.access_log
        self.default_headers = connection.server_state.default_headers
        self._unread = unread
        self.on_response = connection.on_response_complete
        self._pieces: list[bytes] = []

    @property
    def message_event(self) -> Event:  # type: ignore[override]  # uvicorn makes one for each
        """What wakes who waits in `receive`. Most never wait: their body comes with their headers."""
        if self._event is None:
            self._event = Event()
        return self._event

    def add(self, piece: bytes) -> None:
        """Take in a piece of the request's body."""
        self._pieces.append(piece)
        self._waiting += len(piece)
        if self._waiting > HIGH_WATER_LIMIT:
            self.flow.pause_reading()
        self._wake()

    def end(self) -> None:
        """The request's body is whole."""
        self.more_body = False
        self._wake()

    def _wake(self) -> None:
        self._has_news = True
        if self._event is not None:
            self._event.set()

    async def receive(self) -> Any:
        if self.waiting_for_100_continue and not self.transport.is_closing():
            self.transport.write(b"HTTP/1.1 100 Continue\r\n\r\n")
            self.waiting_for_100_continue = False
        while not (self.disconnected or self.response_complete):
            self.flow.resume_reading()
            if self._has_news:
                return self._request()
            self.message_event.clear()
            await self.message_event.wait()
        return {"type": "http.disconnect"}

    def _request(self) -> dict[str, Any]:
        """All of the body that nobody has read yet."""
        body = b"".join(self._pieces)
        self._pieces.clear()
        self._has_news, self._waiting = False, 0
        return {"type": "http.request", "body": body, "more_body": self.more_body}

    async def send(self, message: Any) -> None:
        """
        Raises:
            Refused: too much waits to be read already; of this message nothing was sent.
        """
        start = self._start
        if start is None and message["type"] == "http.response.start" and not self.response_started:
            self._start = message
            return
        self._start = None
        body = message.get("body", b"")
        if len(body) > SMALL:
            self._unread.check(len(body))
        if start and not message.get("more_body") and (head := self._head_of_whole(start, len(body))):
            self._write_whole(head, body)
        elif len(body) > SMALL:
            await self._unread.sent(len(body), self._send_parts(start, message))
        else:
            await self._send_parts(start, message)

    async def _send_parts(self, start: Any, message: Any) -> None:
        if start:
            await super().send(start)
        await super().send(message)

    def _head_of_whole(self, start: dict[str, Any], size: int) -> bytes | None:
        """The head of a response whose body has so many bytes; None where anything is out of the ordinary."""
        status, headers = start["status"], start["headers"]
        if (b"content-length", b"%d" % size) not in headers and (size or status not in BODILESS):
            return None
        if self.disconnected or self.flow.write_paused or self.access_log or self.scope["method"] == "HEAD":
            return None
        fields = [b": ".join(header) for header in (*self.default_headers, *headers)]
        lines = b"\r\n".join(fields)
        if lines.find(b"connection:") >= 0:  # whoever says so decides; twice as fast as `in`
            return None
        if len(lines) - len(lines.translate(None, CONTROLS)) != (len(fields) - 1) * len(b"\r\n"):
            return None
        return b"%b%b%b" % (STATUS_LINE[status], lines, STAYING if self.keep_alive else CLOSING)

    def _write_whole(self, head: bytes, body: bytes) -> None:
        if len(body) <= COPIED:
            self.transport.write(head + body)
        else:
            self.transport.writelines((head, body))
        self.response_started = self.response_complete = True
        self.waiting_for_100_continue = False
        if self._event is not None:
            self._event.set()
        if not self.keep_alive:
            self.transport.close()
        self.on_response()
