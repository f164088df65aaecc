"""Limits how many bytes of responses and messages wait to be read: for a connection, and for an address."""

from asyncio import Transport
from collections import defaultdict
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field

from engine.errors import Code, Refused

SMALL = 32_768  # bytes: smaller messages are not checked; uvicorn holds at most 64 kB of them for a connection


class UnreadOfConnection:
    """
    The bytes that wait on one connection. `pending` ones are not yet given to the transport. A connection without a
    `network`, which is one of a trusted proxy, has a limit of its own only.
    """

    __slots__ = ("_limits", "_network", "pending", "transport")

    def __init__(self, limits: "UnreadOutput", network: str | None, transport: Transport) -> None:
        self._limits = limits
        self._network = network
        self.transport = transport
        self.pending = 0

    def remove(self) -> None:
        """The connection is closed: what waits on it does not count any more."""
        if self._network is not None:
            self._limits.remove(self._network, self)

    def size(self) -> int:
        return self.pending + self.transport.get_write_buffer_size()

    async def send(self, size: int, send: Callable[[], Awaitable[None]]) -> None:
        """
        Send a message of `size` bytes, which count as waiting until the transport has them.

        Raises:
            Refused: too many bytes wait already; nothing was sent.
        """
        if size <= SMALL:
            await send()
            return
        self.check(size)
        self.pending += size
        try:
            await send()
        finally:
            self.pending -= size

    def check(self, size: int) -> None:
        """
        Check that `size` more bytes may wait. Any size may where none wait yet.

        Raises:
            Refused: too many bytes wait already.
        """
        limits = self._limits
        waiting = self.size()
        if waiting and waiting + size > limits.max_per_connection:
            raise too_much(limits.max_per_connection, "connection")
        if self._network is None or limits.max_per_address is None:
            return
        waiting = limits.waiting(self._network)
        if waiting and waiting + size > limits.max_per_address:
            raise too_much(limits.max_per_address, "address")


@dataclass
class UnreadOutput:
    """The connections of each network: an IPv4 address, or the IPv6 addresses that count as one."""

    max_per_connection: int = 25_000_000
    max_per_address: int | None = 50_000_000
    _connections: defaultdict[str, set[UnreadOfConnection]] = field(default_factory=lambda: defaultdict(set))

    def add(self, network: str | None, transport: Transport) -> UnreadOfConnection:
        """A connection; without a network it has a limit of its own only. It counts until its `remove`."""
        connection = UnreadOfConnection(self, network, transport)
        if network is not None:
            self._connections[network].add(connection)
        return connection

    def remove(self, network: str, connection: UnreadOfConnection) -> None:
        of_network = self._connections.get(network, set())
        of_network.discard(connection)
        if not of_network:
            self._connections.pop(network, None)

    def waiting(self, network: str) -> int:
        """Bytes that wait on all connections of a network."""
        return sum([each.size() for each in self._connections.get(network, ())])


def too_much(limit: int, owner: str) -> Refused:
    return Refused(Code.TOO_MUCH_UNREAD, f"more than {limit} bytes of responses to this {owner} wait to be read")
