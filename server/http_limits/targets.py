"""What a request's URL says, remembered where it is short: most requests are for the same few."""

from typing import NamedTuple
from urllib.parse import unquote

from httptools import parse_url

from caches import memo

SHORT = 100  # bytes


class Target(NamedTuple):
    path: str
    raw_path: bytes
    query: bytes


def target_of(url: bytes) -> Target:
    """
    Its path without and with escapes, and the query.

    Raises:
        HttpParserInvalidURLError: it is none.
    """
    return _remembered(url) if len(url) <= SHORT else _parsed(url)


def _parsed(url: bytes) -> Target:
    parsed = parse_url(url)
    return Target(unquote(parsed.path.decode("ascii")), parsed.path, parsed.query or b"")


_remembered = memo(64, 1_000)(_parsed)
