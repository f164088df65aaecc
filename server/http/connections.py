"""
Limits on connections and on the head of a request (its URL and headers), and the responses to those that exceed them.
"""

from asyncio import Transport
from collections import Counter
from collections.abc import Callable, Container
from dataclasses import dataclass, field
from http import HTTPStatus
from itertools import chain

from engine.clients import IPV6_PREFIX, network_of
from engine.errors import Refused
from engine.results import refusal_body
from server.http.slow_clients import SlowClients
from server.http.unread_output import UnreadOfConnection, UnreadOutput


class HeadTooLarge(Exception):
    """The head of a request exceeds a limit; `status` is the status of the response."""

    def __init__(self, status: int, reason: str) -> None:
        super().__init__(reason)
        self.status = status


@dataclass
class ConnectionLimiter:
    """
    Counts the open connections of this process and of each address, and holds the limits of a connection.

    A request has to be complete within `request_seconds`; a connection is closed when it is idle for `idle_seconds`.
    Unread output is what was sent to a client that has not read it yet. `trusted_proxies` have no limits per address,
    neither of connections nor of unread output; the IPv6 addresses of a network with a prefix of `ipv6_prefix` bits
    count as one. `on_change` is called with 1 or -1 when a connection opens or closes.
    """

    max_connections: int = 1_000
    max_per_address: int | None = 200
    trusted_proxies: Container[str] = frozenset()
    request_seconds: float = 10.0
    idle_seconds: float = 5.0
    max_headers: int = 100
    max_header_bytes: int = 16_384
    max_url_bytes: int = 65_536
    slow_clients: SlowClients = field(default_factory=SlowClients)
    unread_output: UnreadOutput = field(default_factory=UnreadOutput)
    open: Counter[str] = field(default_factory=Counter)  # connections, by address or IPv6 network
    on_change: Callable[[int], object] = lambda change: None
    ipv6_prefix: int = IPV6_PREFIX

    def admit(self, address: str) -> bool:
        """Whether one more connection of an address is allowed. If it is, it counts until `release`."""
        is_limited = self.max_per_address is not None and address not in self.trusted_proxies
        network = self._network(address)
        if self.open.total() >= self.max_connections:
            return False
        if is_limited and self.open[network] >= (self.max_per_address or 0):
            return False
        self.open[network] += 1
        self.on_change(1)
        return True

    def release(self, address: str) -> None:
        network = self._network(address)
        self.open[network] -= 1
        self.on_change(-1)
        if not self.open[network]:
            del self.open[network]

    def unread(self, address: str, transport: Transport) -> UnreadOfConnection:
        """The output of a connection that waits to be read; it counts until its `remove`."""
        is_trusted = address in self.trusted_proxies
        return self.unread_output.add(None if is_trusted else self._network(address), transport)

    def check_head(self, url: bytes, headers: list[tuple[bytes, bytes]]) -> None:
        """
        Raises:
            HeadTooLarge: the URL or the headers exceed a limit.
        """
        if len(url) > self.max_url_bytes:
            raise HeadTooLarge(414, f"the URL is longer than {self.max_url_bytes} bytes")
        if len(headers) > self.max_headers:
            raise HeadTooLarge(431, f"there are more than {self.max_headers} headers")
        if sum(map(len, chain.from_iterable(headers))) + len(": \r\n") * len(headers) > self.max_header_bytes:
            raise HeadTooLarge(431, f"the headers are longer than {self.max_header_bytes} bytes")

    def check_incomplete_head(self, size: int) -> None:
        """
        Raises:
            HeadTooLarge: no head of that many bytes is within the limits.
        """
        if size > self.max_header_bytes + self.max_url_bytes:
            raise HeadTooLarge(431, "the headers are too large")

    def _network(self, address: str) -> str:
        return network_of(address, self.ipv6_prefix)


def address_of(transport: Transport) -> str:
    """The address of the client; empty if it came by a Unix socket."""
    peer = transport.get_extra_info("peername")
    return str(peer[0]) if isinstance(peer, tuple) else ""


def error_response(status: int, refused: Refused) -> bytes:
    """A whole HTTP response, for errors that are found before there is a request to give to the application."""
    body = refusal_body(refused)
    head = f"HTTP/1.1 {status} {HTTPStatus(status).phrase}\r\nContent-Type: application/json; charset=utf-8\r\n"
    head += f"X-Content-Type-Options: nosniff\r\nContent-Length: {len(body)}\r\nConnection: close\r\n\r\n"
    return head.encode() + body
