"""
A link to one Redis server: one socket that everything of a process shares, commands out in one write, replies in order.

redis-py makes the connection, with all that its URLs allow; then the socket is read by hiredis alone, which takes a
tenth of the time that redis-py's pipelines do (see bench).
"""

import asyncio
from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import hiredis
from redis.asyncio.connection import AbstractConnection, ConnectionPool

from store.errors import StoreUnavailable

Argument = str | int | float
Command = tuple[Argument, ...]

TIMEOUT = 5.0  # seconds, for a connection and for a reply


@dataclass(slots=True)
class Batch:
    """Commands that were sent together, and the replies to them so far."""

    size: int
    done: "asyncio.Future[list[Any]]"
    replies: list[Any] = field(default_factory=list)


class Link(asyncio.Protocol):
    def __init__(self, writer: asyncio.StreamWriter) -> None:
        self._writer = writer  # closes the socket when it is forgotten
        self._transport = writer.transport
        self._transport.set_protocol(self)
        self._loop = asyncio.get_running_loop()
        self._reader = hiredis.Reader(encoding="utf-8", errors="surrogateescape")  # verify reads keys that are no text
        self._waiting: deque[Batch] = deque()
        self._alarm: asyncio.TimerHandle | None = None
        self.is_open = True

    async def send(self, commands: Sequence[Command]) -> list[Any]:
        """
        The replies to commands, in order, errors among them. An empty batch sends nothing and waits for nothing.

        Raises:
            StoreUnavailable: the server closed the socket, or did not answer in time.
        """
        if not commands:
            return []
        batch = Batch(len(commands), self._loop.create_future())
        self._waiting.append(batch)
        self._transport.write(b"".join([hiredis.pack_command(command) for command in commands]))  # type: ignore[arg-type]  # its stubs say less than it takes
        if self._alarm is None:
            self._alarm = self._loop.call_later(TIMEOUT, self._check, batch)
        return await batch.done

    def data_received(self, data: bytes) -> None:
        self._reader.feed(data)
        while self._waiting:
            batch = self._waiting[0]
            while len(batch.replies) < batch.size:
                reply = self._reader.gets()
                if reply is False:
                    return
                batch.replies.append(reply)
            self._waiting.popleft()
            if not batch.done.done():  # whoever asked may have gone
                batch.done.set_result(batch.replies)

    def connection_lost(self, error: Exception | None) -> None:
        self.is_open = False
        if self._alarm:
            self._alarm.cancel()
        while self._waiting:
            batch = self._waiting.popleft()
            if not batch.done.done():
                batch.done.set_exception(StoreUnavailable("the store does not answer"))

    def close(self) -> None:
        self.is_open = False
        self._transport.abort()

    def _check(self, oldest: Batch) -> None:
        """Give up when what was oldest a timeout ago still waits."""
        self._alarm = None
        if oldest in self._waiting:
            self.close()
        elif self._waiting:
            self._alarm = self._loop.call_later(TIMEOUT, self._check, self._waiting[0])


async def connected(pool: ConnectionPool) -> Link:
    """
    A new link, made as the pool makes its connections.

    Raises:
        StoreUnavailable: nothing answers there.
    """
    connection: AbstractConnection = pool.make_connection()  # type: ignore[no-untyped-call]  # untyped there
    await connection.connect()  # type: ignore[no-untyped-call]  # untyped there
    writer, connection._writer, connection._reader = connection._writer, None, None
    assert writer is not None, "connected just now"
    return Link(writer)
