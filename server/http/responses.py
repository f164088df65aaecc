"""Sends the responses of one connection: within the limit of unread output, and each part with one write."""

from asyncio import Transport
from functools import partial

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from server.http.unread_output import SMALL, UnreadOfConnection


async def run(
    application: ASGIApp,
    writer: "ResponseWriter",
    unread: UnreadOfConnection,
    scope: Scope,
    receive: Receive,
    send: Send,
) -> None:
    """Run the application for one request of a connection; the `send` of uvicorn writes to `writer`."""
    await application(scope, receive, LimitedSend(send, writer, unread))


class LimitedSend:
    """
    ASGI's `send` of one request, with the limit of unread output.

    The start of the response is held back until the first part of its body is accepted: another response, with the
    error, can be sent in place of a refused one.
    """

    __slots__ = ("_send", "_start", "_unread", "_writer")

    def __init__(self, send: Send, writer: "ResponseWriter", unread: UnreadOfConnection) -> None:
        self._send, self._writer, self._unread = send, writer, unread
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
        else:
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
