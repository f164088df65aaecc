"""Writes that are answered only after replicas have acknowledged them (WAIT)."""

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any

from hiredis import ReplyError

from store.client import Command, Unreachable
from store.client.cluster import KEYLESS_COMMANDS, hash_tag, routing_key
from store.client.connection import MAX_PENDING, SCRIPTS, Connect, NodeClient, RedisConnection, Server, lost_replies
from store.client.tracking_cache import TrackingCache

WAIT_TIME = 0.8  # seconds that replicas have to acknowledge: less than the timeout of a reply
MARK_LIFETIME = 1000  # milliseconds that a mark exists
# Without the commands that read streams: a read of the log waits for replicas as a write does, so that nobody who reads
# the log has entries that a failover loses.
READ_COMMANDS = KEYLESS_COMMANDS | {
    "GET", "HGET", "HMGET", "HGETALL", "HSCAN", "EXISTS", "TYPE", "PTTL", "SUNION", "SMEMBERS", "SCARD",
    "ZRANGE", "ZCARD", "ZCOUNT", "ZSCORE", "ZMSCORE", "ZINTER", "ZSCAN",
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Replication:
    """
    How many replicas have to acknowledge a write, and the key of the mark that is written after it (see
    `ReplicatedWrites`): `mark_key` gives it for a hash tag, so that it is in the hash slot of the write.
    """

    replicas: int
    mark_key: Callable[[str], str]


@dataclass(frozen=True, slots=True)
class PendingWrite:
    """Commands of one call that wait to be sent, and its future replies."""

    commands: Sequence[Command]
    done: "asyncio.Future[list[Any]]"

    def finish(self, replies: list[Any]) -> None:
        if not self.done.done():  # the sender may have been cancelled
            self.done.set_result(replies)


class ReplicatedWrites:
    """
    A server whose writes wait for replicas. Reads have a separate connection, because WAIT blocks a connection.

    Writes that arrive during a WAIT are sent together after it, with one WAIT. WAIT covers only what its own connection
    has written, so a mark, a key with a short life, is written after each group of writes: then a repeated write that
    changes nothing waits as well.
    """

    def __init__(self, connect: Connect, replication: Replication) -> None:
        self._reads, self._writes = NodeClient(connect), NodeClient(connect)
        self._replication = replication
        self._pending: list[PendingWrite] = []
        self._flushing: asyncio.Task[None] | None = None

    async def send(self, commands: Sequence[Command]) -> list[Any]:
        if not any(is_write(command) for command in commands):
            return await self._reads.send(commands)
        write = PendingWrite(commands, asyncio.get_running_loop().create_future())
        self._pending.append(write)
        if self._flushing is None:
            self._flushing = asyncio.create_task(self._flush())
        return await write.done

    async def primaries(self) -> Sequence[Server]:
        return [self]

    def cache(self, key: str) -> TrackingCache | None:
        return self._reads.cache(key)

    def mark_stale(self, since: float) -> None:
        self._reads.mark_stale(since)
        self._writes.mark_stale(since)

    def close(self) -> None:
        self._reads.close()
        self._writes.close()

    async def _flush(self) -> None:
        while self._pending:
            try:
                connection = await self._writes.connection()
            except Unreachable as error:
                self._fail(error)
            else:
                await self._write(connection)
        self._flushing = None

    def _fail(self, error: Unreachable) -> None:
        writes, self._pending = self._pending, []
        for write in writes:
            write.finish(lost_replies(write.commands, error))

    async def _write(self, connection: RedisConnection) -> None:
        writes, self._pending = self._pending[:MAX_PENDING], self._pending[MAX_PENDING:]
        commands = [command for write in writes for command in write.commands]
        replies = iter(await self._send_and_wait(connection, commands))
        for write in writes:
            write.finish(list(islice(replies, len(write.commands))))

    async def _send_and_wait(self, connection: RedisConnection, commands: Sequence[Command]) -> list[Any]:
        """
        Send commands, and wait for the replicas. Returns the replies, with UNCONFIRMED in place of each success if too
        few replicas acknowledged in time.
        """
        wait: Command = ("WAIT", self._replication.replicas, round(WAIT_TIME * 1000))
        *replies, acknowledged = await connection.send([*commands, *self._mark_commands(commands), wait])
        replies, mark_replies = replies[: len(commands)], replies[len(commands) :]
        if set(mark_replies) <= {"OK"} and isinstance(acknowledged, int) and acknowledged >= self._replication.replicas:
            return replies
        unconfirmed = ReplyError(f"UNCONFIRMED {acknowledged} of {self._replication.replicas} replicas, {mark_replies}")
        return [reply if isinstance(reply, ReplyError) else unconfirmed for reply in replies]

    def _mark_commands(self, commands: Sequence[Command]) -> list[Command]:
        """
        The commands that write a mark to the hash slot of the last command whose key has a hash tag, as this node may
        not serve other slots. No commands if no key has one.
        """
        tags = [hash_tag(key) for command in commands if "{" in (key := routing_key(command) or "")]
        marks: list[Command] = [("SET", self._replication.mark_key(tag), 1, "PX", MARK_LIFETIME) for tag in tags[-1:]]
        # In a slot that is migrated to this node, each command needs ASKING before it.
        return [("ASKING",), *marks] if ("ASKING",) in commands else marks


def is_write(command: Command) -> bool:
    """Whether a command may change something. Unknown commands count as writes."""
    if command[0] == "EVALSHA":
        script = SCRIPTS.get(str(command[1]))
        return script is None or not script.is_read_only
    return command[0] not in READ_COMMANDS
