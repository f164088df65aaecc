"""The one door to Redis: pipelines of reads, and scripts. Counts round trips, and goes on where a server was lost."""

import asyncio
import random
from collections.abc import AsyncIterator, Awaitable, Sequence
from contextvars import ContextVar
from dataclasses import dataclass
from time import monotonic
from typing import Any

from hiredis import ReplyError

from store.client import retry, urls
from store.client.cluster import Cluster
from store.client.commands import Command, as_eval
from store.client.connection import Connection, connected
from store.client.nodes import Connect, NodeClient, ReplicatedWrites, Server
from store.client.sentinel import primary
from store.client.tracking_cache import TrackingCache, TrackingCaches
from store.client.urls import RedisURL, Topology
from store.errors import StoreUnavailable
from store.scripts.registry import VOTER_VOTES

RETRY_TIME = 2.0  # seconds that a pipeline may take in all, with what is sent again
FAILOVER_RETRY_TIME = 4.0  # where a failover is waited for
PAUSES = (0.01, 0.25)  # seconds: the first before something is sent again, and the longest


@dataclass(slots=True)
class RedisUsage:
    """What a request cost: how often it waited for Redis, and for how many commands."""

    round_trips: int = 0
    commands: int = 0


current_usage: ContextVar[RedisUsage | None] = ContextVar("redis_usage", default=None)


class RedisClient:
    """Connects when it is first used, and again whenever a link was lost."""

    def __init__(
        self,
        url: str,
        confirming_replicas: int = 0,
        cached_keys: int = 0,
        tracking_caches: TrackingCaches | None = None,
    ) -> None:
        """
        Writes wait until so many replicas have them. So many hashes are kept of each server, those of
        all servers within the bytes of `tracking_caches`.

        Raises ValueError where the URL is none of a store.
        """
        parsed = urls.parse(url)
        self._server = server_of(parsed, confirming_replicas, cached_keys, tracking_caches or TrackingCaches())
        self._kind = parsed.kind

    @property
    def has_one_server(self) -> bool:
        """Whether everything is sent to one server."""
        return self._kind is not Topology.CLUSTER

    async def close(self) -> None:
        self._server.close()

    async def ping(self) -> None:
        """One attempt, in one round trip. Raises StoreUnavailable where no server answers."""
        asked = [server.send([("PING",)]) for server in await self._server.primaries()]
        if not any(_is_alive(reply) for (reply,) in await asyncio.gather(*asked)):
            raise StoreUnavailable("the store does not answer")

    async def refusal(self, writes: Sequence[Command]) -> str | None:
        """Why one of these writes is refused, if any is. One attempt, in one round trip."""
        replies = await self._server.send(writes)
        errors = [reply for reply in replies if type(reply) is ReplyError and retry.kind(reply) not in retry.AT_ONCE]
        return str(retry.unavailable(errors)) if errors else None

    def cache(self, key: str, since: float) -> TrackingCache | None:
        """
        What was read of the server that has this key, as it was at an instant of the monotonic clock, or later.

        No round trip. Who began at that instant has it after a round trip to that server, if anything is kept at all.
        """
        cache = self._server.cache(key)
        return cache if cache and cache.as_of >= since else None

    async def run(self, command: Command) -> Any:
        """Send one command, and give its reply. One round trip."""
        (reply,) = await self.pipeline([command])
        return reply

    async def pipeline(self, commands: Sequence[Command], server: Server | None = None) -> list[Any]:
        """
        Send commands, all at once, and give their replies in order, as RESP3 has them. One round trip.

        They go wherever they belong, or all to one of several servers.

        What fails for a reason that may pass is sent again, with pauses that grow, for 2 seconds in all, or 4 where
        there are several servers. So every command has to be safe to send again when nobody knows whether it ran.

        Raises:
            StoreUnavailable: the store does not answer, or refuses one of the commands.
        """
        replies, failed = await self._sent(commands, server)
        if failed:
            raise retry.unavailable(replies[place] for place in failed)
        return replies

    async def replies(self, commands: Sequence[Command]) -> list[Any]:
        """As `pipeline`, but a StoreUnavailable is the reply to each command that failed, whatever became of others."""
        replies, failed = await self._sent(commands)
        for place in failed:
            replies[place] = retry.unavailable([replies[place]])
        return replies

    async def size(self) -> int:
        """How many keys the store has. One round trip."""
        sizes = [self.pipeline([("DBSIZE",)], server) for server in await self._server.primaries()]
        return sum(count for (count,) in await asyncio.gather(*sizes))

    async def scan(self, count: int) -> AsyncIterator[list[str]]:
        """All keys, some of them twice: about `count` in each round trip. It ends where a server is lost for good."""
        for server in await self._server.primaries():
            cursor = ""
            while cursor != "0":
                ((cursor, keys),) = await self.pipeline([("SCAN", cursor or "0", "COUNT", count)], server)
                yield keys

    async def _sent(self, commands: Sequence[Command], server: Server | None = None) -> tuple[list[Any], list[int]]:
        """The replies to commands, and the places of those that failed for good."""
        server, started = server or self._server, monotonic()
        _count(commands)
        replies = await server.send(commands)
        if ReplyError in map(type, replies):
            await self._again(server, commands, replies, started)
            return replies, _failed(replies)
        return replies, []

    async def _again(self, server: Server, commands: Sequence[Command], replies: list[Any], started: float) -> None:
        """Send again what failed for a reason that may pass, until that is over or the time is."""
        deadline = started + (RETRY_TIME if self._kind is Topology.SERVER else FAILOVER_RETRY_TIME)
        sent, pause = started, PAUSES[0]
        while passing := [place for place in _failed(replies) if retry.kind(replies[place]) in retry.PASSING]:
            kinds = {retry.kind(replies[place]) for place in passing}
            if kinds & retry.ELSEWHERE:
                server.mark_stale(sent)
            if sent > started or not kinds <= retry.AT_ONCE:
                await asyncio.sleep(pause * random.uniform(0.5, 1))
                pause = min(2 * pause, PAUSES[1])
            sent = monotonic()
            if sent >= deadline:
                return
            again = [_repeated(commands[place], replies[place]) for place in passing]
            _count(again)
            try:
                answers = await asyncio.wait_for(server.send(again), deadline - sent)
            except TimeoutError:
                return
            for place, reply in zip(passing, answers, strict=True):
                replies[place] = reply


def server_of(url: RedisURL, confirming_replicas: int, cached_keys: int, tracking_caches: TrackingCaches) -> Server:
    async def tracked(connecting: Awaitable[Connection]) -> Connection:
        link = await connecting
        try:
            if cached_keys:
                await link.track(TrackingCache(cached_keys, VOTER_VOTES.digest, tracking_caches))
        except BaseException:
            link.close()  # nobody else can
            raise
        return link

    match url.kind:
        case Topology.CLUSTER:
            return Cluster(
                url.addresses,
                lambda address: _confirmed(
                    lambda: tracked(connected(url.connection(address), Connection)), confirming_replicas
                ),
            )
        case Topology.SENTINEL:
            return _confirmed(lambda: tracked(primary(url, Connection)), confirming_replicas)
        case Topology.SERVER:
            return _confirmed(lambda: tracked(connected(url.connection(), Connection)), confirming_replicas)


def _is_alive(reply: Any) -> bool:
    """Whether a reply to PING is one of a server that can be read: one with a full disk refuses even that."""
    return reply == "PONG" or (type(reply) is ReplyError and retry.kind(reply) == "MISCONF")


def _confirmed(connect: Connect, count: int) -> Server:
    return ReplicatedWrites(connect, count) if count else NodeClient(connect)


def _count(commands: Sequence[Command]) -> None:
    if commands and (counting := current_usage.get()):
        counting.round_trips += 1
        counting.commands += len(commands)


def _failed(replies: Sequence[Any]) -> list[int]:
    return [place for place, reply in enumerate(replies) if type(reply) is ReplyError]


def _repeated(command: Command, error: ReplyError) -> Command:
    return as_eval(command) if retry.kind(error) == "NOSCRIPT" else command
