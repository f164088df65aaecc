"""
A request and its response, in place of uvicorn's `RequestResponseCycle`, with the limit of unread output.

It reads the body of a request and writes a response of one body itself, because uvicorn's way would make short queries
1.17 times as dear as they were with a parser of our own (bench/RESULTS.md). Any other response is left to uvicorn.
"""

from asyncio import Event, Transport
from functools import lru_cache, partial
from typing import Any, TypeAlias

from starlette.types import Message
from uvicorn.protocols.http.flow_control import HIGH_WATER_LIMIT
from uvicorn.protocols.http.httptools_impl import STATUS_LINE, HttpToolsProtocol, RequestResponseCycle

from server.http_limits.unread_output import SMALL, UnreadOfConnection

# Characters that uvicorn refuses in the name and in the value of a header.
NOT_IN_NAMES = bytes(range(33)) + b'()<>@,;:[]={}\\"\x7f'
NOT_IN_VALUES = bytes([*range(9), *range(10, 32), 127])

Header: TypeAlias = tuple[bytes, bytes]


class RequestCycle(RequestResponseCycle):
    """
    Its transport is a `ResponseWriter`.

    The start of the response is held back until the first part of its body is accepted: another response, with the
    error, can be sent in place of a refused one.
    """

    transport: "ResponseWriter"  # type: ignore[assignment]  # it has the methods that are called
    disconnected = response_started = response_complete = False
    more_body = True
    chunked_encoding: bool | None = None
    expected_content_length = 0
    _unread = 0  # bytes of the parts
    _has_news = False  # a part, or the end of the body, that was not yet received
    _event: Event | None = None
    _start: Message | None = None

    def __init__(self, connection: HttpToolsProtocol, writer: "ResponseWriter", scope: Any, keep_alive: bool) -> None:
        """uvicorn's is not called, because it makes an event and a buffer for each request."""
        self.scope = scope
        self.keep_alive = keep_alive
        self.transport = writer
        self.flow = connection.flow
        self.logger = connection.logger
        self.access_logger = connection.access_logger
        self.access_log = connection.access_log
        self.default_headers = connection.server_state.default_headers
        self.waiting_for_100_continue = connection.expect_100_continue
        self.on_response = connection.on_response_complete
        self._parts: list[bytes] = []  # of the body, not yet received by the application

    @property
    def message_event(self) -> Event:  # type: ignore[override]  # an attribute in uvicorn
        """Wakes `receive`. Most requests need none, because their body arrives with their head."""
        if self._event is None:
            self._event = Event()
        return self._event

    def add_body(self, part: bytes) -> None:
        self._parts.append(part)
        self._unread += len(part)
        if self._unread > HIGH_WATER_LIMIT:
            self.flow.pause_reading()
        self._wake()

    def end_body(self) -> None:
        self.more_body = False
        self._wake()

    def _wake(self) -> None:
        self._has_news = True
        if self._event is not None:
            self._event.set()

    async def receive(self) -> Any:
        """ASGI's `receive`."""
        if self.waiting_for_100_continue and not self.transport.is_closing():
            self.transport.write(b"HTTP/1.1 100 Continue\r\n\r\n")
            self.waiting_for_100_continue = False
        while not (self.disconnected or self.response_complete):
            self.flow.resume_reading()
            if self._has_news:
                return self._received()
            self.message_event.clear()
            await self.message_event.wait()
        return {"type": "http.disconnect"}

    def _received(self) -> Message:
        body = b"".join(self._parts)
        self._parts.clear()
        self._has_news, self._unread = False, 0
        return {"type": "http.request", "body": body, "more_body": self.more_body}

    async def send(self, message: Any) -> None:
        """
        ASGI's `send`.

        Raises:
            Refused: too many bytes wait already; nothing of this message was sent.
        """
        if message["type"] == "http.response.start" and not self.response_started:
            self._start = message
            return
        body = message.get("body", b"")
        head = self._whole_head(message, len(body))
        if head is not None:
            self._send_whole(head, body)
        elif len(body) > SMALL:
            await self.transport.unread.send(len(body), partial(self._forward, message))
        else:
            await self._forward(message)

    def _whole_head(self, message: Message, size: int) -> bytes | None:
        """The head, if the message completes a response that is not left to uvicorn."""
        if message["type"] != "http.response.body" or message.get("more_body", False) or self._start is None:
            return None
        if self.disconnected or not self.keep_alive or self.transport.is_closing():
            return None
        if self.flow.write_paused or self.access_log or self.scope["method"] == "HEAD":
            return None
        return response_head(self._start, self.default_headers, size)

    def _send_whole(self, head: bytes, body: bytes) -> None:
        if len(body) > SMALL:
            self.transport.unread.check(len(body))
        self._start = None
        self.response_started = self.response_complete = True
        self.waiting_for_100_continue = False
        self.transport.write(head + body)
        self._wake()
        self.on_response()

    async def _forward(self, message: Message) -> None:
        self.transport.hold()
        try:
            if self._start is not None:
                start, self._start = self._start, None
                await super().send(start)  # type: ignore[arg-type]  # a message of the same type
            await super().send(message)  # type: ignore[arg-type]  # likewise
        finally:
            self.transport.flush()


def response_head(start: Message, default_headers: list[Header], size: int) -> bytes | None:
    """The head of a response whose Content-Length is `size`; None if it is left to uvicorn."""
    names, values = zip(*default_headers, *start.get("headers", ()), strict=True)
    template, length_at = head_template(start["status"], names)
    if not template or values[length_at] != b"%d" % size:
        return None
    joined = b"".join(values)
    return template % values if joined.translate(None, NOT_IN_VALUES) == joined else None


@lru_cache(maxsize=1_000)
def head_template(status: int, names: tuple[bytes, ...]) -> tuple[bytes, int]:
    """
    The head of a response with a placeholder for the value of each header, and the place of Content-Length among them.

    The template is empty unless each name may be sent, and only Content-Length has a meaning for the connection.
    """
    joined = b"".join(names)
    is_allowed = joined.islower() and joined.translate(None, NOT_IN_NAMES) == joined
    if not is_allowed or names.count(b"content-length") != 1 or {b"connection", b"transfer-encoding"} & {*names}:
        return b"", 0
    lines = [name.replace(b"%", b"%%") + b": %b\r\n" for name in names]
    return STATUS_LINE[status] + b"".join(lines) + b"\r\n", names.index(b"content-length")


class ResponseWriter:
    """
    The transport that responses are written to. After `hold`, writes wait for `flush`, which makes them one.

    uvicorn writes the head of a response and its body one after the other, which would be two system calls.
    """

    __slots__ = ("_held", "_is_holding", "_transport", "unread")

    def __init__(self, transport: Transport, unread: UnreadOfConnection) -> None:
        self.unread = unread
        self._transport = transport
        self._is_holding = False
        self._held: list[bytes] = []

    def hold(self) -> None:
        self._is_holding = True

    def write(self, data: bytes) -> None:
        if self._is_holding:
            self._held.append(data)
        else:
            self._transport.write(data)

    def flush(self) -> None:
        held, self._held, self._is_holding = self._held, [], False
        if held and not self._transport.is_closing():
            self._transport.write(b"".join(held))

    def close(self) -> None:
        self.flush()
        self._transport.close()

    def is_closing(self) -> bool:
        return self._transport.is_closing()
