"""Sends the responses of one connection: within the limit of unread output, and each part with one write."""

import re
from asyncio import Transport
from collections.abc import Awaitable
from functools import partial
from itertools import chain
from typing import Any

from starlette.types import ASGIApp, Message, Receive, Scope, Send
from uvicorn.protocols.http.httptools_impl import STATUS_LINE, RequestResponseCycle

from server.http.unread_output import SMALL, UnreadOfConnection

LINE = b"%b: %b\r\n"  # of a header
PLAIN_HEAD = re.compile(  # its last header is the length; none of the others changes how the response is sent
    rb"(?:(?!(?:connection|content-length|transfer-encoding):)[a-z0-9-]+: [^\x00-\x08\x0a-\x1f\x7f]*\r\n)*"
    rb"content-length: ([0-9]{1,18})\r\n"
)


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
        self._cycle: RequestResponseCycle = send.__self__
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
    Send a response whose only part this is, by one look at its head: uvicorn's look at each header takes a twentieth of
    a page. False, and nothing is sent, for any other response or connection: uvicorn sends those.
    """
    if cycle.response_started or not cycle.keep_alive or cycle.disconnected or cycle.flow.write_paused:
        return False
    if message.get("more_body") or cycle.transport.is_closing():
        return False
    headers, body = [*cycle.default_headers, *start["headers"]], message.get("body", b"")
    head = LINE * len(headers) % tuple(chain.from_iterable(headers))
    found = PLAIN_HEAD.fullmatch(head)
    if found is None or int(found[1]) != len(body) or cycle.scope["method"] == "HEAD":
        return False
    if head.count(b"\n") != len(headers):  # else a value could be two headers
        return False
    cycle.response_started = cycle.response_complete = True
    cycle.transport.write(b"%b%b\r\n%b" % (STATUS_LINE[start["status"]], head, body))
    cycle.message_event.set()
    cycle.on_response()
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
