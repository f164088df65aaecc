"""How many connections a process serves at once, what it lets them ask for, and what those read that it turns away."""

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from http import HTTPStatus

from engine.errors import Refused
from engine.responses import refusal_body
from server.http_limits.slow_clients import Readers
from server.http_limits.unread_answers import Outgoing


class TooLong(Exception):
    """What is said of a request before its body is more than we read. `status` is what to answer."""

    def __init__(self, status: int, reason: str) -> None:
        super().__init__(reason)
        self.status = status


@dataclass
class Door:
    """
    Lets connections in, up to so many of a process and of an address; `trusted` are proxies, who come for many.

    `on_change` is called with how many came in or, below zero, left.

    Once inside, a request has to be whole within `seconds`, the next has to begin `idle_seconds` after an answer, and
    answers have to be read; `outgoing` bounds those that wait for it.
    """

    connections: int = 1_000
    of_an_address: int | None = 100
    trusted: frozenset[str] = frozenset()
    seconds: float = 10.0
    idle_seconds: float = 5.0
    headers: int = 100
    header_bytes: int = 16_384
    url_bytes: int = 65_536
    readers: Readers = field(default_factory=Readers)
    outgoing: Outgoing = field(default_factory=Outgoing)
    inside: Counter[str] = field(default_factory=Counter)
    on_change: Callable[[int], object] = lambda count: None

    def enter(self, address: str) -> bool:
        is_crowded = self.of_an_address is not None and self.inside[address] >= self.of_an_address
        if self.inside.total() >= self.connections or (is_crowded and address not in self.trusted):
            return False
        self.inside[address] += 1
        self.on_change(1)
        return True

    def leave(self, address: str) -> None:
        self.inside[address] -= 1
        self.on_change(-1)
        if not self.inside[address]:
            del self.inside[address]

    def check_url(self, url: bytes) -> None:
        if len(url) > self.url_bytes:
            raise TooLong(414, f"the URL is longer than {self.url_bytes} bytes")

    def check_headers(self, headers: list[tuple[bytes, bytes]]) -> None:
        if len(headers) > self.headers:
            raise TooLong(431, f"there are more than {self.headers} headers")
        if sum(len(name) + len(value) + len(": \r\n") for name, value in headers) > self.header_bytes:
            raise TooLong(431, f"the headers are longer than {self.header_bytes} bytes")


def address_of(client: tuple[str, int] | None) -> str:
    return client[0] if client else ""


def response(status: int, refused: Refused) -> bytes:
    body = refusal_body(refused)
    head = f"HTTP/1.1 {status} {HTTPStatus(status).phrase}\r\nContent-Type: application/json; charset=utf-8\r\n"
    head += f"X-Content-Type-Options: nosniff\r\nContent-Length: {len(body)}\r\nConnection: close\r\n\r\n"
    return head.encode() + body
