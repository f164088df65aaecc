"""
uvicorn's response cycle with the limit of unread output. It writes a response of one body itself, which takes 2 us of
CPU less than uvicorn's two writes and their regular expressions (bench/RESULTS.md).
"""

from asyncio import Transport
from functools import lru_cache, partial
from typing import Any, TypeAlias

from starlette.types import Message
from uvicorn.protocols.http.httptools_impl import STATUS_LINE, RequestResponseCycle

from server.http_limits.unread_output import SMALL, UnreadOfConnection

# Characters that uvicorn refuses in the name and in the value of a header.
NOT_IN_NAMES = bytes(range(33)) + b'()<>@,;:[]={}\\"\x7f'
NOT_IN_VALUES = bytes([*range(9), *range(10, 32), 127])

Header: TypeAlias = tuple[bytes, bytes]


class ResponseCycle(RequestResponseCycle):
    """
    A request and its response, limited by what waits on its connection. Its transport is a `ResponseWriter`.

    The start of the response is held back until the first part of its body is accepted: another response, with the
    error, can be sent in place of a refused one. A response that is usual is one write, any other is left to uvicorn.
    """

    transport: "ResponseWriter"  # type: ignore[assignment]  # it has the methods that are called
    _start: Message | None = None

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
        head = self._usual_head(message, len(body))
        if head is not None:
            self._send_whole(head, body)
        elif len(body) > SMALL:
            await self.transport.unread.send(len(body), partial(self._forward, message))
        else:
            await self._forward(message)

    def _usual_head(self, message: Message, size: int) -> bytes | None:
        if message["type"] != "http.response.body" or message.get("more_body", False) or self._start is None:
            return None
        if self.disconnected or not self.keep_alive or self.transport.is_closing():
            return None
        if self.flow.write_paused or self.access_log or self.scope["method"] == "HEAD":
            return None
        return usual_head(self._start, self.default_headers, size)

    def _send_whole(self, head: bytes, body: bytes) -> None:
        if len(body) > SMALL:
            self.transport.unread.check(len(body))
        self.response_started = self.response_complete = True
        self.waiting_for_100_continue = False
        self.transport.write(head + body)
        self.message_event.set()
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


def usual_head(start: Message, default_headers: list[Header], size: int) -> bytes | None:
    """
    The head of a response whose Content-Length is `size`. `None` if a header is repeated, has a meaning for the
    connection, or may not be sent.
    """
    if not isinstance(start.get("headers"), list):
        return None
    headers = default_headers + start["headers"]
    values = dict(headers)
    if values.get(b"content-length") != b"%d" % size or len(values) < len(headers) or not are_usual(tuple(values)):
        return None
    lines = b"\r\n".join([b": ".join(header) for header in headers])
    refused = len(lines) - len(lines.translate(None, NOT_IN_VALUES)) - len(b"\r\n") * (len(headers) - 1)
    return None if refused else b"%b%b\r\n\r\n" % (STATUS_LINE[start["status"]], lines)


@lru_cache(maxsize=1_000)
def are_usual(names: tuple[bytes, ...]) -> bool:
    joined = b"".join(names)
    has_allowed_characters = joined.islower() and joined.translate(None, NOT_IN_NAMES) == joined
    return has_allowed_characters and b"connection" not in names and b"transfer-encoding" not in names


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
