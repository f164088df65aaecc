"""
A cluster: one server for each part of the 16 384 slots, commands sent to all they belong to at once.

Who has which slots is asked of any server that answers: at first, after a redirection, and whenever a server was lost.
"""

import asyncio
import random
from binascii import crc_hqx
from collections import defaultdict
from collections.abc import Callable, Coroutine, Sequence
from time import monotonic
from typing import Any

from hiredis import ReplyError

from caches import memo
from store.client.commands import Command, hash_tag, routing_key
from store.client.connection import lost_replies
from store.client.nodes import Server
from store.client.tracking_cache import TrackingCache
from store.client.urls import Address

SLOTS = 16_384
PATIENCE = 0.3  # seconds that a server has to say who has which slots


class Cluster:
    def __init__(self, seeds: Sequence[Address], server_at: Callable[[Address], Server]) -> None:
        self._server_at = server_at
        self._servers: dict[Address, Server] = {address: server_at(address) for address in seeds}
        self._seeds = frozenset(seeds)
        self._primaries: list[Address | None] = [None] * SLOTS
        self._is_stale = True
        self._since = 0.0
        self._looking: asyncio.Task[None] | None = None

    async def send(self, commands: Sequence[Command]) -> list[Any]:
        """The replies to commands, in order, errors among them. Those to one server keep their order."""
        if self._is_stale:
            await self._look()
        parts: defaultdict[Address | None, list[int]] = defaultdict(list)
        for place, command in enumerate(commands):
            parts[self._address(command)].append(place)
        if len(parts) == 1:
            ((address, _),) = parts.items()
            replies = await self._send(address, commands)
        else:
            sent = [self._send(address, [commands[place] for place in places]) for address, places in parts.items()]
            replies = [None] * len(commands)
            for places, part in zip(parts.values(), await asyncio.gather(*sent), strict=True):
                for place, reply in zip(places, part, strict=True):
                    replies[place] = reply
        return await self._redirected(commands, replies) if ReplyError in map(type, replies) else replies

    async def primaries(self) -> Sequence[Server]:
        if self._is_stale:
            await self._look()
        return [self._servers[address] for address in dict.fromkeys(self._primaries) if address]

    async def addresses(self) -> list[Address]:
        """All servers that are known, in any order."""
        if self._is_stale:
            await self._look()
        return random.sample(list(self._servers), len(self._servers))

    def cache(self, key: str) -> TrackingCache | None:
        address = None if self._is_stale else self._primaries[slot(hash_tag(key))]
        return self._servers[address].cache(key) if address else None

    def mark_stale(self, since: float) -> None:
        if self._since < since:
            self._is_stale = True

    def close(self) -> None:
        if self._looking:
            self._looking.cancel()
        for server in self._servers.values():
            server.close()

    def _address(self, command: Command) -> Address | None:
        key = routing_key(command)
        if key is not None:
            return self._primaries[slot(hash_tag(key))]
        return next((address for address in self._primaries if address), None)

    def _send(self, address: Address | None, commands: Sequence[Command]) -> Coroutine[Any, Any, list[Any]]:
        return self._servers[address].send(commands) if address else _unsent(commands)

    async def _redirected(self, commands: Sequence[Command], replies: list[Any]) -> list[Any]:
        """The replies, with those of the servers that slots are just moving to."""
        for place, reply in enumerate(replies):
            if type(reply) is ReplyError:
                kind, *where = str(reply).split()
                if kind == "ASK":
                    _, replies[place] = await self._known(where[1]).send([("ASKING",), commands[place]])
        return replies

    def _known(self, text: str) -> Server:
        host, _, port = text.rpartition(":")
        return self._servers.setdefault((host, int(port)), self._server_at((host, int(port))))

    async def _look(self) -> None:
        if self._looking is None:
            self._looking = asyncio.create_task(self._find())
            self._looking.add_done_callback(self._looked)
        await asyncio.shield(self._looking)

    def _looked(self, looking: "asyncio.Task[None]") -> None:
        self._looking = None

    async def _find(self) -> None:
        """Ask one server after the other, in any order: what one that is cut off knows is old."""
        for address in random.sample(list(self._servers), len(self._servers)):
            try:
                async with asyncio.timeout(PATIENCE):
                    (reply,) = await self._servers[address].send([("CLUSTER", "SLOTS")])
            except TimeoutError:
                continue
            if isinstance(reply, list) and reply:
                self._learn(reply, address)
                return

    def _learn(self, parts: Sequence[Sequence[Any]], teller: Address) -> None:
        before, known = set(self._primaries), set(self._seeds)
        self._primaries = [None] * SLOTS
        for first, last, *servers in parts:
            primary, *_ = addresses = [
                (host if host and host != "?" else teller[0], port) for host, port, *_ in servers
            ]
            self._primaries[first : last + 1] = [primary] * (last + 1 - first)
            known.update(addresses)
        for address in known - self._servers.keys():
            self._servers[address] = self._server_at(address)
        for address in self._servers.keys() - known:
            self._servers.pop(address).close()
        for former in before - set(self._primaries):
            if former in self._servers:
                self._servers[former].close()  # whoever waits there is to ask the new one
        self._is_stale, self._since = False, monotonic()


async def _unsent(commands: Sequence[Command]) -> list[Any]:
    return lost_replies(commands, "no server is known that has this slot")


@memo(1_024, 400)
def slot(tag: str) -> int:
    """The slot of a key whose hash tag, or all of which, is this: CRC16 (XMODEM)."""
    return crc_hqx(tag.encode(), 0) % SLOTS
