"""
GraphQL requests, parsed from a JSON body, a query string or a message.

The headers of a request identify its client and list the media types that it accepts.
"""

import re
from collections.abc import Callable, Container, Mapping, MutableMapping
from dataclasses import dataclass
from enum import StrEnum
from random import getrandbits
from sys import getsizeof
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias
from urllib.parse import parse_qsl
from weakref import ref

import orjson

from caches import SizedCache, memo
from engine.documents import Operation, without_prefix
from engine.errors import Code, Refused

if TYPE_CHECKING:
    from engine.limits.rate_limiter import Charge

Headers: TypeAlias = Mapping[bytes, bytes]

PARAMETERS = {"query", "operationName", "variables", "extensions", "documentId"}
MAX_PARAMETERS = 20
REQUEST_SIZE = 500  # bytes of a cached request without its texts and variables
MAX_MEMO_HEADER = 200  # bytes of a header whose parsed value is memoised
VARY = (b"vary", b"Accept, Accept-Encoding, Authorization")  # the headers that a response depends on
HEADERS_BY_NAME = "engine.headers"  # the key of a scope
LOOPBACK_HOST = re.compile(rb"(?:localhost|127\.0\.0\.1|\[::1\])(?::[0-9]{1,5})?")
VALID_REQUEST_ID = re.compile(rb"[\w.:-]{1,64}", re.ASCII)

make_tuple = tuple.__new__  # creates a named tuple without a call of Python code; each request creates four


class ServerKey(NamedTuple):
    """The key of a server that sends requests of its visitors, and the visitor's address; not checked yet."""

    text: str
    visitor: str


class Media(StrEnum):
    JSON = "application/json"
    RESPONSE = "application/graphql-response+json"
    EVENTS = "text/event-stream"
    MULTIPART = "multipart/mixed"


class Accepted(NamedTuple):
    """What an Accept header allows: a media type for a single result and one for a stream, and whether HTML."""

    single: Media | None
    stream: Media | None
    html: bool


class MediaRange(NamedTuple):
    name: str
    parameters: dict[str, str]
    quality: float


class Client(NamedTuple):
    """
    Who sends a request. `stats` asks for the cost of the execution in the response's extensions.

    `last_event_id` is that of an EventSource that connects again: the id of the last event it has received.
    """

    token: str | None
    address: str
    stats: bool = False
    traceparent: str = ""
    key: ServerKey | None = None
    last_event_id: str = ""


@dataclass(frozen=True, slots=True, eq=False)
class PreparedOperation:
    """
    A valid operation with its variables and its cost in points. Equal request bodies share one instance.

    The reference is weak: a cached request does not keep an operation alive that the cache of operations has evicted.
    """

    operation: "ref[Operation]"
    variables: dict[str, Any]
    cost: int


@dataclass(slots=True, eq=False)
class GraphQLRequest:
    """
    The parameters of a request. `prepared` is set once its operation is found valid.

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

    `started` is a value of `time.perf_counter`. `charge` takes points from the client's bucket; None without rate
    limits.
    """

    prepared: PreparedOperation
    operation: Operation
    client: Client
    request_id: str
    started: float
    charge: "Charge | None" = None


class ClientHeaders(NamedTuple):
    """The names of an application's own headers, in lower case: see `Options`."""

    stats: bytes | None = None
    key: bytes | None = None
    visitor: bytes | None = None


class RequestCache:
    """Parses request bodies or query strings, and caches the parsed requests."""

    def __init__(
        self, parse: Callable[[bytes], GraphQLRequest], cache: SizedCache[tuple[str, bytes], GraphQLRequest]
    ) -> None:
        self._parse, self._kind = parse, parse.__name__
        self._cache = cache

    def request(self, text: bytes) -> GraphQLRequest:
        """
        Raises:
            Refused: the text is not a GraphQL request.
        """
        key = (self._kind, text)
        request = self._cache.get(key)
        if request is None:
            request = self._parse(text)
            self._cache.put(key, request, REQUEST_SIZE + getsizeof(text) + size_of(request))
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


def headers_of(scope: MutableMapping[str, Any]) -> Headers:
    """
    The headers of a scope by name, the last of each name. The scope keeps them for the next caller; a copy of it that
    gets another list of headers has those.
    """
    raw = scope["headers"]
    kept: tuple[Any, Headers] | None = scope.get(HEADERS_BY_NAME)
    if kept is None or kept[0] is not raw:
        kept = scope[HEADERS_BY_NAME] = raw, dict(raw)
    return kept[1]


def request_id_of(headers: Headers) -> str:
    """Return the client's X-Request-Id if it is valid, else a random id, which is unique but not secret."""
    given = headers.get(b"x-request-id", b"")
    if given and VALID_REQUEST_ID.fullmatch(given):
        return given.decode()
    return getrandbits(64).to_bytes(8).hex()


def client_of(
    scope: Mapping[str, Any],
    headers: Headers,
    proxies: Container[str] = frozenset(),
    names: ClientHeaders = ClientHeaders(),  # noqa: B008 - it is immutable
    on_untrusted_proxy: Callable[[str], object] = lambda address: None,
) -> Client:
    token = bearer_token(headers[b"authorization"].decode("latin-1")) if b"authorization" in headers else None
    traceparent = headers[b"traceparent"].decode("latin-1") if b"traceparent" in headers else ""
    wants_stats = names.stats is not None and headers.get(names.stats) == b"1"
    key = None
    if names.key is not None and names.key in headers:
        visitor = headers.get(names.visitor, b"") if names.visitor else b""
        key = ServerKey(headers[names.key].decode("latin-1").strip(), visitor.decode("latin-1").strip())
    address = address_of(scope, headers, proxies, on_untrusted_proxy)
    last_event_id = headers[b"last-event-id"].decode("utf-8", "replace") if b"last-event-id" in headers else ""
    return make_tuple(Client, (token, address, wants_stats, traceparent, key, last_event_id))


def authenticated_by_init(client: Client, payload: Mapping[str, Any]) -> Client:
    """Return a WebSocket's client with the token of `connection_init`: browsers cannot set headers on a handshake."""
    authorization = payload.get("Authorization") or payload.get("authorization")
    token = bearer_token(authorization) if isinstance(authorization, str) else payload.get("token")
    return client._replace(token=token) if isinstance(token, str) else client


def is_own_origin(origin: bytes, headers: Headers) -> bool:
    """
    Whether the page that sends a request has the origin to which it was sent.

    Behind a proxy that replaces the `Host`, such as a development server, only `Sec-Fetch-Site` shows it. Browsers set
    that header, and pages cannot change it.
    """
    return origin.partition(b"://")[2] == headers.get(b"host") or headers.get(b"sec-fetch-site") == b"same-origin"


def is_loopback(origin: bytes, headers: Headers) -> bool:
    """Whether both the page and the server have a loopback name: a page of another site has another origin."""
    host = headers.get(b"host", b"")
    return bool(LOOPBACK_HOST.fullmatch(origin.partition(b"://")[2]) and LOOPBACK_HOST.fullmatch(host))


def bearer_token(authorization: str) -> str | None:
    scheme, _, token = authorization.partition(" ")
    return token.strip() or None if scheme.lower() == "bearer" else None


def address_of(
    scope: Mapping[str, Any],
    headers: Headers,
    proxies: Container[str],
    on_untrusted_proxy: Callable[[str], object],
) -> str:
    """Return the client's address: the last address of X-Forwarded-For that is not a trusted proxy's."""
    client = scope.get("client")
    address: str = client[0] if client else ""
    if address not in proxies:
        if b"x-forwarded-for" in headers:
            on_untrusted_proxy(address)
        return address
    hops = headers.get(b"x-forwarded-for", b"").decode("latin-1").split(",")
    while address in proxies and hops:
        address = hops.pop().strip() or address
    return address


def accepted(header: bytes) -> Accepted:
    """Parse an Accept header. An empty one or a wildcard means application/json, which older clients expect."""
    return _accepted_memo(header) if len(header) <= MAX_MEMO_HEADER else _accepted(header)


def _accepted(header: bytes) -> Accepted:
    ranges = [media_range(part) for part in (header or b"*/*").decode("latin-1").split(",")]
    named = {each.name: each.quality for each in ranges}
    wildcard = named.get("application/*", named.get("*/*", 0.0))
    multipart = max((each.quality for each in ranges if is_subscription_protocol(each)), default=0.0)
    return Accepted(
        single=preferred({Media.RESPONSE: named.get(Media.RESPONSE, 0.0), Media.JSON: named.get(Media.JSON, wildcard)}),
        stream=preferred({Media.EVENTS: named.get(Media.EVENTS, 0.0), Media.MULTIPART: multipart}),
        html=named.get("text/html", 0.0) > 0,
    )


_accepted_memo = memo(256, 700)(_accepted)


def preferred(qualities: dict[Media, float]) -> Media | None:
    media = max(qualities, key=lambda media: qualities[media])
    return media if qualities[media] > 0 else None


def media_range(text: str) -> MediaRange:
    name, *rest = (part.strip() for part in text.split(";"))
    pairs = (part.partition("=") for part in rest)
    parameters = {key.strip().lower(): value.strip().strip('"') for key, _, value in pairs}
    return MediaRange(name.lower(), parameters, quality(parameters.get("q", "1")))


def quality(text: str) -> float:
    try:
        return min(max(float(text), 0.0), 1.0)
    except ValueError:
        return 0.0


def is_subscription_protocol(media: MediaRange) -> bool:
    # multipart/mixed without this parameter asks for incremental delivery, another protocol.
    return media.name == Media.MULTIPART and "subscriptionspec" in media.parameters


def is_json(content_type: bytes) -> bool:
    return _is_json_memo(content_type) if len(content_type) <= MAX_MEMO_HEADER else _is_json(content_type)


def _is_json(content_type: bytes) -> bool:
    media = media_range(content_type.decode("latin-1"))
    return media.name == Media.JSON and media.parameters.get("charset", "utf-8").lower() in ("utf-8", "utf8")


_is_json_memo = memo(256, 500)(_is_json)
