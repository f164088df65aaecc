"""The address under which clients reach the server, for absolute URLs: canonical links, feeds, sitemaps."""

import re
from collections.abc import Container
from typing import Any
from urllib.parse import urlsplit

from starlette.types import Scope

from engine.clients import headers_of

HOST = re.compile(r"(?:[a-z0-9](?:[a-z0-9._-]*[a-z0-9])?|\[[0-9a-f:.]+\])(?::[0-9]{1,5})?")
SCHEMES = ("http", "https")
OF_SOCKETS = {"ws": "http", "wss": "https"}  # the scheme of the pages, by that of a WebSocket
MAX_HOST = 260  # characters: a name has 253 at most
UNSHARED_HEADERS = {  # of responses with an address that the request gave: no shared cache may store these responses
    "Cache-Control": "private, max-age=0, must-revalidate",
    "Vary": "Accept-Encoding, Host, X-Forwarded-Host, X-Forwarded-Proto",
}


class PublicURL:
    """The setting `UPVOTE_PUBLIC_URL`; without it, scheme and host of each request."""

    def __init__(self, setting: str | None, proxies: Container[str]) -> None:
        self.setting, self._proxies = setting, proxies

    def of(self, scope: Scope) -> str:
        """
        The address without a slash at its end. It needs no escaping in HTML or XML.

        `X-Forwarded-Proto` and `X-Forwarded-Host` are used only if they come from a trusted proxy. Of several values
        the last is used, which the nearest proxy has added. A `Host` that is no host is replaced by the address of
        the socket.
        """
        if self.setting:
            return self.setting
        headers = headers_of(scope)
        scheme, hosts = scope.get("scheme", "http"), [headers.get(b"host", b"")]
        client = scope.get("client")
        if client and client[0] in self._proxies:
            scheme = last_value(headers.get(b"x-forwarded-proto", b"")) or scheme
            hosts.insert(0, headers.get(b"x-forwarded-host", b""))
        valid = [host for host in map(last_value, hosts) if len(host) <= MAX_HOST and HOST.fullmatch(host)]
        scheme = OF_SOCKETS.get(scheme, scheme)
        return f"{scheme if scheme in SCHEMES else 'http'}://{valid[0] if valid else socket_address(scope)}"

    @property
    def headers(self) -> dict[str, str]:
        """The caching headers of responses that contain the address, if it depends on the request."""
        return {} if self.setting else dict(UNSHARED_HEADERS)


def last_value(header: bytes) -> str:
    return header.decode("latin-1").rpartition(",")[2].strip().lower()


def socket_address(scope: Scope) -> str:
    server: Any = scope.get("server")
    if not server or server[1] is None:  # a Unix socket
        return "localhost"
    host = f"[{server[0]}]" if ":" in server[0] else server[0]
    return f"{host}:{server[1]}"


def check_public_url(text: str) -> str:
    """
    The address as it is used, without a slash at its end.

    Raises:
        ValueError: it is not an absolute http or https URL, or has more than a host and a path.
    """
    parts = urlsplit(text)
    scheme = text.partition(":")[0]  # as it is written: that of `parts` is in lower case
    if scheme not in SCHEMES or not HOST.fullmatch(parts.netloc):
        raise ValueError("a public URL looks like https://example.com or https://example.com/path, in lower case")
    if parts.query or parts.fragment or not re.fullmatch(r"(?:/[A-Za-z0-9._~-]+)*/?", parts.path):
        raise ValueError("a public URL has a host and a path of letters, digits and ._~- and nothing else")
    return text.rstrip("/")
