"""
uvicorn's WebSocket protocol with the limits that it lacks: unread output, pings, fragments of a message.

It also takes the text of a message in parts, under the key `TEXT_PARTS`: an event that is encoded once is sent to many
WebSockets, each with its own id around it.
"""

from asyncio import Transport
from functools import partial
from typing import Any

from uvicorn.protocols.websockets.websockets_sansio_impl import WebSocketsSansIOProtocol
from websockets.frames import CloseCode, Frame
from websockets.http11 import Request
from websockets.protocol import State

from engine.interfaces import STOPPING, TEXT_PARTS, announce_stop
from engine.websocket import MessageRate
from server.http.connections import ConnectionLimiter, address_of
from server.http.unread_output import SMALL

SHUTDOWN_CLOSE_SECONDS = 1.0  # for a client to answer the close frame while the server stops
MAX_PINGS = 100  # of a client, in a second
MAX_FRAGMENTS = 1_000  # of a message
SHORT_FRAME = 126  # bytes: from here on the length of a frame takes two bytes more


class LimitedWebSocket(WebSocketsSansIOProtocol):
    """A WebSocket connection. `LimitedHttp` has admitted it before the upgrade."""

    def __init__(self, limiter: ConnectionLimiter, *, app_state: dict[str, Any], **given: Any) -> None:
        super().__init__(app_state=app_state, **given)
        self._limiter = limiter
        self._state = app_state
        self._pings = MessageRate(MAX_PINGS)

    def connection_made(self, transport: Transport) -> None:  # type: ignore[override]  # uvicorn expects one, too
        super().connection_made(transport)
        self._socket = transport
        self._address = address_of(transport)
        self._unread = self._limiter.unread(self._address, transport)

    def connection_lost(self, exc: Exception | None) -> None:
        self._limiter.slow_clients.remove(self._socket)  # `LimitedHttp` has added it
        self._unread.remove()
        self._limiter.release(self._address)
        super().connection_lost(exc)

    def shutdown(self) -> None:
        """
        Called by uvicorn when it stops. An application with an event STOPPING in its state sees a disconnect, answers
        and closes the WebSocket; for any other, uvicorn closes it.
        """
        if self.handshake_complete and not self.close_sent and STOPPING in self._state:
            announce_stop(self._state)
            self.close_timeout = SHUTDOWN_CLOSE_SECONDS
            self.queue.put_nowait({"type": "websocket.disconnect", "code": CloseCode.SERVICE_RESTART})
        else:
            super().shutdown()

    def handle_connect(self, event: Request) -> None:
        super().handle_connect(event)
        if not self.close_sent:  # else uvicorn has refused the handshake
            self.scope["extensions"][TEXT_PARTS] = {}  # in time: the task of the application has not begun yet

    async def send(self, message: Any) -> None:
        """
        Raises:
            Refused: too many bytes wait to be read already; nothing was sent.
        """
        if TEXT_PARTS not in message:
            await self._unread.send(len(message.get("text") or ""), partial(super().send, message))
            if message["type"] == "websocket.accept":
                self.request.headers.clear()  # frees some kB: the parser refers to them, but nobody needs them any more
                self.response.headers.clear()
            return
        parts = message[TEXT_PARTS]
        size = sum(map(len, parts))
        can_write = self.writable.is_set() and not (self.disconnected or self.close_sent)
        if size > SMALL or not can_write or self.conn.state is not State.OPEN:
            text = b"".join(parts).decode()
            await self._unread.send(size, partial(super().send, {"type": "websocket.send", "text": text}))
        else:
            # `_unread` does not check a small text, and uvicorn neither waits nor raises: the frame is written at once,
            # with less work for each of many WebSockets that get the same event.
            self.transport.write(b"".join((text_head(size), *parts)))

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
            self._socket.write(b"".join(self.conn.data_to_send()))
            self.close_sent = True
            self._socket.close()


def text_head(size: int) -> bytes:
    """
    The head of a text of one frame, which a server does not mask, of less than 65,536 bytes (RFC 6455, 5.2): 0x81 for
    the only frame of a text, and its length; 0x7e says that the length follows in two bytes.
    """
    return b"\x81%c" % size if size < SHORT_FRAME else b"\x81\x7e" + size.to_bytes(2)
