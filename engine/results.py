"""The results of operations as JSON."""

import json
from collections.abc import Sequence
from typing import Any, NamedTuple

import orjson

from engine.errors import Refused


class EncodedResult(NamedTuple):
    """
    The result of an operation, or of one event of a subscription, as JSON. If a client is sent nothing but the id of an
    event, the `body` is empty.

    Equal queries of clients with equal permissions get the same result, unless it is not shareable: a resolver has read
    something of this client alone, such as its address. `headers` are those of the response to a mutation.
    """

    body: bytes
    has_errors: bool
    is_shareable: bool = True
    event_id: str = ""
    headers: Sequence[tuple[bytes, bytes]] = ()


def encode(value: Any) -> bytes:
    """
    Raises:
        ValueError, RecursionError: a number is too long or the nesting too deep for the standard library, too.
    """
    try:
        return orjson.dumps(value)
    except TypeError:
        # orjson supports no integers beyond 64 bits, no lone surrogates and no more than 254 levels.
        return json.dumps(value, default=_plain).encode()


def encode_to_keep(content: Any) -> bytes:
    """As `encode`, a copy: what orjson returns keeps its buffer of some kB, which is much for many short texts."""
    return bytes(memoryview(encode(content)))


def decode_result(result: EncodedResult) -> dict[str, Any]:
    """The content of a result: `data`, and `errors` and `extensions` if it has any."""
    content: dict[str, Any]
    try:
        content = orjson.loads(result.body)
    except ValueError:  # it refuses lone surrogates, which the standard library has written
        content = json.loads(result.body)
    return content


def refusal_body(refused: Refused) -> bytes:
    return encode({"errors": refused.errors})


def _plain(value: Any) -> Any:
    return orjson.loads(orjson.dumps(value)) if isinstance(value, orjson.Fragment) else str(value)
