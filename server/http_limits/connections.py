"""Limits on connections and on the head of a request, and the responses to those that exceed them."""

from collections import Counter
from collections.abc import Callable, Container
from dataclasses import dataclass, field
from http import HTTPStatus
from itertools import chain

from engine.errors import Refused
from engine.handler import refusal_body
from server.http_limits.slow_clients import SlowClients
from server.http_limits.unread_output import UnreadOutput


class HeadersTooLarge(Exception):
    """The head of a request exceeds a limit; `status` is the status of the response."""

    def __init__(self, status: int, reason: str) -> None:
        super().__init__(reason)
        self.status = status


@dataclass
class ConnectionLimiter:
    """
    Counts the open connections of this process and of each address, and holds the limits of a connection.

    A request has to be complete within `request_seconds`; a connection is closed when it is idle for `idle_seconds`.
    `trusted_proxies` have no limit per address. `on_change` is called with 1 or -1 when a connection opens or closes.
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
    open: Counter[str] = field(default_factory=Counter)
    on_change: Callable[[int], object] = lambda count: None

    def admit(self, address: str) -> bool:
        """Whether one more connection of an address is allowed. If it is, it counts until `release`."""
        is_limited = self.max_per_address is not None and address not in self.trusted_proxies
        if self.open.total() >= self.max_connections:
            return False
        if is_limited and self.open[address] >= (self.max_per_address or 0):
            return False
        self.open[address] += 1
        self.on_change(1)
        return True

    def release(self, address: str) -> None:
        self.open[address] -= 1
        self.on_change(-1)
        if not self.open[address]:
            del self.open[address]

    def is_small_head(self, size: int, headers: int) -> bool:
        """Whether a head of at most that many bytes is within the limits, so that `check_head` is not needed."""
        return size <= self.max_header_bytes and size <= self.max_url_bytes and headers <= self.max_headers

    def check_head(self, url: bytes, headers: list[tuple[bytes, bytes]]) -> None:
        """
        Raises:
            HeadersTooLarge: the URL or the headers exceed a limit.
        """
        if len(url) > self.max_url_bytes:
            raise HeadersTooLarge(414, f"the URL is longer than {self.max_url_bytes} bytes")
        if len(headers) > self.max_headers:
            raise HeadersTooLarge(431, f"there are more than {self.max_headers} headers")
        if sum(map(len, chain.from_iterable(headers))) + len(": \r\n") * len(headers) > self.max_header_bytes:
            raise HeadersTooLarge(431, f"the headers are longer than {self.max_header_bytes} bytes")

    def check_incomplete_head(self, size: int) -> None:
        """
        Raises:
            HeadersTooLarge: no head of that many bytes is within the limits.
        """
        if size > self.max_header_bytes + self.max_url_bytes:
            raise HeadersTooLarge(431, "the headers are too large")


def address_of(client: tuple[str, int] | None) -> str:
    return client[0] if client else ""


def error_response(status: int, refused: Refused) -> bytes:
    """A whole HTTP response, for errors that are found before there is a request to give to the application."""
    body = refusal_body(refused)
    head = f"HTTP/1.1 {status} {HTTPStatus(status).phrase}\r\nContent-Type: application/json; charset=utf-8\r\n"
    head += f"X-Content-Type-Options: nosniff\r\nContent-Length: {len(body)}\r\nConnection: close\r\n\r\n"
    return head.encode() + body
