"""
A Redis Cluster: each command goes to the server of its hash slot, all servers at once.

The slots of each server are read from any server (CLUSTER SLOTS) on the first use, after a redirection, and after a
connection was lost.
"""

import asyncio
import random
from binascii import crc_hqx
from collections import defaultdict
from collections.abc import Awaitable, Callable, Sequence
from time import monotonic
from typing import Any

from hiredis import ReplyError

from store.client import Command
from store.client.connection import Server, lost_replies
from store.client.tracking_cache import TrackingCache
from store.client.urls import Address

HASH_SLOTS = 16_384  # of every cluster
SLOTS_TIMEOUT = 0.3  # seconds that a server has to answer CLUSTER SLOTS
KEYLESS_COMMANDS = {
    "PING", "ECHO", "ASKING", "DBSIZE", "SCAN", "CLUSTER", "ROLE", "SCRIPT", "PUBLISH", "CLIENT", "INFO",
}  # fmt: skip


class Cluster:
    """Sends commands to the servers of a cluster, as if it were one server."""

    def __init__(self, seeds: Sequence[Address], server_at: Callable[[Address], Server]) -> None:
        self._server_at = server_at
        self._servers: dict[Address, Server] = {address: server_at(address) for address in seeds}
        self._seeds = frozenset(seeds)
        self._primaries: list[Address | None] = [None] * HASH_SLOTS  # by hash slot
        self._is_stale = True
        self._read_at = 0.0  # when the slots were read, by the monotonic clock
        self._refreshing: asyncio.Task[None] | None = None

    async def send(self, commands: Sequence[Command]) -> list[Any]:
        """The replies to commands, in order, errors among them. Commands to one server keep their order."""
        if self._is_stale:
            await self._refresh()
        parts: defaultdict[Address | None, list[int]] = defaultdict(list)
        for place, command in enumerate(commands):
            parts[self._address(command)].append(place)
        if len(parts) == 1:
            ((address, _),) = parts.items()
            replies = await self._send_to(address, commands)
        else:
            sent = [self._send_to(address, [commands[place] for place in places]) for address, places in parts.items()]
            replies = [None] * len(commands)
            for places, part in zip(parts.values(), await asyncio.gather(*sent), strict=True):
                for place, reply in zip(places, part, strict=True):
                    replies[place] = reply
        return await self._follow_redirections(commands, replies) if ReplyError in map(type, replies) else replies

    async def primaries(self) -> Sequence[Server]:
        if self._is_stale:
            await self._refresh()
        return [self._servers[address] for address in dict.fromkeys(self._primaries) if address]

    async def addresses(self) -> list[Address]:
        """All known servers, in random order."""
        if self._is_stale:
            await self._refresh()
        return random.sample(list(self._servers), len(self._servers))

    def cache(self, key: str) -> TrackingCache | None:
        address = None if self._is_stale else self._primaries[hash_slot(hash_tag(key))]
        return self._servers[address].cache(key) if address else None

    def mark_stale(self, since: float) -> None:
        if self._read_at < since:
            self._is_stale = True

    def close(self) -> None:
        if self._refreshing:
            self._refreshing.cancel()
        for server in self._servers.values():
            server.close()

    def _address(self, command: Command) -> Address | None:
        key = routing_key(command)
        if key is not None:
            return self._primaries[hash_slot(hash_tag(key))]
        return next((address for address in self._primaries if address), None)

    def _send_to(self, address: Address | None, commands: Sequence[Command]) -> Awaitable[list[Any]]:
        return self._servers[address].send(commands) if address else _no_server(commands)

    async def _follow_redirections(self, commands: Sequence[Command], replies: list[Any]) -> list[Any]:
        """The replies, with ASK redirections followed: those slots are being moved."""
        for place, reply in enumerate(replies):
            if type(reply) is ReplyError:
                code, *where = str(reply).split()
                if code == "ASK":
                    _, replies[place] = await self._server_named(where[1]).send([("ASKING",), commands[place]])
        return replies

    def _server_named(self, text: str) -> Server:
        host, _, port = text.rpartition(":")
        return self._servers.setdefault((host, int(port)), self._server_at((host, int(port))))

    async def _refresh(self) -> None:
        """Find out which server has which slots. All tasks that need it wait for the same attempt."""
        if self._refreshing is None:
            self._refreshing = asyncio.create_task(self._fetch_slots())
            self._refreshing.add_done_callback(self._refreshed)
        await asyncio.shield(self._refreshing)

    def _refreshed(self, refreshing: "asyncio.Task[None]") -> None:
        self._refreshing = None

    async def _fetch_slots(self) -> None:
        """Ask servers one by one, in random order: an isolated server has an old answer."""
        for address in random.sample(list(self._servers), len(self._servers)):
            try:
                async with asyncio.timeout(SLOTS_TIMEOUT):
                    (reply,) = await self._servers[address].send([("CLUSTER", "SLOTS")])
            except TimeoutError:
                continue
            if isinstance(reply, list) and reply:
                self._apply_slots(reply, address)
                return

    def _apply_slots(self, ranges: Sequence[Sequence[Any]], source: Address) -> None:
        before, known = set(self._primaries), set(self._seeds)
        self._primaries = [None] * HASH_SLOTS
        for first, last, *servers in ranges:
            # without a host it is that of the server that was asked
            primary, *_ = addresses = [
                (host if host and host != "?" else source[0], port) for host, port, *_ in servers
            ]
            self._primaries[first : last + 1] = [primary] * (last + 1 - first)
            known.update(addresses)
        for address in known - self._servers.keys():
            self._servers[address] = self._server_at(address)
        for address in self._servers.keys() - known:
            self._servers.pop(address).close()
        for former in before - set(self._primaries):
            if former in self._servers:
                self._servers[former].close()  # commands that wait there are sent again to the new primary
        self._is_stale, self._read_at = False, monotonic()


async def _no_server(commands: Sequence[Command]) -> list[Any]:
    return lost_replies(commands, "no server is known that has this slot")


def routing_key(command: Command) -> str | None:
    """The key that decides which server a command is sent to; None if any server will do."""
    name = command[0]
    if name == "EVALSHA" or name == "EVAL":  # then the digest or the text, and the number of keys
        return str(command[3])
    if name in KEYLESS_COMMANDS:
        return None
    return str(command[2 if name == "ZINTER" else 1])  # ZINTER has the number of keys before them


def hash_tag(key: str) -> str:
    """The part of a key that decides its hash slot: the text between the first braces, or the whole key."""
    return key.partition("{")[2].partition("}")[0] or key


def hash_slot(tag: str) -> int:
    """The hash slot of a hash tag: CRC16 (XMODEM)."""
    return crc_hqx(tag.encode(), 0) % HASH_SLOTS
