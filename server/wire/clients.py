"""Who asks: the little that an application needs to know of a request to open its context."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any, Protocol, TypeAlias

Headers: TypeAlias = Mapping[bytes, bytes]


@dataclass(frozen=True, slots=True)
class Client:
    token: str | None
    address: str
    stats: bool = False
    traceparent: str = ""


class Context(Protocol):
    def stats(self) -> dict[str, int]: ...


OpenContext: TypeAlias = Callable[[Client], Context]


def client_of(scope: Mapping[str, Any], headers: Headers) -> Client:
    token = bearer_token(headers.get(b"authorization", b"").decode("latin-1"))
    traceparent = headers.get(b"traceparent", b"").decode("latin-1")
    return Client(token, address_of(scope), headers.get(b"x-upvote-stats") == b"1", traceparent)


def socket_client(client: Client, init: Mapping[str, Any]) -> Client:
    """The client of a socket, as its first message introduces it: browsers cannot set headers on a handshake."""
    authorization = init.get("Authorization") or init.get("authorization")
    token = bearer_token(authorization) if isinstance(authorization, str) else init.get("token")
    return replace(client, token=token) if isinstance(token, str) else client


def bearer_token(authorization: str) -> str | None:
    scheme, _, token = authorization.partition(" ")
    return token.strip() or None if scheme.lower() == "bearer" else None


def address_of(scope: Mapping[str, Any]) -> str:
    client = scope.get("client")
    return client[0] if client else ""
