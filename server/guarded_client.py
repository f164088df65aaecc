"""
An HTTP client for the requests that the server makes to addresses that others choose. It reaches the public internet
only: each name is resolved here, its addresses are checked, and the connection goes to one of them. Each redirect is
checked like the first URL.
"""

import asyncio
import socket
import ssl
from collections.abc import Collection, Mapping
from ipaddress import IPv4Address, IPv6Address, IPv6Network, ip_address
from typing import NamedTuple

import httpx

WEB_PORTS = frozenset({80, 443})
MAX_REDIRECTS = 3  # of a request
TIME_LIMIT = 10.0  # seconds, from the look-up of the name to the last byte
MAX_ANSWER = 64_000  # bytes
DEFAULT_PORTS = {"http": 80, "https": 443}
TRANSLATED = IPv6Network("64:ff9b::/96")  # NAT64 (RFC 6052): the last 32 bits are an IPv4 address

Address = IPv4Address | IPv6Address


class NoAnswer(Exception):
    """There is no usable answer. The message says why; it is for the operator, not for clients."""


class Answer(NamedTuple):
    """An HTTP response, whose body was read."""

    status: int
    headers: httpx.Headers
    body: bytes


class GuardedClient:
    """
    With `allows_private`, addresses of private networks and of this computer are allowed, too: for URLs for which the
    operator says so. `ports` are those that URLs may name. With `needs_tls` no URL may have http, not even that of a
    redirect.

    Connections are not kept: TLS has checked the name of one host, and the next request may name another one at the
    same address.
    """

    def __init__(
        self, *, allows_private: bool = False, ports: Collection[int] = WEB_PORTS, needs_tls: bool = False
    ) -> None:
        inner = httpx.AsyncHTTPTransport(
            verify=ssl.create_default_context(), trust_env=False, limits=httpx.Limits(max_keepalive_connections=0)
        )
        schemes = frozenset(DEFAULT_PORTS) - ({"http"} if needs_tls else set())
        transport = _GuardedTransport(inner, schemes, frozenset(ports), allows_private=allows_private)
        self._client = httpx.AsyncClient(
            transport=transport, trust_env=False, max_redirects=MAX_REDIRECTS, timeout=None
        )

    async def send(
        self,
        method: str,
        url: str,
        *,
        content: bytes | None = None,
        headers: Mapping[str, str] | None = None,
        follows: bool = False,
        seconds: float = TIME_LIMIT,
        max_answer: int = MAX_ANSWER,
        cuts: bool = False,
    ) -> Answer:
        """
        The answer to a request, within `seconds`. With `follows`, redirects are followed, each after the same checks.
        With `cuts`, an answer of more than `max_answer` bytes is cut after them, and not refused.

        Raises:
            NoAnswer: the URL, the address of its host or the port is not allowed, nothing answers in time, or the
                answer is larger than `max_answer` bytes.
        """
        given = {"user-agent": "upvote", "accept-encoding": "identity", **(headers or {})}
        try:
            async with asyncio.timeout(seconds):
                async with self._client.stream(
                    method, url, content=content, headers=given, follow_redirects=follows
                ) as response:
                    return Answer(response.status_code, response.headers, await _read(response, max_answer, cuts=cuts))
        except TimeoutError:
            raise NoAnswer(f"no answer within {seconds:g} s") from None
        except (httpx.HTTPError, httpx.InvalidURL, httpx.StreamError) as error:
            raise NoAnswer(f"{type(error).__name__}: {error}") from error

    async def close(self) -> None:
        await self._client.aclose()


class _GuardedTransport(httpx.AsyncBaseTransport):
    """Sends each request, and each redirect, to an address of its host that was checked; TLS checks the name."""

    def __init__(
        self, inner: httpx.AsyncBaseTransport, schemes: frozenset[str], ports: frozenset[int], *, allows_private: bool
    ) -> None:
        self._inner, self._schemes, self._ports, self._allows_private = inner, schemes, ports, allows_private

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        """Called by httpx for a request and for each redirect of it."""
        url = request.url
        if url.scheme not in self._schemes:
            raise NoAnswer(f"{url.scheme or 'no scheme'}: only {' and '.join(sorted(self._schemes))} may be used")
        port = url.port or DEFAULT_PORTS[url.scheme]
        if port not in self._ports:
            raise NoAnswer(f"port {port} is not allowed")
        address = await self._checked_address(url.host, port)
        # Not changed in place: httpx resolves a relative redirect by the URL of the request.
        sent = httpx.Request(
            request.method,
            url.copy_with(host=str(address)),
            headers=request.headers,  # with the host's name
            stream=request.stream,
            extensions=request.extensions | {"sni_hostname": url.host},
        )
        return await self._inner.handle_async_request(sent)

    async def aclose(self) -> None:
        await self._inner.aclose()

    async def _checked_address(self, host: str, port: int) -> Address:
        """The first address of a host. Raises NoAnswer unless all its addresses may be reached."""
        try:
            found = await asyncio.get_running_loop().getaddrinfo(host, port, type=socket.SOCK_STREAM)
        except (OSError, UnicodeError) as error:
            raise NoAnswer(f"the name {host} is not found") from error
        texts = [str(host_and_port[0]) for *_, host_and_port in found]
        addresses = [ip_address(text.partition("%")[0]) for text in texts]  # without the zone after `%`
        if not self._allows_private and not all(map(is_public, addresses)):
            raise NoAnswer(f"{host} is not on the public internet")
        return addresses[0]


def is_public(address: Address) -> bool:
    """
    Whether an address is one of the public internet. An IPv6 address that carries an IPv4 address (mapped, 6to4, NAT64)
    is public if that address is.
    """
    if isinstance(address, IPv6Address):
        carried = _carried(address)
        if carried is not None:
            return is_public(carried)
        if address.is_reserved or address.is_site_local or address.teredo is not None:
            return False
    return address.is_global and not address.is_multicast


def _carried(address: IPv6Address) -> IPv4Address | None:
    """The IPv4 address in an IPv6 address; None if it carries none."""
    if address in TRANSLATED:
        return IPv4Address(int(address) & 0xFFFFFFFF)
    return address.ipv4_mapped or address.sixtofour


async def _read(response: httpx.Response, max_answer: int, *, cuts: bool) -> bytes:
    body = b""
    async for part in response.aiter_bytes():
        body += part
        if len(body) > max_answer:
            if cuts:
                return body[:max_answer]
            raise NoAnswer(f"an answer of more than {max_answer} bytes")
    return body
