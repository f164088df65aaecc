"""Limits how many bytes of responses and messages wait to be read: for a connection, and for an address."""

from asyncio import Transport
from collections import defaultdict
from collections.abc import Awaitable, Callable, Container
from dataclasses import dataclass, field

from engine.errors import Code, Refused

SMALL = 32_768  # bytes: smaller messages are not checked; uvicorn holds at most 64 kB of them for a connection


class UnreadOfConnection:
    """The bytes that wait on one connection. `pending` ones are not yet given to the transport."""

    __slots__ = ("_limits", "_of_address", "pending", "transport")

    def __init__(
        self, limits: "UnreadOutput", of_address: "set[UnreadOfConnection] | None", transport: Transport
    ) -> None:
        self._limits = limits
        self._of_address = of_address
        self.transport = transport
        self.pending = 0

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
        if self._of_address is None or limits.max_per_address is None:
            return
        waiting = sum([each.size() for each in self._of_address])
        if waiting and waiting + size > limits.max_per_address:
            raise too_much(limits.max_per_address, "address")


@dataclass
class UnreadOutput:
    """The connections of each address. `trusted_proxies` have no limit per address."""

    max_per_connection: int = 25_000_000
    max_per_address: int | None = 50_000_000
    trusted_proxies: Container[str] = frozenset()
    _connections: defaultdict[str, set[UnreadOfConnection]] = field(default_factory=lambda: defaultdict(set))

    def add(self, address: str, transport: Transport) -> UnreadOfConnection:
        if address in self.trusted_proxies:
            return UnreadOfConnection(self, None, transport)
        connection = UnreadOfConnection(self, self._connections[address], transport)
        self._connections[address].add(connection)
        return connection

    def remove(self, address: str, connection: UnreadOfConnection) -> None:
        of_address = self._connections.get(address, set())
        of_address.discard(connection)
        if not of_address:
            self._connections.pop(address, None)

    def waiting(self, address: str) -> int:
        """Bytes that wait on all connections of an address."""
        return sum([each.size() for each in self._connections.get(address, ())])


def too_much(limit: int, owner: str) -> Refused:
    return Refused(Code.TOO_MUCH_UNREAD, f"more than {limit} bytes of responses to this {owner} wait to be read")
