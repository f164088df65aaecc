"""
Sends the responses of one connection: within the limit of unread output, and each part with one write.

Unread output is what was sent to a client that has not read it yet. A cycle is a request with its response, in
uvicorn's words.
"""

import re
from asyncio import Transport
from collections.abc import Awaitable, Sequence
from functools import partial
from itertools import chain
from operator import itemgetter
from typing import Any

from starlette.types import ASGIApp, Message, Receive, Scope, Send
from uvicorn.protocols.http.httptools_impl import STATUS_LINE, RequestResponseCycle

from server.http.unread_output import SMALL, UnreadOfConnection

LINE = b"%b: %b\r\n"  # of a header: its name and its value
# the name of a header that does not change how a response is sent
PLAIN_NAME = re.compile(rb"(?!(?:connection|content-length|transfer-encoding)\Z)[a-z0-9-]+")
CONTROLS = bytes({*range(0x20), 0x7F} - {0x09})  # characters that no value has
NAME = itemgetter(0)  # of a header, which is a name and a value
MAX_NAMES = 100  # of headers, that `_plain_names` remembers


def run(
    application: ASGIApp,
    writer: "ResponseWriter",
    unread: UnreadOfConnection,
    scope: Scope,
    receive: Receive,
    send: Send,
) -> Awaitable[None]:
    """Run the application for one request of a connection; the `send` of uvicorn writes to `writer`."""
    return application(scope, receive, LimitedSend(send, writer, unread))


class LimitedSend:
    """
    ASGI's `send` of one request, with the limit of unread output.

    The start of the response is held back until the first part of its body is accepted: another response, with the
    error, can be sent in place of a refused one.
    """

    __slots__ = ("_cycle", "_send", "_start", "_unread", "_writer")

    def __init__(self, send: Any, writer: "ResponseWriter", unread: UnreadOfConnection) -> None:
        self._send, self._writer, self._unread = send, writer, unread
        self._cycle: RequestResponseCycle = send.__self__  # `send` is a method of the cycle
        self._start: Message | None = None

    async def __call__(self, message: Message) -> None:
        """
        Raises:
            Refused: too many bytes wait already; nothing of this message was sent.
        """
        if message["type"] == "http.response.start":
            self._start = message
            return
        size = len(message.get("body", b""))
        if size > SMALL:
            await self._unread.send(size, partial(self._forward, message))
        elif self._start is None or not send_whole(self._cycle, self._start, message):
            await self._forward(message)

    async def _forward(self, message: Message) -> None:
        """Send a message, and the held back start of the response before it, with one write."""
        self._writer.hold()
        try:
            if self._start is not None:
                start, self._start = self._start, None
                await self._send(start)
            await self._send(message)
        finally:
            self._writer.flush()


def send_whole(cycle: RequestResponseCycle, start: Message, message: Message) -> bool:
    """
    Send a response whose whole body is in `message`, and check its head at once: that uvicorn checks each header takes
    a twentieth of the CPU time of a page. False, and nothing is sent, for any other response or connection: uvicorn
    sends those.

    Its last header has to be the length, and none of the others may change how it is sent. `cycle` is what uvicorn has
    for a request and its response; `start` and `message` are the messages of ASGI with the head and the body.
    """
    if cycle.response_started or not cycle.keep_alive or cycle.disconnected or cycle.flow.write_paused:
        return False
    if message.get("more_body") or cycle.transport.is_closing():
        return False
    *others, last = [*cycle.default_headers, *start["headers"]] or [None]
    body = message.get("body", b"")
    if last != (b"content-length", b"%d" % len(body)) or cycle.scope["method"] == "HEAD":
        return False
    if not have_plain_names(others):
        return False
    head = LINE * (len(others) + 1) % (*chain.from_iterable(others), *last)
    # CR and LF at the end of each line, and no others: with more, a value could be two headers
    if len(head) - len(head.translate(None, CONTROLS)) != 2 * len(others) + 2:
        return False
    cycle.response_started = cycle.response_complete = True
    cycle.transport.write(b"%b%b\r\n%b" % (STATUS_LINE[start["status"]], head, body))
    cycle.message_event.set()
    cycle.on_response()
    return True


_plain_names: set[bytes] = set()  # that have matched `PLAIN_NAME`


def have_plain_names(headers: Sequence[tuple[bytes, bytes]]) -> bool:
    """Whether the names of headers are valid and in lower case, and none changes how a response is sent."""
    if _plain_names.issuperset(map(NAME, headers)):
        return True
    names = list(map(NAME, headers))
    if not all(map(PLAIN_NAME.fullmatch, names)):
        return False
    if len(_plain_names) < MAX_NAMES:
        _plain_names.update(names)
    return True


class ResponseWriter:
    """
    The transport that uvicorn writes responses to. After `hold`, writes wait for `flush`, which makes them one.

    uvicorn writes the head of a response and its body one after the other, which would be two system calls.
    """

    __slots__ = ("_held", "_is_holding", "_transport")

    def __init__(self, transport: Transport) -> None:
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
