"""
The client of a request, from its headers: its token, its address, its server key, and the origin of its page. A scope
is what ASGI passes with a request or a WebSocket: a dict with its headers, path and address.
"""

import re
from collections.abc import Callable, Container, Mapping, MutableMapping
from ipaddress import IPv6Address, IPv6Network
from random import getrandbits
from typing import Any, NamedTuple, TypeAlias

from caches import memo

Headers: TypeAlias = Mapping[bytes, bytes]

IPV6_PREFIX = 64  # bits: the smallest network that a provider gives to a customer (RFC 6177)
MAX_IPV6_LENGTH = 45  # characters of an address without the name of an interface
HEADERS_BY_NAME = "engine.headers"  # the key of an ASGI scope under which `headers_of` keeps its result
LOOPBACK_HOST = re.compile(rb"(?:localhost|127\.0\.0\.1|\[::1\])(?::[0-9]{1,5})?")
# An address with a port, or an IPv6 address in brackets: proxies such as Azure's write both.
WITH_PORT = re.compile(r"\[([0-9A-Fa-f:.]+)\](?::[0-9]{1,5})?|([0-9]{1,3}(?:\.[0-9]{1,3}){3}):[0-9]{1,5}")
VALID_REQUEST_ID = re.compile(rb"[\w.:-]{1,64}", re.ASCII)
make_tuple = tuple.__new__  # creates a named tuple without a call of Python code; each request creates four


class ServerKey(NamedTuple):
    """The key of a server that sends requests of its visitors, and the visitor's address; not checked yet."""

    text: str
    visitor: str


class Client(NamedTuple):
    """
    Who sends a request. `token` is that of a session. `address` is the IPv4 address or the IPv6 network: clients with
    the same one share a limit by address. `stats` asks for the cost of the execution in the response's extensions.
    `traceparent` is the header of a distributed trace, "" without one. `key` is set if another server sends the
    request.

    `last_event_id` is that of an EventSource that connects again: the id of the last event it has received. `scope` is
    that of the request or the WebSocket, for what few operations read. `viewer` is the user whom a page shows, if the
    token comes from a cookie: `RequestHandler.prepare` refuses a token of another user. `identified` is what the
    application has found out about the token, see `Options.identify`.
    """

    token: str | None
    address: str
    stats: bool = False
    traceparent: str = ""
    key: ServerKey | None = None
    last_event_id: str = ""
    scope: MutableMapping[str, Any] | None = None
    viewer: str = ""
    identified: Any = None


class ClientHeaders(NamedTuple):
    """The names of an application's own headers, in lower case: see `Options`."""

    stats: bytes | None = None
    key: bytes | None = None
    visitor: bytes | None = None


def headers_of(scope: MutableMapping[str, Any]) -> Headers:
    """
    The headers of a scope by name, the last of each name.

    The scope keeps them for the next caller, together with the list that they were made from: a copy of the scope may
    have got another list.
    """
    raw = scope["headers"]
    raw_and_by_name: tuple[Any, Headers] | None = scope.get(HEADERS_BY_NAME)
    if raw_and_by_name is None or raw_and_by_name[0] is not raw:
        raw_and_by_name = scope[HEADERS_BY_NAME] = raw, dict(raw)
    return raw_and_by_name[1]


def request_id_of(headers: Headers) -> str:
    """Return the client's X-Request-Id if it is valid, else a random id, which is unique but not secret."""
    given = headers.get(b"x-request-id", b"")
    if given and VALID_REQUEST_ID.fullmatch(given):
        return given.decode()
    return getrandbits(64).to_bytes(8).hex()


def client_of(
    scope: MutableMapping[str, Any],
    headers: Headers,
    proxies: Container[str] = frozenset(),
    names: ClientHeaders = ClientHeaders(),  # noqa: B008 - it is immutable
    on_untrusted_proxy: Callable[[str], object] = lambda address: None,
    ipv6_prefix: int = IPV6_PREFIX,
) -> Client:
    """
    The client of a request with these headers. `proxies` are the addresses of trusted proxies, `names` the names of the
    application's own headers; the other arguments are those of `Options`.
    """
    token = bearer_token(headers[b"authorization"].decode("latin-1")) if b"authorization" in headers else None
    traceparent = headers[b"traceparent"].decode("latin-1") if b"traceparent" in headers else ""
    wants_stats = names.stats is not None and headers.get(names.stats) == b"1"
    key = None
    if names.key is not None and names.key in headers:
        visitor = headers.get(names.visitor, b"") if names.visitor else b""
        key = ServerKey(headers[names.key].decode("latin-1").strip(), visitor.decode("latin-1").strip())
    address = network_of(address_of(scope, headers, proxies, on_untrusted_proxy), ipv6_prefix)
    last_event_id = headers[b"last-event-id"].decode("utf-8", "replace") if b"last-event-id" in headers else ""
    # without `viewer` and `identified`: cookies and `Options.identify` set them later
    return make_tuple(Client, (token, address, wants_stats, traceparent, key, last_event_id, scope, "", None))


def bearer_token(authorization: str) -> str | None:
    scheme, _, token = authorization.partition(" ")
    return token.strip() or None if scheme.lower() == "bearer" else None


def authenticated_by_init(client: Client, payload: Mapping[str, Any]) -> Client:
    """Return a WebSocket's client with the token of `connection_init`: browsers cannot set headers on a handshake."""
    authorization = payload.get("Authorization") or payload.get("authorization")
    token = bearer_token(authorization) if isinstance(authorization, str) else payload.get("token")
    return client._replace(token=token, viewer="", identified=None) if isinstance(token, str) else client


def address_of(
    scope: Mapping[str, Any],
    headers: Headers,
    proxies: Container[str],
    on_untrusted_proxy: Callable[[str], object],
) -> str:
    """Return the client's address, without a port: the last of X-Forwarded-For that is not a trusted proxy's."""
    client = scope.get("client")
    address: str = client[0] if client else ""
    if address not in proxies:
        if b"x-forwarded-for" in headers:
            on_untrusted_proxy(address)
        return address
    hops = headers.get(b"x-forwarded-for", b"").decode("latin-1").split(",")
    while address in proxies and hops:
        address = without_port(hops.pop().strip()) or address
    return address


def without_port(hop: str) -> str:
    """The address of a hop, which a port may follow; any other text as it is."""
    found = WITH_PORT.fullmatch(hop)
    return (found[1] or found[2]) if found else hop


def network_of(address: str, ipv6_prefix: int) -> str:
    """
    The network of an IPv6 address with a prefix of `ipv6_prefix` bits, such as `2001:db8::/64`. Of an IPv4 address that
    is mapped to IPv6 it is the IPv4 address; any other text is returned as it is.
    """
    if ":" not in address:
        return address
    plain = address.partition("%")[0]  # `%` and the name of an interface may follow a link-local address
    return _network_of(plain, ipv6_prefix) if len(plain) <= MAX_IPV6_LENGTH else address


@memo(entry_bytes=400, call_microseconds=4)
def _network_of(address: str, ipv6_prefix: int) -> str:
    try:
        parsed = IPv6Address(address)
    except ValueError:
        return address
    return str(parsed.ipv4_mapped or IPv6Network((int(parsed), ipv6_prefix), strict=False))


def is_own_origin(origin: bytes, headers: Headers) -> bool:
    """
    Whether the page that sends a request was loaded from this server, so that the request has the same origin.

    Behind a proxy that replaces the `Host`, such as a development server, only `Sec-Fetch-Site` shows it. Browsers set
    that header, and pages cannot change it.
    """
    return origin.partition(b"://")[2] == headers.get(b"host") or headers.get(b"sec-fetch-site") == b"same-origin"


def is_loopback(origin: bytes, headers: Headers) -> bool:
    """Whether both the page and the server have a loopback name: a page of another site has another origin."""
    host = headers.get(b"host", b"")
    return bool(LOOPBACK_HOST.fullmatch(origin.partition(b"://")[2]) and LOOPBACK_HOST.fullmatch(host))
