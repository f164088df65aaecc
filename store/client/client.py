"""
The Redis client of a process: pipelines of commands, retries when a server is lost, and counts of each request's round
trips.
"""

import asyncio
import random
from collections.abc import AsyncIterator, Iterable, Sequence
from contextvars import ContextVar
from dataclasses import dataclass
from time import monotonic
from typing import Any

from hiredis import ReplyError

from store.client import Command, StoreUnavailable, urls
from store.client.cluster import Cluster, hash_tag
from store.client.connection import SCRIPTS, WRONG_SERVER, NodeClient, RedisConnection, Server, connect, error_code
from store.client.replication import ReplicatedWrites, Replication, is_write
from store.client.sentinel import connect_to_primary
from store.client.tracking_cache import CacheOptions, TrackingCache
from store.client.urls import Address, RedisURL, Topology

RETRY_TIME = 2.0  # seconds that a pipeline may take in all, with its retries
FAILOVER_RETRY_TIME = 4.0  # likewise, where another server may take over
RETRY_PAUSES = (0.01, 0.25)  # seconds: before the first retry, and at most
RETRYABLE = {  # codes of errors: those of servers, and this client's own LOST, CROWDED and UNCONFIRMED
    "LOST", "CROWDED", "NOSCRIPT", "MOVED", "TRYAGAIN", "CLUSTERDOWN", "MASTERDOWN", "READONLY", "LOADING", "BUSY",
    "UNCONFIRMED", "NOREPLICAS", "UNBLOCKED",
}  # fmt: skip
RETRY_AT_ONCE = {"NOSCRIPT", "MOVED"}  # no pause is needed before the first retry
MESSAGES = {  # for users, by codes of errors; CLOSED is an error of the store's scripts
    "OOM": "the store is out of memory: it can be read only, and nothing was changed",
    "MISCONF": "the store cannot write to its disk: it can be read only, and nothing was changed",
    "NOPERM": "the store takes no writes: its disk has too little room, or its user may not write; nothing was changed",
    "NOREPLICAS": "the store has too few replicas: nothing was changed",
    "UNCONFIRMED": "too few replicas confirmed a change: it may hold or not, and is safe to be sent again",
    "LOADING": "the store is starting",
    "CLOSED": "the store is being moved, or was: it can be read only, and nothing was changed",
    "CROWDED": "too many requests wait for the store",
}


@dataclass(slots=True)
class RedisUsage:
    """How often a request has waited for Redis, and for how many commands."""

    round_trips: int = 0
    commands: int = 0


current_usage: ContextVar[RedisUsage | None] = ContextVar("redis_usage", default=None)


class RedisClient:
    """Connects when it is first used, and again after a connection was lost."""

    def __init__(self, url: str, replication: Replication | None = None, cache: CacheOptions | None = None) -> None:
        """
        With `replication`, writes wait for replicas. With `cache`, replies are cached in this process.

        Raises:
            ValueError: the URL is not one of a store.
        """
        parsed = urls.parse(url)
        self._server = _server(parsed, replication, cache)
        self._topology = parsed.topology

    @property
    def has_one_server(self) -> bool:
        return self._topology is not Topology.CLUSTER

    async def close(self) -> None:
        self._server.close()

    async def ping(self) -> None:
        """One attempt, in one round trip. Raises StoreUnavailable if no server answers."""
        pings = [server.send([("PING",)]) for server in await self._server.primaries()]
        if not any(_is_alive(reply) for (reply,) in await asyncio.gather(*pings)):
            raise StoreUnavailable("the store does not answer")

    async def write_error(self, writes: Sequence[Command], closed: Sequence[Command]) -> str | None:
        """
        Why one of these writes fails, or why scripts refuse to write: one of the reads `closed` finds its key. None if
        neither is so. One attempt, in one round trip.
        """
        replies = await self._server.send([*writes, *closed])
        if 1 in replies[len(writes) :]:
            return MESSAGES["CLOSED"]
        errors = [reply for reply in replies if type(reply) is ReplyError]
        errors = [error for error in errors if error_code(error) not in RETRY_AT_ONCE]
        return str(_exception(errors)) if errors else None

    def cache(self, key: str, since: float) -> TrackingCache | None:
        """
        The cache of the server that has a key, if it is as fresh as an instant of the monotonic clock. No round trip.

        After any round trip to that server it is as fresh as the start of that round trip.
        """
        cache = self._server.cache(key)
        return cache if cache and cache.as_of >= since else None

    async def run(self, command: Command) -> Any:
        """Send one command, and return its reply. One round trip."""
        (reply,) = await self.pipeline([command])
        return reply

    async def pipeline(self, commands: Sequence[Command], server: Server | None = None) -> list[Any]:
        """
        Send commands, all at once, and return their replies in order, as RESP3 has them. One round trip.

        Each goes to the server of its key, or all go to one given server. Commands that fail with a retryable error are
        sent again, with growing pauses, for 2 seconds in all, or for 4 where another server may take over. So every
        command has to be safe to run twice. Those of one hash tag run in their order if any of them writes.

        Raises:
            StoreUnavailable: the store does not answer, or refuses one of the commands.
        """
        server, started = server or self._server, monotonic()
        _count(commands)
        if len(commands) > 1:
            commands = in_order(commands)
        replies = await server.send(commands)
        if ReplyError in map(type, replies):
            await self._retry(server, commands, replies, started)
            if errors := [reply for reply in replies if type(reply) is ReplyError]:
                raise _exception(errors)
        return replies

    async def replies(self, commands: Sequence[Command]) -> list[Any]:
        """Like `pipeline`, but a command that fails has a StoreUnavailable as its reply, and the others theirs."""
        started = monotonic()
        _count(commands)
        replies = await self._server.send(commands)
        if ReplyError in map(type, replies):
            await self._retry(self._server, commands, replies, started)
            return [_exception([reply]) if type(reply) is ReplyError else reply for reply in replies]
        return replies

    async def size(self) -> int:
        """How many keys the store has. One round trip."""
        sizes = [self.pipeline([("DBSIZE",)], server) for server in await self._server.primaries()]
        return sum(count for (count,) in await asyncio.gather(*sizes))

    async def infos(self, *sections: str) -> list[str]:
        """What INFO says of each primary. One round trip."""
        asked = [self.pipeline([("INFO", *sections)], server) for server in await self._server.primaries()]
        return [info for (info,) in await asyncio.gather(*asked)]

    async def scan(self, count: int) -> AsyncIterator[list[str]]:
        """All keys, some of them twice: about `count` in each round trip."""
        for server in await self._server.primaries():
            cursor = ""
            while cursor != "0":
                ((cursor, keys),) = await self.pipeline([("SCAN", cursor or "0", "COUNT", count)], server)
                yield keys

    async def _retry(self, server: Server, commands: Sequence[Command], replies: list[Any], started: float) -> None:
        """Send the commands that failed with a retryable error again, until none is left or the time is over."""
        deadline = started + (RETRY_TIME if self._topology is Topology.SERVER else FAILOVER_RETRY_TIME)
        sent, pause = started, RETRY_PAUSES[0]
        while places := [place for place, reply in enumerate(replies) if _is_retryable(reply)]:
            codes = {error_code(replies[place]) for place in places}
            if codes & WRONG_SERVER:
                server.mark_stale(sent)
            if sent > started or not codes <= RETRY_AT_ONCE:
                await asyncio.sleep(pause * random.uniform(0.5, 1))
                pause = min(2 * pause, RETRY_PAUSES[1])
            sent = monotonic()
            if sent >= deadline:
                return
            again = [_retried(commands[place], replies[place]) for place in places]
            _count(again)
            try:
                async with asyncio.timeout(deadline - sent):  # Python 3.11's `wait_for` may lose a cancellation
                    new_replies = await server.send(again)
            except TimeoutError:
                return
            for place, reply in zip(places, new_replies, strict=True):
                replies[place] = reply


def in_order(commands: Sequence[Command]) -> Sequence[Command]:
    """
    The commands of a pipeline. If it writes, the first call of each script for each hash tag is sent with the text of
    the script. By its digest only, a server that does not know the script would refuse it, run the commands that
    follow, and run the script last, when it is sent again.
    """
    if not any(map(is_write, commands)):
        return commands
    known: set[tuple[str, str]] = set()
    return [_with_text(command, known) if command[0] == "EVALSHA" else command for command in commands]


def _with_text(command: Command, known: set[tuple[str, str]]) -> Command:
    """A call of a script with its text, unless `known` has its digest and hash tag. Adds these to `known`."""
    place = str(command[1]), hash_tag(str(command[3]))
    if place in known:
        return command
    known.add(place)
    return _evaluated(command)


def _server(url: RedisURL, replication: Replication | None, cache: CacheOptions | None) -> Server:
    async def open_connection(address: Address | None = None) -> RedisConnection:
        if url.topology is Topology.SENTINEL:
            return await _tracked(await connect_to_primary(url, RedisConnection), cache)
        return await _tracked(await connect(url.connection(address), RedisConnection), cache)

    def server_at(address: Address | None = None) -> Server:
        if replication:
            return ReplicatedWrites(lambda: open_connection(address), replication)
        return NodeClient(lambda: open_connection(address))

    return Cluster(url.addresses, server_at) if url.topology is Topology.CLUSTER else server_at()


async def _tracked(connection: RedisConnection, cache: CacheOptions | None) -> RedisConnection:
    try:
        if cache:
            await connection.track(TrackingCache(cache))
    except BaseException:
        connection.close()  # no caller has it yet
        raise
    return connection


def _exception(errors: Iterable[ReplyError]) -> StoreUnavailable:
    """The exception for the error replies of a pipeline. Errors that are not retryable take precedence."""
    errors = sorted(errors, key=lambda error: error_code(error) in RETRYABLE)
    code = error_code(errors[0])
    default = "the store does not answer" if code in RETRYABLE else "the store refused a command"
    exception = StoreUnavailable(MESSAGES.get(code, default))
    exception.__cause__ = errors[0]
    return exception


def _is_alive(reply: Any) -> bool:
    """Whether a server with this reply to PING can be read: with a full disk it refuses even PING."""
    return reply == "PONG" or (type(reply) is ReplyError and error_code(reply) == "MISCONF")


def _count(commands: Sequence[Command]) -> None:
    if commands and (usage := current_usage.get()):
        usage.round_trips += 1
        usage.commands += len(commands)


def _is_retryable(reply: Any) -> bool:
    return type(reply) is ReplyError and error_code(reply) in RETRYABLE


def _retried(command: Command, error: ReplyError) -> Command:
    """The command to send again: a script that the server does not know is sent with its text."""
    return _evaluated(command) if error_code(error) == "NOSCRIPT" else command


def _evaluated(command: Command) -> Command:
    """The command of a script with its text instead of its digest."""
    return ("EVAL", SCRIPTS[str(command[1])].text, *command[2:])
