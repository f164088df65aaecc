"""WebSockets as uvicorn serves them, within bounds: pings, fragments, and how they end when we stop."""

from asyncio import Transport
from typing import Any

from uvicorn.protocols.websockets.websockets_sansio_impl import WebSocketsSansIOProtocol
from websockets.frames import CloseCode, Frame

from engine.shutdown import STOPPING, tell
from engine.transports.messages import Closed
from engine.transports.websocket import Pace
from server.http_limits.connections import Door, address_of
from server.http_limits.unread_answers import SMALL

MOST_PINGS = 100  # a second
MOST_FRAGMENTS = 1_000
CLOSING = 1.0  # seconds that a socket's client has to close it, too, while we stop


class GuardedSocket(WebSocketsSansIOProtocol):
    """A connection that has become a WebSocket. It came through the door when it spoke HTTP."""

    def __init__(self, door: Door, **given: Any) -> None:
        super().__init__(**given)
        self._door = door
        self._pings = Pace(MOST_PINGS)

    def connection_made(self, transport: Transport) -> None:  # type: ignore[override]  # as uvicorn has it
        super().connection_made(transport)
        self._unread = self._door.outgoing.enter(address_of(self.client), transport)

    def connection_lost(self, exc: Exception | None) -> None:
        self._door.readers.forget(self.transport)
        self._door.outgoing.leave(address_of(self.client), self._unread)
        self._door.leave(address_of(self.client))
        super().connection_lost(exc)

    def shutdown(self) -> None:
        """What uvicorn calls when it stops: the application is told as if the client went, and closes the socket."""
        if self.handshake_complete and not self.close_sent and STOPPING in self.app_state:
            tell(self.app_state)
            self.close_timeout = CLOSING
            self.queue.put_nowait({"type": "websocket.disconnect", "code": CloseCode.SERVICE_RESTART})
        else:
            super().shutdown()

    async def send(self, message: Any) -> None:
        """
        Raises:
            Refused: too much waits to be read already; nothing was sent.
        """
        size = len(message.get("text") or "")
        if size <= SMALL:
            await super().send(message)
            return
        self._unread.check(size)
        await self._unread.sent(size, super().send(message))

    def handle_ping(self) -> None:
        try:
            self._pings.count()
        except Closed as closed:
            self._fail(closed.reason)
        super().handle_ping()

    def handle_cont(self, event: Frame) -> None:
        super().handle_cont(event)
        if len(self.frames) > MOST_FRAGMENTS:
            self._fail(f"a message of more than {MOST_FRAGMENTS} fragments")

    def _fail(self, reason: str) -> None:
        if not self.close_sent:
            self.conn.fail(CloseCode.POLICY_VIOLATION, reason)
            self.transport.write(b"".join(self.conn.data_to_send()))
            self.close_sent = True
            self.transport.close()
