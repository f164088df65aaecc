"""Reads a GraphQL request out of a JSON body, a query string or a message. Nothing here looks at the document."""

import re
from collections.abc import Callable
from dataclasses import dataclass
from random import getrandbits
from sys import getsizeof
from typing import Any
from urllib.parse import parse_qsl

from starlette.types import Receive

from caches import SizedCache
from engine.calls import Asked
from engine.clients import Headers
from engine.errors import Code, Refused
from engine.json import decode

PARAMETERS = {"query", "operationName", "variables", "extensions", "documentId"}
MAX_PARAMETERS = 20
DIGITS_OF_A_LENGTH = 18  # of more there is no body
OVERHEAD = 500  # bytes of a request beside its texts and variables
SANE_REQUEST_ID = re.compile(rb"[\w.:-]{1,64}", re.ASCII)


@dataclass(slots=True, eq=False)
class GraphQLRequest:
    """`asked` is what it turned out to ask for, once it was found valid."""

    query: str | None
    operation_name: str | None
    variables: dict[str, Any]
    document_id: str | None
    asked: Asked | None = None


class Requests:
    """Requests by the texts they come in; those seen last are cached."""

    def __init__(
        self, read: Callable[[bytes], GraphQLRequest], cache: SizedCache[tuple[str, bytes], GraphQLRequest]
    ) -> None:
        self._read, self._kind = read, read.__name__
        self._known = cache

    def request(self, text: bytes) -> GraphQLRequest:
        """
        Raises:
            Refused: it is no GraphQL request.
        """
        key = (self._kind, text)
        request = self._known.get(key)
        if request is None:
            request = self._read(text)
            self._known.put(key, request, OVERHEAD + getsizeof(text) + size_of(request))
        return request


def from_body(body: bytes) -> GraphQLRequest:
    return graphql_request(decode(body))


def size_of(request: GraphQLRequest) -> int:
    """What a request holds beside the text it came in, in bytes."""
    size = getsizeof(request.query) + getsizeof(request.document_id) + getsizeof(request.operation_name)
    waiting: list[Any] = [request.variables]
    while waiting:
        value = waiting.pop()
        size += getsizeof(value)
        if isinstance(value, dict):
            waiting += value.keys()
            waiting += value.values()
        elif isinstance(value, list):
            waiting += value
    return size


class ClientGone(Exception):
    """The client hung up before it had sent its request."""


def graphql_request(payload: Any) -> GraphQLRequest:
    if not isinstance(payload, dict):
        raise Refused(Code.BAD_REQUEST, "a GraphQL request is a JSON object")
    request = GraphQLRequest(
        text(payload, "query"),
        text(payload, "operationName") or None,
        mapping(payload, "variables"),
        document_id(payload),
    )
    if request.query is None and request.document_id is None:
        raise Refused(Code.BAD_REQUEST, "no query: expected a string as `query`, or a persisted document")
    return request


def text(payload: dict[str, Any], name: str) -> str | None:
    value = payload.get(name)
    if value is None or isinstance(value, str):
        return value
    raise Refused(Code.BAD_REQUEST, f"`{name}` is not a string")


def mapping(payload: dict[str, Any], name: str) -> dict[str, Any]:
    value = payload.get(name)
    if value is None:
        return {}
    if isinstance(value, dict):
        return value
    raise Refused(Code.BAD_REQUEST, f"`{name}` is not an object")


def document_id(payload: dict[str, Any]) -> str | None:
    """The id of a persisted document, by the draft's `documentId` or by Apollo's extension."""
    persisted = mapping(payload, "extensions").get("persistedQuery")
    if persisted is None:
        identifier = text(payload, "documentId")
        return identifier and identifier.removeprefix("sha256:")
    if isinstance(persisted, dict) and persisted.get("version") == 1 and isinstance(persisted.get("sha256Hash"), str):
        return str(persisted["sha256Hash"])
    raise Refused(Code.BAD_REQUEST, "`extensions.persistedQuery` is not an object with version 1 and a sha256Hash")


def parameters(query_string: bytes) -> dict[str, str]:
    try:
        pairs = parse_qsl(
            query_string.decode("ascii"), keep_blank_values=True, errors="strict", max_num_fields=MAX_PARAMETERS
        )
    except ValueError:
        raise Refused(
            Code.BAD_REQUEST, "the query string is not URL-encoded UTF-8, or has too many parameters"
        ) from None
    known = [(name, value) for name, value in pairs if name in PARAMETERS]
    found = dict(known)
    if len(found) < len(known):
        raise Refused(Code.BAD_REQUEST, "a parameter is given twice")
    return found


def from_query_string(query_string: bytes) -> GraphQLRequest:
    found = parameters(query_string)
    decoded = {name: decode(found[name]) for name in ("variables", "extensions") if name in found}
    return graphql_request(found | decoded)


async def read_body(headers: Headers, receive: Receive, max_body: int) -> bytes:
    if declared_length(headers) > max_body:
        raise too_large(max_body)
    message = await receive()
    body: bytes = message.get("body", b"")
    while message.get("more_body", False) and len(body) <= max_body:
        message = await receive()
        body += message.get("body", b"")
    if message["type"] == "http.disconnect":
        raise ClientGone
    if len(body) > max_body:
        raise too_large(max_body)
    return body


def declared_length(headers: Headers) -> int:
    digits = headers.get(b"content-length", b"0")
    if not digits.isdigit():
        raise Refused(Code.BAD_REQUEST, "Content-Length is not a number of bytes")
    return int(digits.lstrip(b"0")[:DIGITS_OF_A_LENGTH] or b"0")  # more digits only make it larger still


def too_large(max_body: int) -> Refused:
    # What is left of the body is dropped by the server as it comes. To close the connection instead would reset it,
    # and take the answer away from a client that is still sending.
    return Refused(Code.TOO_LARGE, f"the body is larger than {max_body} bytes")


def request_id_of(headers: Headers) -> str:
    given = headers.get(b"x-request-id", b"")
    if given and SANE_REQUEST_ID.fullmatch(given):
        return given.decode()
    return f"{getrandbits(64):016x}"  # to be told apart, not to be secret
