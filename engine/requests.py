"""GraphQL requests, parsed from a JSON body, a query string or a message of a WebSocket, and cached by their text."""

from collections.abc import Callable
from dataclasses import dataclass
from sys import getsizeof
from typing import TYPE_CHECKING, Any, NamedTuple
from urllib.parse import parse_qsl
from weakref import ref

import orjson

from caches import Cache, Pool
from engine.clients import Client
from engine.documents import Operation, without_prefix
from engine.errors import Code, Refused

if TYPE_CHECKING:
    from engine.limits.rate_limiter import Charge

PARAMETERS = {"query", "operationName", "variables", "extensions", "documentId"}  # that a query string may have
MAX_PARAMETERS = 20  # of a query string, with unknown ones
REQUEST_SIZE = 500  # bytes of a cached request without its texts and variables
MICROSECONDS = 40  # to parse a request and find its operation: what an entry of the cache saves


@dataclass(frozen=True, slots=True, eq=False)
class PreparedOperation:
    """
    A valid operation with the values of its variables and its cost in points. Equal request bodies share one instance.

    `operation` is a weak reference: a cached request does not keep an operation alive that the cache of operations has
    evicted.
    """

    operation: "ref[Operation]"
    variables: dict[str, Any]
    cost: int


@dataclass(slots=True, eq=False)
class GraphQLRequest:
    """
    The parameters of a request. It has the text of its document (`query`), the id of a document that the server may
    know, or both. `prepared` is set once its operation is found valid.

    `is_own` if the program itself sends it: then its document need not be listed as trusted.
    """

    query: str | None
    operation_name: str | None
    variables: dict[str, Any]
    document_id: str | None
    prepared: PreparedOperation | None = None
    is_own: bool = False


class OperationRequest(NamedTuple):
    """
    A client's request for a prepared operation.

    `started` is a value of `time.perf_counter`, in seconds. `charge` is what it takes from the client's bucket of
    points; None without rate limits.
    """

    prepared: PreparedOperation
    operation: Operation
    client: Client
    request_id: str
    started: float
    charge: "Charge | None" = None


class RequestCache:
    """Parses request bodies or query strings, and caches the parsed requests."""

    def __init__(self, parse: Callable[[bytes], GraphQLRequest], pool: Pool) -> None:
        self._parse = parse
        self._cache: Cache[bytes, GraphQLRequest] = pool.cache("requests", MICROSECONDS)

    def request(self, text: bytes) -> GraphQLRequest:
        """
        Raises:
            Refused: the text is not a GraphQL request.
        """
        request = self._cache.get(text)
        if request is None:
            request = self._parse(text)
            self._cache.put(text, request, REQUEST_SIZE + getsizeof(text) + size_of(request))
        return request


def size_of(request: GraphQLRequest) -> int:
    """Return the memory of a request's values in bytes."""
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


def parse_body(body: bytes) -> GraphQLRequest:
    return parse_request(decode(body))


def parse_own_body(body: bytes) -> GraphQLRequest:
    """Parse a request of the program itself. It is cached apart from an equal one of a client."""
    request = parse_body(body)
    request.is_own = True
    return request


def parse_query_string(query_string: bytes) -> GraphQLRequest:
    found = query_parameters(query_string)
    decoded = {name: decode(found[name]) for name in ("variables", "extensions") if name in found}
    return parse_request(found | decoded)


def query_parameters(query_string: bytes) -> dict[str, str]:
    """The parameters of a query string that GraphQL over HTTP knows."""
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


def parse_request(payload: Any) -> GraphQLRequest:
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
    """The value of a parameter that has to be a string, null or missing."""
    value = payload.get(name)
    if value is None or isinstance(value, str):
        return value
    raise Refused(Code.BAD_REQUEST, f"`{name}` is not a string")


def mapping(payload: dict[str, Any], name: str) -> dict[str, Any]:
    """The value of a parameter that has to be an object, null or missing."""
    value = payload.get(name)
    if value is None:
        return {}
    if isinstance(value, dict):
        return value
    raise Refused(Code.BAD_REQUEST, f"`{name}` is not an object")


def document_id(payload: dict[str, Any]) -> str | None:
    """Return the id of a persisted document, from `documentId` (GraphQL over HTTP) or from Apollo's extension."""
    persisted = mapping(payload, "extensions").get("persistedQuery")
    if persisted is None:
        identifier = text(payload, "documentId")
        return None if identifier is None else without_prefix(identifier)
    if isinstance(persisted, dict) and persisted.get("version") == 1 and isinstance(persisted.get("sha256Hash"), str):
        return without_prefix(persisted["sha256Hash"])
    raise Refused(Code.BAD_REQUEST, "`extensions.persistedQuery` is not an object with version 1 and a sha256Hash")


def decode(text: bytes | str) -> Any:
    try:
        return orjson.loads(text)
    except ValueError as error:
        raise Refused(Code.BAD_REQUEST, f"not JSON: {error}") from None
