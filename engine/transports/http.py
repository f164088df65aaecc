"""GraphQL over HTTP: reads a request, and responds with one result or a stream of them."""

from dataclasses import dataclass
from typing import NamedTuple

from graphql import OperationType
from starlette.types import Receive, Scope, Send

from engine.errors import Code, Refused
from engine.handler import RequestHandler
from engine.requests import (
    Client,
    GraphQLRequest,
    Headers,
    OperationRequest,
    RequestCache,
    query_parameters,
    request_id_of,
)
from engine.responses import (
    Accepted,
    EncodedResult,
    Media,
    Response,
    accepted,
    is_json,
    not_allowed,
    options,
    private,
    public,
    redirect,
    refusal,
    respond,
    uncached,
)
from engine.shutdown import stopping_of
from engine.transports.streaming import Stream, refused_results, send_stream

COST_OF_NOT_MODIFIED = 1  # points
SAFE_METHODS = ("GET", "HEAD")
MAX_LENGTH_DIGITS = 18  # of a Content-Length


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


@dataclass(frozen=True, slots=True)
class HTTPTransport:
    """`explorer_path` is where browsers are redirected that open the endpoint as a page."""

    handler: RequestHandler
    bodies: RequestCache
    query_strings: RequestCache
    explorer_path: str | None
    max_body: int
    keep_alive: float

    async def serve(self, scope: Scope, receive: Receive, send: Send) -> None:
        headers: Headers = dict(scope["headers"])
        media = accepted(headers.get(b"accept", b""))
        client = self.handler.client(scope, headers)
        http = HTTPRequest(scope, receive, headers, media, request_id_of(headers), client)
        try:
            response = await self._response(http)
        except ClientDisconnected:
            return
        except Refused as refused:
            response = refusal(refused, media.single or Media.JSON)
        except Exception as error:
            unexpected = self.handler.error_formatter.refusal(error, http.request_id)
            response = refusal(unexpected, media.single or Media.JSON)
        rates = self.handler.rate_headers(client)
        if isinstance(response, Stream):
            await send_stream(response, http.request_id, rates, self.keep_alive, receive, send)
            return
        response.headers.extend(rates)
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
        if self.explorer_path is not None and http.accepted.html and not query_parameters(query_string):
            return redirect(self.explorer_path)
        return await self._execute(http, self.query_strings.request(query_string))

    async def _read_post(self, http: HTTPRequest) -> GraphQLRequest:
        if not is_json(http.headers.get(b"content-type", b"")):
            raise Refused(Code.UNSUPPORTED_MEDIA_TYPE, "the body is not application/json in UTF-8 by its Content-Type")
        if http.headers.get(b"content-encoding", b"identity").lower() != b"identity":
            raise Refused(Code.UNSUPPORTED_MEDIA_TYPE, "a Content-Encoding is not supported")
        return self.bodies.request(await read_body(http.headers, http.receive, self.max_body))

    async def _execute(self, http: HTTPRequest, graphql_request: GraphQLRequest) -> Response | Stream:
        single, streamed, _ = http.accepted
        if single is None and streamed is None:
            raise Refused(
                Code.NOT_ACCEPTABLE, "answers are application/json, application/graphql-response+json or streams"
            )
        try:
            request = await self.handler.prepare(graphql_request, http.client, http.request_id)
        except Refused as refused:
            if single is None and streamed is not None:
                return Stream(refused_results(refused), streamed)
            raise
        if http.is_safe and request.operation.kind is OperationType.MUTATION:
            raise not_allowed("a mutation is not allowed by GET", allowed=b"POST")
        if single is not None and not request.is_subscription:
            return single_response(await self.handler.execute(request), single, http, request)
        if streamed is None:
            raise Refused(Code.NOT_ACCEPTABLE, "a subscription is answered as text/event-stream or by multipart/mixed")
        stopping = stopping_of(http.scope) if request.is_subscription else None
        return Stream(self.handler.stream(request), streamed, stopping)


def single_response(result: EncodedResult, media: Media, http: HTTPRequest, request: OperationRequest) -> Response:
    if not http.is_safe or result.has_errors:
        return uncached(result.body, media)
    if request.client.token is not None or request.client.stats:
        return private(result.body, media)
    response = public(result.body, media, http.headers)
    if response.status == 304 and request.charge:
        request.charge.set(COST_OF_NOT_MODIFIED)
    return response


async def read_body(headers: Headers, receive: Receive, max_body: int) -> bytes:
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
    digits = headers.get(b"content-length", b"0")
    if not digits.isdigit():
        raise Refused(Code.BAD_REQUEST, "Content-Length is not a number of bytes")
    return int(digits.lstrip(b"0")[:MAX_LENGTH_DIGITS] or b"0")  # a longer number is too large as well


def too_large(max_body: int) -> Refused:
    # The server discards the rest of the body. If it closed the connection instead, the client, which is still
    # sending, would get a reset and not this response.
    return Refused(Code.TOO_LARGE, f"the body is larger than {max_body} bytes")
