"""JSON out of and into bytes."""

import json
from typing import Any

import orjson

from engine.errors import Code, Refused


def decode(text: bytes | str) -> Any:
    try:
        return orjson.loads(text)
    except ValueError as error:
        raise Refused(Code.BAD_REQUEST, f"not JSON: {error}") from None


def encode(value: Any) -> bytes:
    """
    Raises:
        ValueError, RecursionError: a number is too long, or the nesting too deep, even for the standard library.
    """
    try:
        return orjson.dumps(value)
    except TypeError:
        # orjson takes no integers beyond 64 bits, no lone surrogates and no more than 254 levels.
        return json.dumps(value, default=_plain).encode()


def _plain(value: Any) -> Any:
    return orjson.loads(orjson.dumps(value)) if isinstance(value, orjson.Fragment) else str(value)
