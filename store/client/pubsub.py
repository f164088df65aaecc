"""Links that hear what is published: on a cluster any server tells all of it, elsewhere the primary does."""

import asyncio
from collections.abc import Callable, Sequence
from functools import partial
from time import monotonic

import hiredis

from store.client.cluster import Cluster
from store.client.commands import Command
from store.client.connection import Connection, Unreachable, connected
from store.client.nodes import NodeClient
from store.client.sentinel import primary
from store.client.urls import Address, RedisURL, Topology

Hear = Callable[[str], None]


class SubscriberConnection(Connection):
    """`hear` is called with each message of the channels."""

    def __init__(self, hear: Hear, writer: asyncio.StreamWriter) -> None:
        super().__init__(writer)
        self._hear = hear
        self._is_lost = asyncio.Event()

    async def subscribe(self, channels: Sequence[str]) -> None:
        """Hear channels: from now on, as the reply to what is sent behind tells. Raises Unreachable if it was lost."""
        self._transport.write(hiredis.pack_command(("SUBSCRIBE", *channels)))  # type: ignore[arg-type]  # its stubs say less than it takes
        if await self.send([("PING",)]) != ["PONG"]:
            raise Unreachable("it does not answer")

    async def lost(self) -> None:
        """Wait until the link is lost."""
        await self._is_lost.wait()

    def _heard(self, push: Sequence[str]) -> None:
        if push[0] == "message":
            self._hear(push[2])

    def connection_lost(self, error: Exception | None) -> None:
        super().connection_lost(error)
        self._is_lost.set()


class Subscriber:
    """Makes one ear after the other, wherever one can be had."""

    def __init__(self, url: RedisURL, hear: Hear) -> None:
        self._route = url
        self._make = partial(SubscriberConnection, hear)
        self._cluster = Cluster(url.addresses, self._server_at)

    async def connected(self) -> SubscriberConnection:
        """A new ear. Raises Unreachable."""
        match self._route.kind:
            case Topology.SERVER:
                return await connected(self._route.connection(), self._make)
            case Topology.SENTINEL:
                return await primary(self._route, self._make)
            case Topology.CLUSTER:
                self._cluster.mark_stale(monotonic())
                address, *_ = await self._cluster.addresses()
                return await connected(self._route.connection(address), self._make)

    async def check(self, ear: SubscriberConnection) -> None:
        """Have an ear prove that it hears whatever is published. Raises Unreachable."""
        command, proof = self._proof()
        (reply,) = await ear.send([command])
        if proof not in str(reply):
            raise Unreachable(f"it does not take part: {reply}")

    def close(self) -> None:
        self._cluster.close()

    def _proof(self) -> tuple[Command, str]:
        match self._route.kind:
            case Topology.SERVER:
                return ("PING",), "PONG"
            case Topology.SENTINEL:
                return ("ROLE",), "master"
            case Topology.CLUSTER:
                return ("CLUSTER", "INFO"), "cluster_state:ok"

    def _server_at(self, address: Address) -> NodeClient:
        return NodeClient(lambda: connected(self._route.connection(address), Connection))
