"""
The URL of a store: one server, a primary that sentinels know, or a cluster.

    redis://user:password@host:6379/0       rediss:// over TLS, unix:///path/of/socket?db=0
    redis+sentinel://user:password@host:26379,host:26379/service/0
    redis+cluster://user:password@host:6379,host:6379

With `rediss+sentinel://` and `rediss+cluster://` these go over TLS too. What follows a `?` are options of redis-py's
connections, as `ssl_ca_certs`; `sentinel_username` and `sentinel_password` are for the sentinels.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum
from typing import Any
from urllib.parse import parse_qsl, unquote, urlencode

from redis.asyncio.connection import AbstractConnection, Connection, parse_url

PORTS = {"sentinel": 26379}
PORT = 6379
SHAPES = {
    "": "redis://host:port/db, rediss://host:port/db or unix:///path",
    "sentinel": "redis+sentinel://host:port,host:port/service",
    "cluster": "redis+cluster://host:port,host:port",
}

Address = tuple[str, int]


class Topology(Enum):
    SERVER = ""
    SENTINEL = "sentinel"
    CLUSTER = "cluster"


@dataclass(frozen=True, slots=True)
class RedisURL:
    """`options` are for redis-py's connections to servers, `sentinel_options` for those to sentinels."""

    kind: Topology
    addresses: tuple[Address, ...]
    options: Mapping[str, Any]
    service: str = ""
    sentinel_options: Mapping[str, Any] | None = None

    def connection(self, address: Address | None = None) -> AbstractConnection:
        """A new connection, not yet made, to the server of the URL or to one at an address."""
        return _connection(self.options, address)

    def sentinel(self, address: Address) -> AbstractConnection:
        return _connection(self.sentinel_options or {}, address)


def parse(url: str) -> RedisURL:
    """
    The url that a URL describes.

    Raises:
        ValueError: it describes none; the message has no password.
    """
    scheme, separator, rest = url.partition("://")
    base, _, kind = scheme.partition("+")
    if not separator or base not in ("redis", "rediss", "unix") or kind not in SHAPES or (base == "unix" and kind):
        raise ValueError(f"a store's URL is {', '.join(SHAPES.values())}")
    rest, _, query = rest.partition("?")
    if Topology(kind) is Topology.SERVER:
        return _server(base, rest, query)
    who, at, rest = rest.rpartition("@")
    hosts, _, path = rest.partition("/")
    addresses = tuple(_address(host, kind) for host in hosts.split(","))
    service, _, db = path.partition("/")
    if Topology(kind) is Topology.CLUSTER:
        if path:
            raise ValueError(f"nothing follows the hosts of {SHAPES[kind]}: a cluster has database 0 only")
        return RedisURL(Topology.CLUSTER, addresses, _options(f"{base}://{who}{at}", "", query))
    if not service:
        raise ValueError(f"the name of the service is missing: {SHAPES[kind]}")
    ours = [(name, value) for name, value in _parsed(query) if not name.startswith("sentinel_")]
    theirs = [(name.removeprefix("sentinel_"), value) for name, value in _parsed(query) if name.startswith("sentinel_")]
    theirs += [(name, value) for name, value in ours if name.startswith("ssl")]
    options = _options(f"{base}://{who}{at}", db, urlencode(ours))
    return RedisURL(
        Topology.SENTINEL, addresses, options, unquote(service), _options(f"{base}://", "", urlencode(theirs))
    )


def _server(base: str, rest: str, query: str) -> RedisURL:
    if base == "unix":
        if not rest.startswith("/") and "@/" not in rest:
            raise ValueError("the path of a unix socket is absolute: unix:///path")
        options = _built(f"unix://{rest}?{query}")
        return RedisURL(Topology.SERVER, (), options)
    who, at, place = rest.rpartition("@")
    host, _, db = place.partition("/")
    address = _address(host, "")
    return RedisURL(Topology.SERVER, (address,), {**_options(f"{base}://{who}{at}", db, query), **_named(address)})


def _address(text: str, kind: str) -> Address:
    """A host and a port, as in `host:6379`, `host` or `[::1]:6379`."""
    host, bracket, rest = text.removeprefix("[").partition("]") if text.startswith("[") else ("", "", text)
    if not bracket:
        host, colon, port = rest.partition(":")
    else:
        _, colon, port = rest.partition(":")
    if not host or (colon and not (port.isdecimal() and 0 < int(port) < 65_536)):
        raise ValueError(f"{text!r} is no host and port, as in {SHAPES[kind]}")
    return unquote(host), int(port) if colon else PORTS.get(kind, PORT)


def _options(prefix: str, db: str, query: str) -> dict[str, Any]:
    if db and not db.isdecimal():
        raise ValueError(f"{db!r} is no number of a database")
    return _built(f"{prefix}host/{db}?{query}")


def _built(url: str) -> dict[str, Any]:
    """The options of redis-py's connections, tried out, so that what it does not know is refused at the start."""
    try:
        options = {**parse_url(url), "protocol": 3, "decode_responses": True, "socket_timeout": None}
        _connection(options, None)
    except TypeError as error:
        raise ValueError(f"an option of the URL is unknown: {str(error).rpartition(' ')[2]}") from error
    return options


def _connection(options: Mapping[str, Any], address: Address | None) -> AbstractConnection:
    given = {**options, **(_named(address) if address else {})}
    made: AbstractConnection = given.pop("connection_class", Connection)(**given)
    return made


def _named(address: Address) -> dict[str, Any]:
    return {"host": address[0], "port": address[1]}


def _parsed(query: str) -> list[tuple[str, str]]:
    return parse_qsl(query, keep_blank_values=True, strict_parsing=bool(query))
