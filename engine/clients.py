"""Who asks: the little that an application needs to know of a request to open its context."""

from collections.abc import Callable, Hashable, Mapping, Set
from typing import Any, NamedTuple, Protocol, TypeAlias

Headers: TypeAlias = Mapping[bytes, bytes]


class Client(NamedTuple):
    token: str | None
    address: str
    stats: bool = False
    traceparent: str = ""


class BackendUsage(Protocol):
    """What an answer cost: how often it waited for the store, and for how many commands."""

    round_trips: int
    commands: int


class Context(Protocol):
    @property
    def usage(self) -> BackendUsage: ...

    def notes(self) -> dict[str, Any]:
        """What else an answer's `extensions` say."""
        ...


OpenContext: TypeAlias = Callable[[Client], Context]
ViewerOf: TypeAlias = Callable[[Client], Hashable]


def client_of(scope: Mapping[str, Any], headers: Headers, proxies: Set[str] = frozenset()) -> Client:
    token = bearer_token(headers.get(b"authorization", b"").decode("latin-1"))
    traceparent = headers.get(b"traceparent", b"").decode("latin-1")
    return Client(token, address_of(scope, headers, proxies), headers.get(b"x-upvote-stats") == b"1", traceparent)


def socket_client(client: Client, init: Mapping[str, Any]) -> Client:
    """The client of a socket, as its first message introduces it: browsers cannot set headers on a handshake."""
    authorization = init.get("Authorization") or init.get("authorization")
    token = bearer_token(authorization) if isinstance(authorization, str) else init.get("token")
    return client._replace(token=token) if isinstance(token, str) else client


def bearer_token(authorization: str) -> str | None:
    scheme, _, token = authorization.partition(" ")
    return token.strip() or None if scheme.lower() == "bearer" else None


def address_of(scope: Mapping[str, Any], headers: Headers, proxies: Set[str]) -> str:
    """Each proxy adds who came to it: only as long as they are trusted, what stands before is believed."""
    client = scope.get("client")
    address: str = client[0] if client else ""
    if address not in proxies:
        return address
    hops = headers.get(b"x-forwarded-for", b"").decode("latin-1").split(",")
    while address in proxies and hops:
        address = hops.pop().strip() or address
    return address
