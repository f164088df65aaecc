"""Pub/sub connections. On a cluster every server passes all messages on; elsewhere the primary has them."""

import asyncio
from collections.abc import Callable, Sequence
from functools import partial
from time import monotonic

import hiredis

from store.client import Command, Unreachable
from store.client.cluster import Cluster
from store.client.connection import NodeClient, RedisConnection, connect
from store.client.sentinel import connect_to_primary
from store.client.urls import Address, RedisURL, Topology

OnMessage = Callable[[str, str], None]  # channel, message


class SubscriberConnection(RedisConnection):
    """Calls `on_message` with each message of its channels, and the channel."""

    def __init__(self, on_message: OnMessage, writer: asyncio.StreamWriter) -> None:
        super().__init__(writer)
        self._on_message = on_message
        self._is_lost = asyncio.Event()

    async def subscribe(self, channels: Sequence[str]) -> None:
        """Subscribe, and return once the server has done so. Raises Unreachable if the connection was lost."""
        self._tell("SUBSCRIBE", channels)
        if await self.send([("PING",)]) != ["PONG"]:
            raise Unreachable("it does not answer")

    def unsubscribe(self, channels: Sequence[str]) -> None:
        """Some messages of the channels may still arrive."""
        self._tell("UNSUBSCRIBE", channels)

    async def wait_until_lost(self) -> None:
        await self._is_lost.wait()

    def _tell(self, command: str, channels: Sequence[str]) -> None:
        """Send a command that has no reply but pushes, unless the connection was lost."""
        if self.is_open:
            self._transport.write(hiredis.pack_command((command, *channels)))  # type: ignore[arg-type]  # its stubs say less than it takes

    def _handle_push(self, push: Sequence[str]) -> None:
        if push[0] == "message":
            self._on_message(push[1], push[2])

    def connection_lost(self, error: Exception | None) -> None:
        super().connection_lost(error)
        self._is_lost.set()


class Subscriber:
    """Opens pub/sub connections to a store, one after the other."""

    def __init__(self, url: RedisURL, on_message: OnMessage) -> None:
        self._url = url
        self._make = partial(SubscriberConnection, on_message)
        self._cluster = Cluster(url.addresses, self._server_at)

    async def connect(self) -> SubscriberConnection:
        """A new connection. Raises Unreachable."""
        match self._url.topology:
            case Topology.SERVER:
                return await connect(self._url.connection(), self._make)
            case Topology.SENTINEL:
                return await connect_to_primary(self._url, self._make)
            case Topology.CLUSTER:
                self._cluster.mark_stale(monotonic())
                address, *_ = await self._cluster.addresses()
                return await connect(self._url.connection(address), self._make)

    async def check(self, connection: SubscriberConnection) -> None:
        """Verify that a connection still gets all messages. Raises Unreachable."""
        command, expected = self._check_command()
        (reply,) = await connection.send([command])
        if expected not in str(reply):
            raise Unreachable(f"it gets no messages: {reply}")

    def close(self) -> None:
        self._cluster.close()

    def _check_command(self) -> tuple[Command, str]:
        """A command, and what its reply contains if messages arrive."""
        match self._url.topology:
            case Topology.SERVER:
                return ("PING",), "PONG"
            case Topology.SENTINEL:
                return ("ROLE",), "master"
            case Topology.CLUSTER:
                return ("CLUSTER", "INFO"), "cluster_state:ok"

    def _server_at(self, address: Address) -> NodeClient:
        return NodeClient(lambda: connect(self._url.connection(address), RedisConnection))
