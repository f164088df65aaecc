"""
The endpoint: an ASGI application that serves a GraphQL schema.

It reads GraphQL requests over HTTP and responds with one result or a stream of them. WebSockets have their own module.
Other pages and APIs of the same program execute documents of their own by `Endpoint.query`.
"""

from collections.abc import Awaitable, Mapping, Sequence
from functools import partial
from hashlib import blake2b
from typing import Any, NamedTuple, TypeAlias

import strawberry
from graphql import OperationType
from starlette.types import Receive, Scope, Send

from engine.clients import Client, Headers, headers_of, make_tuple, request_id_of
from engine.errors import Code, Refused
from engine.handler import RequestHandler
from engine.interfaces import OpenContext, Options, stop_event_of
from engine.limits.rate_limiter import Charge
from engine.negotiation import VARY, Accepted, Media, accepted, is_json
from engine.requests import (
    GraphQLRequest,
    OperationRequest,
    RequestCache,
    parse_body,
    parse_own_body,
    parse_query_string,
    query_parameters,
)
from engine.results import EncodedResult, decode_result, encode, refusal_body
from engine.streaming import Stream, refused_results, send_stream
from engine.websocket import WebSocketTransport

Header: TypeAlias = tuple[bytes, bytes]  # name and value

SAFE_METHODS = ("GET", "HEAD")
MAX_LENGTH_DIGITS = 18  # of a Content-Length
COST_OF_NOT_MODIFIED = 1  # points that a response 304 takes from the client's rate limit

ALLOWED_METHODS = b"GET, HEAD, POST, OPTIONS"

# Statuses of refused requests, as application/json and as application/graphql-response+json. With the older type,
# clients take any other status than 200 for the response of a proxy, so every well-formed GraphQL request gets 200.
STATUSES: dict[str, tuple[int, int]] = {
    Code.UNPARSABLE_DOCUMENT: (200, 400),
    Code.INVALID_DOCUMENT: (200, 400),
    Code.NO_SUCH_OPERATION: (200, 400),
    Code.BAD_USER_INPUT: (200, 400),
    Code.TOO_COSTLY: (200, 400),
    Code.ANSWER_TOO_LARGE: (200, 400),
    Code.TOO_MUCH: (200, 400),
    Code.DOCUMENT_NOT_PERSISTED: (200, 400),
    Code.DOCUMENT_NOT_LISTED: (200, 400),
    Code.BAD_REQUEST: (400, 400),
    Code.UNAUTHENTICATED: (401, 401),
    Code.FORBIDDEN: (403, 403),
    Code.DOCUMENT_NOT_TRUSTED: (403, 403),
    Code.METHOD_NOT_ALLOWED: (405, 405),
    Code.NOT_ACCEPTABLE: (406, 406),
    Code.TOO_LARGE: (413, 413),
    Code.UNSUPPORTED_MEDIA_TYPE: (415, 415),
    Code.RATE_LIMITED: (429, 429),
    Code.TOO_MUCH_UNREAD: (429, 429),
    Code.FAULT: (500, 500),
    Code.UNAVAILABLE: (503, 503),
    Code.TIMED_OUT: (504, 504),
}
DEFAULT_STATUSES = (400, 400)

# Any cache may store the response, but has to revalidate it before each use.
REVALIDATED = (b"cache-control", b"public, max-age=0, must-revalidate")
PRIVATE = (b"cache-control", b"private, no-store")
UNCACHED = (b"cache-control", b"no-store")
CONTENT_TYPES = {media: (b"content-type", f"{media}; charset=utf-8".encode()) for media in Media}


class ClientDisconnected(Exception):
    """The client disconnected before it had sent its request."""


class HTTPRequest(NamedTuple):
    """An HTTP request with the parsed values of its headers."""

    scope: Scope
    receive: Receive
    headers: Headers
    accepted: Accepted
    request_id: str
    client: Client

    @property
    def is_safe(self) -> bool:
        return self.scope["method"] in SAFE_METHODS


class Response(NamedTuple):
    """
    An HTTP response with a whole body. `charge` is what the executed operation took from a bucket of points, of which
    the rate limit headers tell what is left; None if nothing was executed.
    """

    status: int
    headers: list[Header]
    body: bytes = b""
    charge: Charge | None = None


class QueryResult(NamedTuple):
    """What an execution has returned: `data` and `errors` as clients get them. `charge` is None without rate limits."""

    data: dict[str, Any] | None
    errors: list[dict[str, Any]]
    charge: Charge | None = None


class Endpoint:
    """
    Serves a schema. Each operation, and each event of a subscription, is executed with a new context.

    `codes` maps expected exceptions, with their subclasses, to the `extensions.code` that clients read.
    """

    def __init__(
        self,
        schema: strawberry.Schema,
        open_context: OpenContext,
        codes: Mapping[type[Exception], str],
        options: Options | None = None,
    ) -> None:
        options = options or Options()
        self._handler = RequestHandler(schema, open_context, codes, options)
        self._bodies = RequestCache(parse_body, options.pool)
        self._query_strings = RequestCache(parse_query_string, options.pool)
        self._own_bodies = RequestCache(parse_own_body, options.pool)
        self._explorer_path = options.explorer_path
        self._max_body = options.max_body
        self._keep_alive = options.keep_alive
        self._watch_session = options.watch_session
        self._cookie = options.cookie
        self._viewer_header = options.cookie.viewer_header if options.cookie else b""
        self._caching = caching_headers(options)
        self._websocket = WebSocketTransport(self._handler, options)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        await self.serve(scope, receive, send)

    def serve(self, scope: Scope, receive: Receive, send: Send) -> Awaitable[None]:
        """As `__call__`, without a coroutine between, for callers that know that this is ASGI 3."""
        if scope["type"] == "websocket":
            return self._websocket.serve(scope, receive, send)
        return self._serve_http(scope, receive, send)

    async def query(self, scope: Scope, document: str, variables: Mapping[str, Any]) -> QueryResult:
        """
        Execute a query of the program itself for the client that sends the HTTP request of `scope`.

        It takes the client's points, has the limits of any request, shares the execution of equal queries, and is
        observed under the name of its operation. It is executed also where clients may send trusted documents only.

        Raises:
            Refused: as for a request of a client; its headers are those of the HTTP response.
        """
        headers = headers_of(scope)
        client, request_id = self._handler.client(scope, headers), request_id_of(headers)
        body = encode({"query": document, "variables": variables})
        try:
            request = await self._handler.prepare(self._own_bodies.request(body), client, request_id)
            assert request.operation.is_query, "a handler's document is a query"
            content = decode_result(await self._handler.execute(request))
        except Refused as refused:
            refused.headers = [*refused.headers, *self._handler.rate_headers(client)]
            raise
        return QueryResult(content["data"], content.get("errors", []), request.charge)

    def client(self, scope: Scope) -> Client:
        """The client that sends an HTTP request, with the token of its cookie where that counts."""
        return self._client(scope, headers_of(scope))

    def _client(self, scope: Scope, headers: Headers) -> Client:
        client = self._handler.client(scope, headers)
        if self._cookie is not None and (b"cookie" in headers or self._viewer_header in headers):
            return self._cookie.identified(client, scope, headers)
        return client

    async def identified(self, scope: Scope) -> Client:
        """
        The same client, with what the application has found out about its token.

        Raises:
            Refused: the token is not accepted.
        """
        return await self._handler.identified(self.client(scope))

    async def _serve_http(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Respond to an HTTP request. Errors of any kind become a response."""
        headers = headers_of(scope)
        client = self._client(scope, headers)
        media = accepted(headers.get(b"accept", b""))
        http = make_tuple(HTTPRequest, (scope, receive, headers, media, request_id_of(headers), client))
        try:
            response = await self._response(http)
        except ClientDisconnected:
            return
        except Refused as refused:
            response = refusal(refused, media.single or Media.JSON)
        except Exception as error:
            unexpected = self._handler.error_formatter.refusal(error, http.request_id)
            response = refusal(unexpected, media.single or Media.JSON)
        if isinstance(response, Stream):
            rates = self._handler.rate_headers(client)
            await send_stream(response, http.request_id, rates, self._keep_alive, receive, send)
            return
        response.headers.extend(response.charge.headers() if response.charge else self._handler.rate_headers(client))
        try:
            await respond(response, http.request_id, send)
        except Refused as refused:  # the server's connection raises it if too many responses are unread
            await respond(refusal(refused, media.single or Media.JSON), http.request_id, send)

    async def _response(self, http: HTTPRequest) -> Response | Stream:
        method = http.scope["method"]
        if method == "OPTIONS":
            return options()
        if method == "POST":
            return await self._execute(http, await self._read_post(http))
        if not http.is_safe:
            raise not_allowed(f"{method} is not allowed here")
        query_string = http.scope["query_string"]
        if self._explorer_path is not None and http.accepted.html and not query_parameters(query_string):
            return redirect(self._explorer_path)
        return await self._execute(http, self._query_strings.request(query_string))

    async def _read_post(self, http: HTTPRequest) -> GraphQLRequest:
        if not is_json(http.headers.get(b"content-type", b"")):
            raise Refused(Code.UNSUPPORTED_MEDIA_TYPE, "the body is not application/json in UTF-8 by its Content-Type")
        if http.headers.get(b"content-encoding", b"identity").lower() != b"identity":
            raise Refused(Code.UNSUPPORTED_MEDIA_TYPE, "a Content-Encoding is not supported")
        return self._bodies.request(await read_body(http.headers, http.receive, self._max_body))

    async def _execute(self, http: HTTPRequest, graphql_request: GraphQLRequest) -> Response | Stream:
        """Execute a request, and answer in a media type that the client accepts."""
        single, streamed, _ = http.accepted
        if single is None and streamed is None:
            raise Refused(
                Code.NOT_ACCEPTABLE, "responses are application/json, application/graphql-response+json or streams"
            )
        try:
            request = await self._handler.prepare(graphql_request, http.client, http.request_id)
        except Refused as refused:
            if single is None and streamed is not None:
                return Stream(refused_results(refused), streamed)
            raise
        if request.operation.kind is OperationType.MUTATION and http.is_safe:
            raise not_allowed("a mutation is not allowed by GET", allowed=b"POST")
        if single is not None and not request.operation.is_subscription:
            return single_response(await self._handler.execute(request), single, http, request, self._caching)
        if streamed is None:
            raise Refused(Code.NOT_ACCEPTABLE, "a subscription is answered as text/event-stream or by multipart/mixed")
        stopping = stop_event_of(http.scope) if request.operation.is_subscription else None
        return Stream(self._handler.stream(request), streamed, stopping, partial(self._watch_session, request.client))


def single_response(
    result: EncodedResult,
    media: Media,
    http: HTTPRequest,
    request: OperationRequest,
    shared_caching: Sequence[Header],
) -> Response:
    """
    The response with a whole result. Only that of a GET without a token, and without errors, may be stored by caches.
    """
    charge = request.charge
    if not http.is_safe or result.has_errors:
        return make_tuple(Response, (200, [CONTENT_TYPES[media], UNCACHED, VARY, *result.headers], result.body, charge))
    if request.client.token is not None or request.client.stats or not result.is_shareable:
        return Response(200, [CONTENT_TYPES[media], PRIVATE, VARY], result.body, charge)
    response = public(result.body, media, http.headers, shared_caching)
    if response.status == 304 and charge:
        charge.set(COST_OF_NOT_MODIFIED)
    return response


async def read_body(headers: Headers, receive: Receive, max_body: int) -> bytes:
    """The body of a request, of at most `max_body` bytes."""
    if declared_length(headers) > max_body:
        raise too_large(max_body)
    message = await receive()
    body: bytes = message.get("body", b"")
    while message.get("more_body", False) and len(body) <= max_body:
        message = await receive()
        body += message.get("body", b"")
    if message["type"] == "http.disconnect":
        raise ClientDisconnected
    if len(body) > max_body:
        raise too_large(max_body)
    return body


def declared_length(headers: Headers) -> int:
    """The Content-Length, 0 without one."""
    digits = headers.get(b"content-length", b"0")
    if not digits.isdigit():
        raise Refused(Code.BAD_REQUEST, "Content-Length is not a number of bytes")
    if len(digits) > MAX_LENGTH_DIGITS:  # a longer number is too large as well
        digits = digits.lstrip(b"0")[:MAX_LENGTH_DIGITS] or b"0"
    return int(digits)


def too_large(max_body: int) -> Refused:
    # The server discards the rest of the body. If it closed the connection instead, the client, which is still
    # sending, would get a reset and not this response.
    return Refused(Code.TOO_LARGE, f"the body is larger than {max_body} bytes")


def public(body: bytes, media: Media, headers: Headers, shared_caching: Sequence[Header]) -> Response:
    """A response that caches may store. Its tag is weak, because the compressed response has the same tag."""
    tag = b'"%b"' % blake2b(body, digest_size=12).hexdigest().encode()
    caching = [*shared_caching, (b"etag", b"W/" + tag)]
    if matches(tag, headers.get(b"if-none-match", b"")):
        return Response(304, caching)
    return Response(200, [CONTENT_TYPES[media], *caching], body)


def caching_headers(options: Options) -> list[Header]:
    """The headers of public responses: shared caches may serve them for `cache_seconds` without asking."""
    if not options.cache_seconds:
        return [REVALIDATED, VARY]
    name, value = VARY
    own = f", {options.stats_header}".encode() if options.stats_header else b""
    return [
        (b"cache-control", b"public, max-age=0, s-maxage=%d, must-revalidate" % options.cache_seconds),
        (name, value + own),
    ]


def matches(tag: bytes, if_none_match: bytes) -> bool:
    """Whether an If-None-Match names a tag, also as a weak one."""
    tags = (each.strip().removeprefix(b"W/") for each in if_none_match.split(b","))
    return any(each in (tag, b"*") for each in tags)


def refusal(refused: Refused, media: Media) -> Response:
    status = STATUSES.get(refused.code, DEFAULT_STATUSES)[media is Media.RESPONSE]
    headers = [CONTENT_TYPES[media], UNCACHED, VARY, *refused.headers]
    return Response(status, headers, refusal_body(refused))


def not_allowed(reason: str, allowed: bytes = ALLOWED_METHODS) -> Refused:
    return Refused(Code.METHOD_NOT_ALLOWED, reason, headers=[(b"allow", allowed)])


def options() -> Response:
    return Response(204, [(b"allow", ALLOWED_METHODS), VARY])


def redirect(location: str) -> Response:
    return Response(303, [(b"location", location.encode()), VARY])


async def respond(response: Response, request_id: str, send: Send) -> None:
    headers = [*response.headers, (b"x-request-id", request_id.encode())]
    if response.status not in (204, 304):
        headers.append((b"content-length", b"%d" % len(response.body)))
    await send({"type": "http.response.start", "status": response.status, "headers": headers})
    await send({"type": "http.response.body", "body": response.body})
