"""
The cookie in which a browser keeps the token of a session, so that no script can read it.

Browsers add cookies to requests by themselves, also for pages of other sites. So the cookie counts only if the page
that sends a request is one of this site, and only for requests by POST, upgrades to WebSocket and event streams. All
other requests are answered as if it were not there.

The viewer of a page is the user whom it shows as logged in.
"""

from collections.abc import Callable, Container, MutableMapping
from dataclasses import dataclass
from hashlib import sha256
from typing import Any
from urllib.parse import urlsplit

from caches import memo
from engine.clients import Client, Headers, headers_of
from engine.negotiation import Media, accepted

NOBODY = "-"  # a token of no session, for pages that name a viewer and send no cookie: their session has ended
MAX_AGE = 400 * 24 * 60 * 60  # seconds: the longest that browsers keep a cookie. The server decides when a session ends
DEFAULT_PORTS = {"http": 80, "https": 443}


@dataclass(frozen=True, slots=True)
class SessionCookie:
    """
    `own_url` returns the URL under which the client of a scope reaches the server. With `is_host_only` that URL is the
    same for all clients and has https, so that the cookie can be one that no other host can set (`__Host-`). The name
    of the cookie begins with `prefix`; a digest of the URL makes it different for servers on one host, as browsers do
    not keep cookies apart by ports.

    Pages of `origins` may use the cookie, too. `viewer_header` is the name, in lower case, of a header in which pages
    name the user whom they show.
    """

    own_url: Callable[[MutableMapping[str, Any]], str]
    prefix: str
    is_host_only: bool = False
    origins: Container[str] = ()
    viewer_header: bytes = b"x-viewer"

    def identified(self, client: Client, scope: MutableMapping[str, Any], headers: Headers) -> Client:
        """The client with the token of its cookie, if that counts here. An Authorization header takes precedence."""
        if b"authorization" in headers or not takes_cookies(scope, headers):
            return client
        token = self.token(scope, headers)
        viewer = headers.get(self.viewer_header, b"").decode("latin-1")
        return self.of_viewer(client._replace(token=token), viewer) if token or viewer else client

    def of_viewer(self, client: Client, viewer: str) -> Client:
        """
        The client of a page that shows a user, with the token of the cookie. Without one it gets `NOBODY`, as the page
        does not know yet that its session has ended.
        """
        if not viewer or (client.scope is not None and b"authorization" in headers_of(client.scope)):
            return client
        return client._replace(token=NOBODY) if client.token is None else client._replace(viewer=viewer)

    def token(self, scope: MutableMapping[str, Any], headers: Headers) -> str | None:
        """The token of the cookie, if the page that sends the request may use it. None if there are several tokens."""
        if b"cookie" not in headers or not self.is_of_page(scope, headers):
            return None
        sent = b";".join(value for name, value in scope["headers"] if name == b"cookie")
        name, found = self.name(self.own_url(scope)).encode(), set()
        for part in sent.split(b";"):
            given, _, value = part.strip().partition(b"=")
            if given == name:
                found.add(value.decode("latin-1"))
        return (found.pop() or None) if len(found) == 1 else None

    def is_of_page(self, scope: MutableMapping[str, Any], headers: Headers) -> bool:
        """Whether the page that sends a request is one of the site, or of an origin that may use the cookie."""
        origin = headers.get(b"origin")
        if origin is None:
            return headers.get(b"sec-fetch-site") == b"same-origin"
        text = origin.decode("latin-1")
        return text == origin_of(self.own_url(scope)) or text in self.origins

    def can_be_set(self, scope: MutableMapping[str, Any]) -> bool:
        """Whether the response can set the cookie: that of a POST, which is no stream, to a page that may use it."""
        headers = headers_of(scope)
        is_single = scope["type"] == "http" and accepted(headers.get(b"accept", b"")).single is not None
        return is_single and scope["method"] == "POST" and self.is_of_page(scope, headers)

    def counts(self, scope: MutableMapping[str, Any]) -> bool:
        """Whether the token of a request is that of its cookie."""
        headers = headers_of(scope)
        may_count = b"authorization" not in headers and takes_cookies(scope, headers)
        return may_count and self.token(scope, headers) is not None

    def header(self, scope: MutableMapping[str, Any], token: str | None) -> tuple[bytes, bytes]:
        """The header of a response that sets the cookie, or removes it."""
        url = self.own_url(scope)
        secure = "; Secure" if url.startswith("https:") else ""
        age = MAX_AGE if token else 0
        text = f"{self.name(url)}={token or ''}; Max-Age={age}; Path=/; HttpOnly{secure}; SameSite=Lax"
        return b"set-cookie", text.encode()

    def name(self, url: str) -> str:
        return f"{'__Host-' if self.is_host_only else ''}{self.prefix}-{_digest(url)}"


def takes_cookies(scope: MutableMapping[str, Any], headers: Headers) -> bool:
    """Whether a request is of a kind for which a cookie may count: a POST, an upgrade, or a stream of events by GET."""
    if scope["type"] == "websocket" or scope["method"] == "POST":
        return True
    media = accepted(headers.get(b"accept", b""))
    return scope["method"] == "GET" and media.single is None and media.stream is Media.EVENTS


@memo(entry_bytes=300, call_microseconds=4)
def origin_of(url: str) -> str:
    """Scheme, host and port of a URL in lower case, as browsers send them: without the default port."""
    parts = urlsplit(url)
    port = f":{DEFAULT_PORTS.get(parts.scheme, '')}"
    return f"{parts.scheme}://{parts.netloc}".removesuffix(port)


@memo(entry_bytes=300, call_microseconds=2)
def _digest(url: str) -> str:
    return sha256(url.encode()).hexdigest()[:8]
