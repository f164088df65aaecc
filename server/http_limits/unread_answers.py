"""Answers that wait to be read: at most so many bytes of one connection, and of all connections of an address."""

from asyncio import Transport
from collections import defaultdict
from collections.abc import Awaitable
from dataclasses import dataclass, field

from engine.errors import Code, Refused

SMALL = 32_768  # bytes: what is no larger is not looked at; a connection holds 64 kB of these at most


class Unread:
    """What waits on one connection. `pending` are bytes that are not yet given to the transport."""

    __slots__ = ("_of_address", "_outgoing", "pending", "transport")

    def __init__(self, outgoing: "Outgoing", of_address: "set[Unread] | None", transport: Transport) -> None:
        self._outgoing = outgoing
        self._of_address = of_address
        self.transport = transport
        self.pending = 0

    def size(self) -> int:
        return self.pending + self.transport.get_write_buffer_size()

    def check(self, size: int) -> None:
        """
        See whether so many bytes may wait, too. Where nothing waits they may.

        Raises:
            Refused: then there would be too many, of the connection or of its address.
        """
        waits = self.size()
        if waits and waits + size > self._outgoing.of_connection:
            raise too_much(self._outgoing.of_connection, "connection")
        if self._of_address is None or self._outgoing.of_address is None:
            return
        waits = sum([each.size() for each in self._of_address])
        if waits and waits + size > self._outgoing.of_address:
            raise too_much(self._outgoing.of_address, "address")

    async def sent(self, size: int, sending: Awaitable[None]) -> None:
        """Count so many bytes until they are given to the transport."""
        self.pending += size
        try:
            await sending
        finally:
            self.pending -= size


@dataclass
class Outgoing:
    """The connections of each address, but of `trusted` proxies, which have no bound in common."""

    of_connection: int = 25_000_000
    of_address: int | None = 50_000_000
    trusted: frozenset[str] = frozenset()
    _connections: defaultdict[str, set[Unread]] = field(default_factory=lambda: defaultdict(set))

    def enter(self, address: str, transport: Transport) -> Unread:
        if address in self.trusted:
            return Unread(self, None, transport)
        unread = Unread(self, self._connections[address], transport)
        self._connections[address].add(unread)
        return unread

    def leave(self, address: str, unread: Unread) -> None:
        of_address = self._connections.get(address, set())
        of_address.discard(unread)
        if not of_address:
            self._connections.pop(address, None)

    def waiting(self, address: str) -> int:
        """Bytes that wait for the connections of an address."""
        return sum([each.size() for each in self._connections.get(address, ())])


def too_much(limit: int, whose: str) -> Refused:
    return Refused(Code.TOO_MUCH_UNREAD, f"more than {limit} bytes of answers to this {whose} wait to be read")
