"""The way of one HTTP request: read it, find its operation, answer it once or as a stream."""

from dataclasses import dataclass
from typing import NamedTuple

from graphql import OperationType
from starlette.types import Receive, Scope, Send

from engine.calls import Answer, Call
from engine.clients import Headers, client_of
from engine.errors import Code, Refused
from engine.handler import Engine
from engine.negotiation import Accepted, Media, accepted, is_json
from engine.requests import ClientGone, GraphQLRequest, Requests, parameters, read_body, request_id_of
from engine.responses import Response, not_allowed, options, private, public, redirect, refusal, respond, unstored
from engine.shutdown import stopping_of
from engine.transports.streaming import Stream, refused_answers, send_stream

READS = ("GET", "HEAD")


class Exchange(NamedTuple):
    """One HTTP request, with what its headers say."""

    scope: Scope
    receive: Receive
    headers: Headers
    media: Accepted
    request_id: str

    @property
    def reads(self) -> bool:
        return self.scope["method"] in READS


@dataclass(frozen=True, slots=True)
class Exchanges:
    engine: Engine
    posted: Requests
    got: Requests
    page: str | None
    max_body: int
    keep_alive: float

    async def serve(self, scope: Scope, receive: Receive, send: Send) -> None:
        headers: Headers = dict(scope["headers"])
        media = accepted(headers.get(b"accept", b""))
        exchange = Exchange(scope, receive, headers, media, request_id_of(headers))
        try:
            response = await self._response(exchange)
        except ClientGone:
            return
        except Refused as refused:
            response = refusal(refused, media.single or Media.JSON)
        except Exception as fault:
            response = refusal(self.engine.faults.refusal(fault, exchange.request_id), media.single or Media.JSON)
        if isinstance(response, Stream):
            await send_stream(response, exchange.request_id, self.keep_alive, receive, send)
            return
        try:
            await respond(response, exchange.request_id, send)
        except Refused as refused:  # by the connection, which has too much to send already
            await respond(refusal(refused, media.single or Media.JSON), exchange.request_id, send)

    async def _response(self, exchange: Exchange) -> Response | Stream:
        method = exchange.scope["method"]
        if method == "OPTIONS":
            return options()
        if method == "POST":
            return await self._carried_out(exchange, await self._posted(exchange))
        if not exchange.reads:
            raise not_allowed(f"{method} is not allowed here")
        text = exchange.scope["query_string"]
        if self.page is not None and exchange.media.page and not parameters(text):
            return redirect(self.page)
        return await self._carried_out(exchange, self.got.request(text))

    async def _posted(self, exchange: Exchange) -> GraphQLRequest:
        if not is_json(exchange.headers.get(b"content-type", b"")):
            raise Refused(Code.UNSUPPORTED_MEDIA_TYPE, "the body is not application/json in UTF-8 by its Content-Type")
        if exchange.headers.get(b"content-encoding", b"identity").lower() != b"identity":
            raise Refused(Code.UNSUPPORTED_MEDIA_TYPE, "the body has a Content-Encoding: send it as it is")
        return self.posted.request(await read_body(exchange.headers, exchange.receive, self.max_body))

    async def _carried_out(self, exchange: Exchange, request: GraphQLRequest) -> Response | Stream:
        single, streamed, _ = exchange.media
        if single is None and streamed is None:
            raise Refused(
                Code.NOT_ACCEPTABLE, "answers are application/json, application/graphql-response+json or streams"
            )
        try:
            call = self.engine.prepare(
                request, client_of(exchange.scope, exchange.headers, self.engine.proxies), exchange.request_id
            )
        except Refused as refused:
            if single is None and streamed is not None:
                return Stream(refused_answers(refused), streamed)
            raise
        if exchange.reads and call.operation.kind is OperationType.MUTATION:
            raise not_allowed("a mutation is not allowed by GET", allowed=b"POST")
        if single is not None and not call.is_subscription:
            return answered(await self.engine.answer(call), single, exchange, call)
        if streamed is None:
            raise Refused(Code.NOT_ACCEPTABLE, "a subscription is answered as text/event-stream or by multipart/mixed")
        return Stream(
            self.engine.answers(call), streamed, stopping_of(exchange.scope) if call.is_subscription else None
        )


def answered(answer: Answer, media: Media, exchange: Exchange, call: Call) -> Response:
    if not exchange.reads or answer.has_errors:
        return unstored(answer.body, media)
    if call.client.token is not None or call.client.stats:
        return private(answer.body, media)
    return public(answer.body, media, exchange.headers)
