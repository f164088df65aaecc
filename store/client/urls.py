"""
URLs of stores: one server, a primary that sentinels name, or a cluster.

    redis://user:password@host:6379/0       rediss:// over TLS, unix:///path/of/socket?db=0
    redis+sentinel://user:password@host:26379,host:26379/service/0
    redis+cluster://user:password@host:6379,host:6379

`rediss+sentinel://` and `rediss+cluster://` use TLS. The query has options of redis-py's connections, such as
`ssl_ca_certs`; `sentinel_username` and `sentinel_password` are for the sentinels.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum
from typing import Any
from urllib.parse import parse_qsl, unquote, urlencode

from redis.asyncio.connection import AbstractConnection, Connection, parse_url

DEFAULT_PORT = 6379
DEFAULT_SENTINEL_PORT = 26379
FORMATS = {
    "": "redis://host:port/db, rediss://host:port/db or unix:///path",
    "sentinel": "redis+sentinel://host:port,host:port/service",
    "cluster": "redis+cluster://host:port,host:port",
}

Address = tuple[str, int]  # host and port


class Topology(Enum):
    """How the servers of a store are found; the value is the suffix of the URL's scheme."""

    SERVER = ""
    SENTINEL = "sentinel"
    CLUSTER = "cluster"


@dataclass(frozen=True, slots=True)
class RedisURL:
    """`options` are for redis-py's connections to servers, `sentinel_options` for those to sentinels."""

    topology: Topology
    addresses: tuple[Address, ...]
    options: Mapping[str, Any]
    service: str = ""
    sentinel_options: Mapping[str, Any] | None = None

    def connection(self, address: Address | None = None) -> AbstractConnection:
        """A redis-py connection, not yet open, to the server of the URL or to an address."""
        return _connection(self.options, address)

    def sentinel(self, address: Address) -> AbstractConnection:
        return _connection(self.sentinel_options or {}, address)


def parse(url: str) -> RedisURL:
    """
    Parse the URL of a store.

    Raises:
        ValueError: it is not one. The message has no password.
    """
    scheme, separator, rest = url.partition("://")
    base, _, kind = scheme.partition("+")
    if not separator or base not in ("redis", "rediss", "unix") or kind not in FORMATS or (base == "unix" and kind):
        raise ValueError(f"a store's URL is {', '.join(FORMATS.values())}")
    rest, _, query = rest.partition("?")
    match Topology(kind):
        case Topology.SERVER:
            return _unix_socket(rest, query) if base == "unix" else _server(base, rest, query)
        case Topology.SENTINEL:
            return _sentinels(base, rest, query)
        case Topology.CLUSTER:
            return _cluster(base, rest, query)


def _unix_socket(rest: str, query: str) -> RedisURL:
    if not rest.startswith("/") and "@/" not in rest:
        raise ValueError("the path of a unix socket is absolute: unix:///path")
    return RedisURL(Topology.SERVER, (), _connection_options(f"unix://{rest}?{query}"))


def _server(base: str, rest: str, query: str) -> RedisURL:
    login, hosts, db = _split(rest)
    address = _address(hosts, Topology.SERVER)
    options = {**_options(f"{base}://{login}", db, query), **_host_and_port(address)}
    return RedisURL(Topology.SERVER, (address,), options)


def _sentinels(base: str, rest: str, query: str) -> RedisURL:
    login, hosts, path = _split(rest)
    addresses = tuple(_address(host, Topology.SENTINEL) for host in hosts.split(","))
    service, _, db = path.partition("/")
    if not service:
        raise ValueError(f"the name of the service is missing: {FORMATS['sentinel']}")
    pairs = parse_qsl(query, keep_blank_values=True, strict_parsing=bool(query))
    for_servers = [(name, value) for name, value in pairs if not name.startswith("sentinel_")]
    for_sentinels = [(name.removeprefix("sentinel_"), value) for name, value in pairs if name.startswith("sentinel_")]
    for_sentinels += [(name, value) for name, value in for_servers if name.startswith("ssl")]
    options = _options(f"{base}://{login}", db, urlencode(for_servers))
    sentinel_options = _options(f"{base}://", "", urlencode(for_sentinels))
    return RedisURL(Topology.SENTINEL, addresses, options, unquote(service), sentinel_options)


def _cluster(base: str, rest: str, query: str) -> RedisURL:
    login, hosts, path = _split(rest)
    addresses = tuple(_address(host, Topology.CLUSTER) for host in hosts.split(","))
    if path:
        raise ValueError(f"a cluster has database 0 only, and its URL ends with the hosts: {FORMATS['cluster']}")
    return RedisURL(Topology.CLUSTER, addresses, _options(f"{base}://{login}", "", query))


def _split(rest: str) -> tuple[str, str, str]:
    """The login (with its `@`), the hosts, and the path of what follows the scheme."""
    login, at, rest = rest.rpartition("@")
    hosts, _, path = rest.partition("/")
    return login + at, hosts, path


def _address(text: str, topology: Topology) -> Address:
    """A host and a port, as in `host:6379`, `host` or `[::1]:6379`."""
    if text.startswith("["):
        address, bracket, rest = text.removeprefix("[").partition("]")
        host = address if bracket else ""
        _, colon, port = rest.partition(":")
    else:
        host, colon, port = text.partition(":")
    if not host or (colon and not (port.isdecimal() and 0 < int(port) < 65_536)):
        raise ValueError(f"{text!r} is not a host and port, as in {FORMATS[topology.value]}")
    default = DEFAULT_SENTINEL_PORT if topology is Topology.SENTINEL else DEFAULT_PORT
    return unquote(host), int(port) if colon else default


def _options(prefix: str, db: str, query: str) -> dict[str, Any]:
    """The options of a URL without hosts. "host" stands for one, as redis-py parses only whole URLs."""
    if db and not db.isdecimal():
        raise ValueError(f"{db!r} is not the number of a database")
    return _connection_options(f"{prefix}host/{db}?{query}")


def _connection_options(url: str) -> dict[str, Any]:
    """The options of redis-py's connections. A connection is created once, so that unknown options are refused."""
    try:
        options = {**parse_url(url), "protocol": 3, "decode_responses": True, "socket_timeout": None}
        _connection(options, address=None)
    except TypeError as error:  # "... got an unexpected keyword argument 'name'"
        raise ValueError(f"an option of the URL is unknown: {str(error).rpartition(' ')[2]}") from error
    return options


def _connection(options: Mapping[str, Any], address: Address | None) -> AbstractConnection:
    arguments = {**options, **(_host_and_port(address) if address else {})}
    connection: AbstractConnection = arguments.pop("connection_class", Connection)(**arguments)
    return connection


def _host_and_port(address: Address) -> dict[str, Any]:
    return {"host": address[0], "port": address[1]}
