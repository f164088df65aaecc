"""Links that hear what is published: on a cluster any server tells all of it, elsewhere the primary does."""

import asyncio
from collections.abc import Callable, Sequence
from functools import partial
from time import monotonic

import hiredis

from store.client.cluster import Cluster
from store.client.commands import Command
from store.client.connection import Link, Unreachable, connected
from store.client.nodes import Node
from store.client.sentinel import primary
from store.client.urls import Address, Kind, Route

Hear = Callable[[str], None]


class Ear(Link):
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


class Ears:
    """Makes one ear after the other, wherever one can be had."""

    def __init__(self, route: Route, hear: Hear) -> None:
        self._route = route
        self._make = partial(Ear, hear)
        self._cluster = Cluster(route.addresses, self._server_at)

    async def connected(self) -> Ear:
        """A new ear. Raises Unreachable."""
        match self._route.kind:
            case Kind.SERVER:
                return await connected(self._route.connection(), self._make)
            case Kind.SENTINEL:
                return await primary(self._route, self._make)
            case Kind.CLUSTER:
                self._cluster.doubt(monotonic())
                address, *_ = await self._cluster.addresses()
                return await connected(self._route.connection(address), self._make)

    async def check(self, ear: Ear) -> None:
        """Have an ear prove that it hears whatever is published. Raises Unreachable."""
        command, proof = self._proof()
        (reply,) = await ear.send([command])
        if proof not in str(reply):
            raise Unreachable(f"it does not take part: {reply}")

    def close(self) -> None:
        self._cluster.close()

    def _proof(self) -> tuple[Command, str]:
        match self._route.kind:
            case Kind.SERVER:
                return ("PING",), "PONG"
            case Kind.SENTINEL:
                return ("ROLE",), "master"
            case Kind.CLUSTER:
                return ("CLUSTER", "INFO"), "cluster_state:ok"

    def _server_at(self, address: Address) -> Node:
        return Node(lambda: connected(self._route.connection(address), Link))
