"""Trusted proxies, whose X-Forwarded-For is used, and allowed origins, whose pages may read answers."""

import logging
import re
from collections.abc import Callable, Iterable
from ipaddress import IPv4Address, IPv6Address, ip_address, ip_network
from urllib.parse import urlsplit

from starlette.types import Scope

from caches import memo

ORIGIN = re.compile(r"[a-z][a-z0-9+.-]*://(?:\[[0-9a-f:.]+\]|[^\s/,:@\[\]]+)(?::(?:[0-9]{1,5}|\*))?")
ANY_PORT = ":*"  # the end of an origin of the setting that allows any port
DEFAULT_PORTS = {"http": 80, "https": 443}
LOCAL_ORIGINS = ",".join(
    f"{scheme}://{host}{ANY_PORT}" for scheme in DEFAULT_PORTS for host in ("localhost", "127.0.0.1", "[::1]")
)
MAX_SHOWN = 200  # characters of an origin in a message
MAX_WARNINGS = 100  # of one kind: a client chooses its origin

logger = logging.getLogger("upvote")


class TrustedProxies:
    """A set of addresses, given as addresses and networks such as `10.0.0.0/8`."""

    def __init__(self, texts: Iterable[str]) -> None:
        """
        Raises:
            ValueError: a text is neither an address nor a network.
        """
        self._networks = [ip_network(text) for text in texts]

    def __contains__(self, address: object) -> bool:
        parsed = _address(address) if isinstance(address, str) else None
        return parsed is not None and any([parsed in network for network in self._networks])


@memo(entry_bytes=300, call_microseconds=3)
def _address(text: str) -> IPv4Address | IPv6Address | None:
    try:
        address = ip_address(text)
    except ValueError:
        return None
    return (address.ipv4_mapped or address) if isinstance(address, IPv6Address) else address


class AllowedOrigins:
    """A set of origins, given as browsers send them. The port `*` stands for any port or none."""

    def __init__(self, texts: Iterable[str]) -> None:
        given = list(texts)
        self.exact = [text for text in given if not text.endswith(ANY_PORT)]
        patterns = [
            re.escape(text.removesuffix(ANY_PORT)) + r"(?::[0-9]{1,5})?" for text in given if text not in self.exact
        ]
        self.regex = "|".join(patterns) or None
        self._pattern = re.compile(self.regex) if self.regex else None

    def __contains__(self, origin: object) -> bool:
        if not isinstance(origin, str):
            return False
        return origin in self.exact or (self._pattern is not None and self._pattern.fullmatch(origin) is not None)

    def __bool__(self) -> bool:
        return bool(self.exact or self.regex)


def check_origin(origin: str) -> None:
    """
    Check that a browser may send this origin.

    Raises:
        ValueError: it may not; the message says why.
    """
    if "*" in origin.removesuffix(ANY_PORT):
        raise ValueError("list each origin: only the port may be `*`, as in http://localhost:*")
    if origin != origin.lower():
        raise ValueError(f"browsers send origins in lower case: {origin.lower()}")
    if not origin.isascii():
        raise ValueError("browsers send names of hosts in ASCII, such as https://xn--bcher-kva.example")
    if not ORIGIN.fullmatch(origin):
        raise ValueError("an origin looks like https://example.com, without a path")
    parts = urlsplit(origin.removesuffix(ANY_PORT))
    if parts.port is not None and DEFAULT_PORTS.get(parts.scheme) == parts.port:
        raise ValueError(f"browsers leave out the default port: {origin.removesuffix(f':{parts.port}')}")


def is_same_site(origin: str, url: str) -> bool:
    """
    Whether a cookie that the host of a URL has set may be sent from pages of an origin: their schemes and the last two
    labels of their hosts are equal. Browsers, which have a list of such domains as `co.uk`, are stricter.
    """
    one, other = urlsplit(origin), urlsplit(url)
    return one.scheme == other.scheme and _site(one.hostname or "") == _site(other.hostname or "")


def _site(host: str) -> str:
    return host if _address(host) else ".".join(host.split(".")[-2:])


class WarnedOnce:
    """
    Logs a warning for each value once, and for no more values than `MAX_WARNINGS`.

    `text` has `%(value)s` where the value stands.
    """

    def __init__(self, text: str) -> None:
        self._text = text
        self._values: set[str] = set()

    def __call__(self, value: str) -> None:
        if value not in self._values and len(self._values) < MAX_WARNINGS:
            self._values.add(value)
            logger.warning(self._text, {"value": value})


def forwarding_warnings() -> Callable[[str], object]:
    """A function to call with each address that sends X-Forwarded-For and is not trusted."""
    return WarnedOnce("X-Forwarded-For of %(value)s is ignored: UPVOTE_TRUSTED_PROXIES=%(value)s would trust it")


class OriginWarnings:
    """
    Logs each origin whose pages may not read responses, once, with the setting that would allow it. Browsers tell the
    page only that the request has failed.
    """

    def __init__(self, origins: AllowedOrigins) -> None:
        self._origins = origins
        self._warn = WarnedOnce(
            "pages of %(value)s may not read answers: UPVOTE_ALLOWED_ORIGINS=%(value)s would allow it"
        )
        self._warn_of_unknown = WarnedOnce(
            "pages of the origin %(value)s may not read answers, and no setting allows it"
        )

    def check(self, origin: bytes, scope: Scope) -> None:
        from engine.clients import headers_of, is_loopback, is_own_origin  # slow, and not needed to read the settings

        headers = headers_of(scope)
        text = origin.decode("latin-1")
        if text in self._origins or is_own_origin(origin, headers):
            return
        # A server with a loopback name opens WebSockets to pages of any loopback origin: nothing is refused.
        if scope["type"] == "http" or not is_loopback(origin, headers):
            warn = self._warn if text.startswith(("http://", "https://")) else self._warn_of_unknown
            warn(text[:MAX_SHOWN])
