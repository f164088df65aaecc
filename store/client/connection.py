"""
A link to one Redis server: one socket that everything of a process shares, the commands of a tick out in one write,
replies in order.

redis-py makes the connection, with all that its URLs allow; then the socket is read by hiredis alone, which takes a
tenth of the time that redis-py's pipelines do (see bench).
"""

import asyncio
from collections import deque
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from time import monotonic
from typing import Any, TypeVar

import hiredis
from hiredis import PushNotification, ReplyError
from redis.asyncio.connection import AbstractConnection
from redis.exceptions import RedisError

from store.client.commands import Command, encode
from store.client.tracking_cache import TrackingCache

TIMEOUT = 1.0  # seconds, for a connection, for a turn and for a reply
MOST_WAITING = 1_000  # batches without a reply: whoever comes then waits for a turn


class Unreachable(Exception):
    """No server answers there, or it does not let us in."""


@dataclass(slots=True)
class Batch:
    """Commands that were sent together, when by the monotonic clock, and the replies so far."""

    commands: Sequence[Command]
    sent: float
    done: "asyncio.Future[list[Any]]"
    replies: list[Any] = field(default_factory=list)


class Connection(asyncio.Protocol):
    def __init__(self, writer: asyncio.StreamWriter) -> None:
        self._writer = writer  # closes the socket when it is forgotten
        self._transport = writer.transport
        self._transport.set_protocol(self)
        self._loop = asyncio.get_running_loop()
        self._reader = hiredis.Reader(encoding="utf-8", errors="surrogateescape")  # verify reads keys that are no text
        self._waiting: deque[Batch] = deque()
        self._unsent: list[bytes] = []
        self._turns: deque[asyncio.Future[None]] = deque()
        self._alarm: asyncio.TimerHandle | None = None
        self.cache: TrackingCache | None = None
        self.is_open = True

    async def track(self, cache: TrackingCache) -> None:
        """Keep hashes that are read from now on in a cache, if the server lets us know what changes."""
        (reply,) = await self.send([cache.begin()])
        if reply == "OK":
            self.cache = cache

    async def send(self, commands: Sequence[Command]) -> list[Any]:
        """
        The replies to commands, in order, errors among them. An empty batch sends nothing and waits for nothing.

        All replies are the error LOST where the server closed the socket or did not answer in time: then nobody knows
        whether it ran them. All are CROWDED where there was no turn in time.
        """
        if not commands:
            return []
        if len(self._waiting) >= MOST_WAITING:
            await self._turn()
        if not self.is_open:
            return lost_replies(commands, "the link was closed")
        if len(self._waiting) >= MOST_WAITING:
            return [ReplyError("CROWDED")] * len(commands)
        batch = Batch(commands, monotonic(), self._loop.create_future())
        self._waiting.append(batch)
        if not self._unsent:
            self._loop.call_soon(self._write)
        self._unsent += map(encode, commands)
        if self._alarm is None:
            self._alarm = self._loop.call_later(TIMEOUT, self._check)
        return await batch.done

    def data_received(self, data: bytes) -> None:
        self._reader.feed(data)
        while (reply := self._reader.gets()) is not False:
            kind = type(reply)
            if kind is PushNotification:
                self._heard(reply)
                continue
            batch = self._waiting[0]
            replies = batch.replies
            if self.cache and (kind is dict or kind is list or kind is ReplyError):
                self.cache.replied(batch.commands[len(replies)], reply)
            replies.append(reply)
            if len(replies) == len(batch.commands):
                self._finish(self._waiting.popleft())

    def connection_lost(self, error: Exception | None) -> None:
        self.is_open = False
        if self.cache:
            self.cache.changed(None)
        if self._alarm:
            self._alarm.cancel()
        while self._waiting:
            batch = self._waiting.popleft()
            if not batch.done.done():
                batch.done.set_result(lost_replies(batch.commands, "the connection was lost"))
        while self._turns:
            self._call_next()

    def close(self) -> None:
        self.is_open = False
        self._transport.abort()

    def _write(self) -> None:
        """Send what a tick has brought, all in one write."""
        self._transport.write(b"".join(self._unsent))
        self._unsent.clear()

    def _heard(self, push: Sequence[Any]) -> None:
        """What the server tells without being asked."""
        if self.cache and push[0] == "invalidate":
            self.cache.changed(push[1])

    def _finish(self, batch: Batch) -> None:
        if self.cache:
            self.cache.as_of = batch.sent
        if not batch.done.done():  # whoever asked may have gone
            batch.done.set_result(batch.replies)
        if self._turns:
            self._call_next()

    async def _turn(self) -> None:
        turn = self._loop.create_future()
        self._turns.append(turn)
        with suppress(TimeoutError):
            async with asyncio.timeout(TIMEOUT):
                await turn

    def _call_next(self) -> None:
        """Call the first who still waits for a turn."""
        while self._turns:
            turn = self._turns.popleft()
            if not turn.done():
                turn.set_result(None)
                return

    def _check(self) -> None:
        """Give up when the oldest has waited too long."""
        self._alarm = None
        if not self._waiting:
            return
        left = self._waiting[0].sent + TIMEOUT - monotonic()
        if left <= 0:
            self.close()
        else:
            self._alarm = self._loop.call_later(left, self._check)


def lost_replies(commands: Sequence[Command], reason: object) -> list[Any]:
    return [ReplyError(f"LOST {reason}")] * len(commands)


AnyConnection = TypeVar("AnyConnection", bound=Connection)


async def connected(
    connection: AbstractConnection, make: Callable[[asyncio.StreamWriter], AnyConnection]
) -> AnyConnection:
    """
    A new link, over a connection that redis-py makes.

    Raises:
        Unreachable: nothing answers there in time, or it does not let us in.
    """
    made = False
    try:
        async with asyncio.timeout(TIMEOUT):
            await connection.connect()  # type: ignore[no-untyped-call]  # untyped there
        made = True
    except TimeoutError as error:
        raise Unreachable("it does not answer in time") from error
    except (RedisError, OSError) as error:
        raise Unreachable(error) from error
    finally:
        writer, connection._writer, connection._reader = connection._writer, None, None
        if writer and not made:
            writer.transport.abort()
    assert writer is not None, "connected just now"
    return make(writer)
