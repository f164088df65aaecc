"""
A connection to one Redis server, which all tasks of a process share, and the client that opens it again after a loss.
All commands that tasks send in one iteration of the event loop leave in one write. Redis replies in the order of the
commands, so the first reply that arrives is that to the oldest command.

Why not redis-py: it opens the connection (addresses, TLS, login), but its pipelines take ten times the CPU of this
protocol, in which hiredis alone reads replies (see bench/RESULTS.md).
"""

import asyncio
from collections import deque
from collections.abc import Awaitable, Callable, Coroutine, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from hashlib import sha1
from time import monotonic
from typing import Any, Protocol, TypeVar

import hiredis
from hiredis import PushNotification, ReplyError
from redis.asyncio.connection import AbstractConnection
from redis.exceptions import RedisError

from store.client import Argument, Command, Unreachable
from store.client.tracking_cache import TrackingCache

TIMEOUT = 1.0  # seconds, to connect, to get a place in the queue, and to get a reply
MAX_PENDING = 1_000  # batches without a reply; further ones wait for a place in the queue
# codes of errors after which another server may be the right one by now
WRONG_SERVER = {"LOST", "MOVED", "CLUSTERDOWN", "MASTERDOWN", "READONLY"}
SCRIPTS: "dict[str, LuaScript]" = {}  # by SHA-1


class LuaScript:
    """A Lua script, which is sent as its SHA-1; a server that does not know it gets its text."""

    def __init__(self, text: str, *, is_read_only: bool = False) -> None:
        self.text = text
        self.is_read_only = is_read_only
        self.digest = sha1(text.encode(), usedforsecurity=False).hexdigest()
        SCRIPTS[self.digest] = self

    def command(self, keys: Sequence[str], *arguments: Argument) -> Command:
        return ("EVALSHA", self.digest, len(keys), *keys, *arguments)


class EncodedCommand(tuple[Argument, ...]):
    """A command that is encoded once and sent many times."""

    text: bytes


def encoded(command: Command) -> EncodedCommand:
    """A command that is not encoded again each time it is sent."""
    made = EncodedCommand(command)
    made.text = encode(command)
    return made


class EncodedCall(tuple[Argument, ...]):
    """The command of a script whose first arguments are encoded once for many calls."""

    beginning: EncodedCommand


def encode(command: Command) -> bytes:
    """A command in the Redis protocol."""
    kind = type(command)
    if kind is EncodedCommand:
        return command.text  # type: ignore[attr-defined, no-any-return]  # a `cast` would be called each time
    if kind is not EncodedCall:
        return hiredis.pack_command(command)  # type: ignore[arg-type, no-any-return]  # its stubs say less than it takes
    # One array of both parts: the length of the command, and of each part what follows its own length.
    beginning: EncodedCommand = command.beginning  # type: ignore[attr-defined]  # likewise
    rest = hiredis.pack_command(command[len(beginning) :])  # type: ignore[arg-type]  # likewise
    return b"*%d%b%b" % (len(command), beginning.text[beginning.text.index(b"\r") :], rest[rest.index(b"\n") + 1 :])


@dataclass(slots=True)
class Batch:
    """Commands that were sent together, when (by the monotonic clock), and the replies so far."""

    commands: Sequence[Command]
    sent: float
    done: "asyncio.Future[list[Any]]"
    replies: list[Any] = field(default_factory=list)


class RedisConnection(asyncio.Protocol):
    """An open connection: sends commands, and gives each batch its replies."""

    def __init__(self, writer: asyncio.StreamWriter) -> None:
        self._writer = writer  # closes the socket when it is garbage collected
        self._transport = writer.transport
        self._transport.set_protocol(self)
        self._loop = asyncio.get_running_loop()
        # `surrogateescape`: keys of other programs may be no UTF-8, and SCAN replies with them
        self._reader = hiredis.Reader(encoding="utf-8", errors="surrogateescape")
        self._pending: deque[Batch] = deque()
        self._unsent: list[bytes] = []
        self._queue: deque[asyncio.Future[None]] = deque()  # of senders, while too many batches are pending
        self._timer: asyncio.TimerHandle | None = None
        self.cache: TrackingCache | None = None
        self.is_open = True

    async def track(self, cache: TrackingCache) -> None:
        """Cache replies from now on, if the server accepts CLIENT TRACKING."""
        (reply,) = await self.send([cache.start_command()])
        if reply == "OK":
            self.cache = cache

    def send(self, commands: Sequence[Command]) -> Awaitable[list[Any]]:
        """
        Return the replies to commands, in order, errors among them. An empty batch sends nothing.

        All replies are the error LOST if the server closed the connection or did not answer in time: it may have run
        the commands or not. All are the error CROWDED if the queue was full for too long: then it has run none.
        """
        if not commands or not self.is_open or len(self._pending) >= MAX_PENDING:
            return self._send_late(commands)
        encoded_commands = [*map(encode, commands)]  # if it raises, no batch waits for the replies
        batch = Batch(commands, monotonic(), self._loop.create_future())
        self._pending.append(batch)
        if not self._unsent:
            self._loop.call_soon(self._write)
        self._unsent += encoded_commands
        if self._timer is None:
            self._timer = self._loop.call_later(TIMEOUT, self._check_timeout)
        return batch.done

    async def _send_late(self, commands: Sequence[Command]) -> list[Any]:
        if not commands:
            return []
        if len(self._pending) >= MAX_PENDING:
            await self._wait_in_queue()
        if not self.is_open:
            return lost_replies(commands, "the connection was closed")
        if len(self._pending) >= MAX_PENDING:
            return [ReplyError("CROWDED")] * len(commands)
        return await self.send(commands)

    def data_received(self, data: bytes) -> None:
        self._reader.feed(data)
        next_reply, pending = self._reader.gets, self._pending
        while (reply := next_reply()) is not False:
            kind = type(reply)
            if kind is PushNotification:
                self._handle_push(reply)
                continue
            batch = pending[0]
            replies, commands = batch.replies, batch.commands
            if kind is dict or kind is list:
                if self.cache:
                    self.cache.handle_reply(commands[len(replies)], reply)
            elif kind is ReplyError and self.cache and error_code(reply) in WRONG_SERVER:
                self.cache.clear()
            replies.append(reply)
            if len(replies) == len(commands):
                self._finish(pending.popleft())

    def connection_lost(self, error: Exception | None) -> None:
        self.is_open = False
        if self.cache:
            self.cache.clear()
        if self._timer:
            self._timer.cancel()
        while self._pending:
            batch = self._pending.popleft()
            if not batch.done.done():
                batch.done.set_result(lost_replies(batch.commands, "the connection was lost"))
        while self._queue:
            self._wake_next()

    def close(self) -> None:
        self.is_open = False
        self._transport.abort()

    def _write(self) -> None:
        """Send in one write all commands of this iteration of the event loop, unless the connection was lost in it."""
        if self.is_open:
            self._transport.write(b"".join(self._unsent))
        self._unsent.clear()

    def _handle_push(self, push: Sequence[Any]) -> None:
        if self.cache and push[0] == "invalidate":
            self.cache.invalidate(push[1])

    def _finish(self, batch: Batch) -> None:
        if self.cache:
            self.cache.as_of = batch.sent
        if not batch.done.done():  # the sender may have been cancelled
            batch.done.set_result(batch.replies)
        if self._queue:
            self._wake_next()

    async def _wait_in_queue(self) -> None:
        place = self._loop.create_future()
        self._queue.append(place)
        with suppress(TimeoutError):
            async with asyncio.timeout(TIMEOUT):
                await place

    def _wake_next(self) -> None:
        """Wake the first sender that still waits in the queue."""
        while self._queue:
            place = self._queue.popleft()
            if not place.done():
                place.set_result(None)
                return

    def _check_timeout(self) -> None:
        """Close the connection if the oldest batch has waited too long for its replies."""
        self._timer = None
        if not self._pending:
            return
        remaining = self._pending[0].sent + TIMEOUT - monotonic()
        if remaining <= 0:
            self.close()
        else:
            self._timer = self._loop.call_later(remaining, self._check_timeout)


def error_code(error: ReplyError) -> str:
    """The first word of an error, such as MOVED; NOPERM also if a script was refused what its user may not do."""
    text = str(error)
    return "NOPERM" if text.startswith("ERR ACL failure in script") else text.partition(" ")[0]


def lost_replies(commands: Sequence[Command], reason: object) -> list[Any]:
    """An error LOST for each command: the server may have run it or not."""
    return [ReplyError(f"LOST {reason}")] * len(commands)


C = TypeVar("C", bound=RedisConnection)
Connect = Callable[[], Coroutine[Any, Any, RedisConnection]]


async def connect(connection: AbstractConnection, make: Callable[[asyncio.StreamWriter], C]) -> C:
    """
    Open a connection with redis-py, and take its socket over.

    Raises:
        Unreachable: nothing answers in time, or the login is rejected.
    """
    connected = False
    try:
        async with asyncio.timeout(TIMEOUT):
            await connection.connect()  # type: ignore[no-untyped-call]  # untyped there
        connected = True
    except TimeoutError as error:
        raise Unreachable("it does not answer in time") from error
    except (RedisError, OSError) as error:
        raise Unreachable(error) from error
    finally:
        writer, connection._writer, connection._reader = connection._writer, None, None
        if writer and not connected:
            writer.transport.abort()
    assert writer is not None, "connected just now"
    return make(writer)


class Server(Protocol):
    """One server, or several that act as one."""

    def send(self, commands: Sequence[Command]) -> Awaitable[list[Any]]:
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
        self._connection: RedisConnection | None = None
        self._opened_at = 0.0  # by the monotonic clock
        self._connecting: asyncio.Task[RedisConnection] | None = None

    def send(self, commands: Sequence[Command]) -> Awaitable[list[Any]]:
        connection = self._connection
        return connection.send(commands) if connection and connection.is_open else self._connect_and_send(commands)

    async def connection(self) -> RedisConnection:
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
        if self._connection and self._opened_at < since:
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

    def _use(self, connecting: "asyncio.Task[RedisConnection]") -> None:
        """Use the connection that a task has opened, unless `close` was called meanwhile."""
        connection = None if connecting.cancelled() or connecting.exception() else connecting.result()
        if connecting is self._connecting:
            self._connection, self._connecting, self._opened_at = connection, None, monotonic()
        elif connection:
            connection.close()
