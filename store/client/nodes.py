"""A client of one server, which connects when it is first used and after the connection was lost."""

import asyncio
from collections.abc import Callable, Coroutine, Sequence
from time import monotonic
from typing import Any, Protocol

from store.client.commands import Command
from store.client.connection import Connection, lost_replies
from store.client.errors import Unreachable
from store.client.tracking_cache import TrackingCache

Connect = Callable[[], Coroutine[Any, Any, Connection]]


class Server(Protocol):
    """One server, or several that act as one."""

    def send(self, commands: Sequence[Command]) -> Coroutine[Any, Any, list[Any]]:
        """The replies to commands, in order, errors among them; all LOST if no server answers."""

    async def primaries(self) -> "Sequence[Server]":
        """The servers that together hold all keys."""

    def cache(self, key: str) -> TrackingCache | None:
        """The cache of the connection to the server that has a key, if there is one."""

    def mark_stale(self, since: float) -> None:
        """Find out again which server to use, unless that was done after an instant of the monotonic clock."""

    def close(self) -> None:
        """Close all connections. The next use opens them again."""


class NodeClient:
    """One server over one connection. All tasks that need it while it is being opened wait for the same attempt."""

    def __init__(self, connect: Connect) -> None:
        self._connect = connect
        self._connection: Connection | None = None
        self._since = 0.0
        self._connecting: asyncio.Task[Connection] | None = None

    def send(self, commands: Sequence[Command]) -> Coroutine[Any, Any, list[Any]]:
        connection = self._connection
        return connection.send(commands) if connection and connection.is_open else self._connect_and_send(commands)

    async def connection(self) -> Connection:
        """The open connection, a new one if necessary. Raises Unreachable."""
        if self._connection and self._connection.is_open:
            return self._connection
        if self._connecting is None:
            self._connecting = asyncio.create_task(self._connect())
            self._connecting.add_done_callback(self._use)
        connecting, current = self._connecting, asyncio.current_task()
        try:
            return await asyncio.shield(connecting)
        except asyncio.CancelledError:
            if connecting.cancelled() and current and not current.cancelling():
                raise Unreachable("it was closed") from None
            raise

    async def primaries(self) -> Sequence[Server]:
        return [self]

    def cache(self, key: str) -> TrackingCache | None:
        return self._connection.cache if self._connection and self._connection.is_open else None

    def mark_stale(self, since: float) -> None:
        """Close the connection: its address or the sentinels may lead to another server by now."""
        if self._connection and self._since < since:
            self._connection.close()

    def close(self) -> None:
        if self._connecting:
            self._connecting.cancel()
        if self._connection:
            self._connection.close()
        self._connection, self._connecting = None, None

    async def _connect_and_send(self, commands: Sequence[Command]) -> list[Any]:
        try:
            connection = await self.connection()
        except Unreachable as error:
            return lost_replies(commands, error)
        return await connection.send(commands)

    def _use(self, connecting: "asyncio.Task[Connection]") -> None:
        connection = None if connecting.cancelled() or connecting.exception() else connecting.result()
        if connecting is self._connecting:
            self._connection, self._connecting, self._since = connection, None, monotonic()
        elif connection:
            connection.close()  # `close` was called meanwhile
