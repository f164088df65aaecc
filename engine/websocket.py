"""GraphQL over WebSocket, by the graphql-transport-ws protocol: many operations on one connection."""

import asyncio
from contextlib import AbstractAsyncContextManager, AbstractContextManager, aclosing, nullcontext, suppress
from dataclasses import dataclass
from enum import IntEnum
from functools import partial
from time import monotonic
from typing import Any

from starlette.types import Message, Receive, Scope, Send

from engine.clients import Client, Headers, authenticated_by_init, headers_of, is_loopback, is_own_origin, request_id_of
from engine.errors import SESSION_ENDED, Code, Refused
from engine.handler import RequestHandler
from engine.interfaces import TEXT_PARTS, OnRefresh, Options, stop_event_of
from engine.requests import GraphQLRequest, decode, parse_request
from engine.results import encode, encode_to_keep

PROTOCOL = "graphql-transport-ws"


class CloseCode(IntEnum):
    """Why the server closes a connection: codes of WebSocket (RFC 6455), and from 4400 on of the protocol."""

    TOO_BIG = 1009
    STOPPING = 1012
    BAD_REQUEST = 4400
    UNAUTHORIZED = 4401
    FORBIDDEN = 4403
    NO_SUCH_PROTOCOL = 4406
    INIT_TIMEOUT = 4408
    ID_IN_USE = 4409
    INIT_TWICE = 4429


class ProtocolError(Exception):
    """The client violated the protocol, so its connection is closed."""

    def __init__(self, code: CloseCode, reason: str) -> None:
        super().__init__(code, reason)
        self.code = code
        self.reason = reason


@dataclass(frozen=True, slots=True)
class WebSocketTransport:
    """Accepts WebSockets for an endpoint, and serves each as a `WebSocketSession`."""

    handler: RequestHandler
    options: Options

    async def serve(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Accept a WebSocket, unless a page of another site opens it, and serve it until it is closed."""
        headers = headers_of(scope)
        await receive()
        if not self._is_allowed_origin(headers):
            await send({"type": "websocket.close", "code": 1008})  # a policy violation: the handshake gets 403
            return
        request_id = request_id_of(headers)
        has_protocol = PROTOCOL in scope["subprotocols"]
        client, cookie = self.handler.client(scope, headers), self.options.cookie
        if cookie is not None:
            client = cookie.identified(client, scope, headers)
        accept_headers = [(b"x-request-id", request_id.encode()), *await self.handler.handshake_headers(client)]
        subprotocol = PROTOCOL if has_protocol else None
        await send({"type": "websocket.accept", "subprotocol": subprotocol, "headers": accept_headers})
        if not has_protocol:
            await send(close_frame(CloseCode.NO_SUCH_PROTOCOL, f"expected the subprotocol {PROTOCOL}"))
            return
        takes_parts = TEXT_PARTS in scope.get("extensions", {})
        await WebSocketSession(self, client, request_id, receive, send, stop_event_of(scope), takes_parts).run()

    def too_many(self) -> Refused:
        return Refused(Code.TOO_MANY_OPERATIONS, f"more than {self.options.max_operations} operations on one socket")

    def _is_allowed_origin(self, headers: Headers) -> bool:
        """
        Browsers send the origin of the page: a page of another site must not open a connection for its visitor.

        Not all browsers send Sec-Fetch-Site for WebSockets, so pages of this computer are accepted without it.
        """
        origin = headers.get(b"origin")
        if origin is None or is_own_origin(origin, headers) or is_loopback(origin, headers):
            return True
        return origin.decode("latin-1") in self.options.allowed_origins


class MessageRate:
    """Counts the messages of each second."""

    def __init__(self, max_messages: int) -> None:
        self._max_messages = max_messages
        self._second, self._messages = 0, 0

    def is_exceeded(self) -> bool:
        """Count a message; whether there are more than `max_messages` in this second."""
        second = int(monotonic())
        self._messages = self._messages + 1 if second == self._second else 1
        self._second = second
        return self._messages > self._max_messages

    async def wait(self) -> None:
        """Count a message; if it exceeds the rate, wait until the next second, in which it counts."""
        while self.is_exceeded():  # noqa: ASYNC110 - no event tells that a second is over
            await asyncio.sleep(1 - monotonic() % 1)


class WebSocketSession:
    """
    One connection: reads the client's messages, and runs each operation in a task. `takes_parts` says whether the
    server has the extension `TEXT_PARTS`, by which results of many connections are encoded once.
    """

    def __init__(
        self,
        transport: WebSocketTransport,
        client: Client,
        request_id: str,
        receive: Receive,
        send: Send,
        stopping: asyncio.Event,
        takes_parts: bool = False,
    ) -> None:
        self._takes_parts = takes_parts
        self._transport = transport
        self._handler = transport.handler
        self._client = client
        self._request_id = request_id
        self._receive = receive
        self._send = send
        self._is_ready = False
        self._message_rate = MessageRate(transport.options.max_messages)
        self._stopping = stopping
        self._tasks: dict[str, asyncio.Task[None]] = {}
        self._subscriptions: set[str] = set()
        self._on_refresh: list[OnRefresh] = []  # one of each subscription: called when the client has another token
        # contexts that `run` leaves: see `Options`. No `ExitStack`, which takes 0.8 kB
        self._watch: AbstractContextManager[object] = nullcontext()
        self._while_subscribed: AbstractAsyncContextManager[object] = nullcontext()
        self._has_ended = False  # whether the session of the client's token has

    async def run(self) -> None:
        """
        Serve the client until it leaves, violates the protocol or initialises too late, its session ends, or the server
        stops.
        """
        try:
            await self._read_messages()
            if self._stopping.is_set():
                await self._finish()
        except TimeoutError:
            if self._has_ended:
                await self._close(CloseCode.FORBIDDEN, SESSION_ENDED)
            else:
                await self._close(CloseCode.INIT_TIMEOUT, "connection initialisation timeout")
        except ProtocolError as error:
            await self._close(error.code, error.reason)
        except OSError:
            pass  # the client left while a message was sent
        finally:
            self._watch.__exit__(None, None, None)
            await self._cancel_all()
            await self._while_subscribed.__aexit__(None, None, None)

    async def _read_messages(self) -> None:
        async with asyncio.timeout(self._transport.options.init_timeout) as deadline:
            while (frame := await self._receive())["type"] == "websocket.receive":
                await self._message_rate.wait()  # meanwhile nothing more is read from the connection
                await self._handle(read_message(frame, self._transport.options.max_message), deadline)

    async def _finish(self) -> None:
        """Stop subscriptions, and wait for the results of other operations."""
        for identifier in self._subscriptions & self._tasks.keys():
            self._stop(identifier)
        await asyncio.gather(*self._tasks.values())
        await self._close(CloseCode.STOPPING, "the server stops")

    async def _handle(self, message: dict[str, Any], deadline: asyncio.Timeout) -> None:
        """Do what a message asks for. `deadline` limits the time until the initialisation; later `_end` sets it."""
        match message.get("type"):
            case "connection_init":
                self._initialise(message.get("payload"))
                deadline.reschedule(None)
                self._client = await self._identified(self._client)
                self._watch_session(self._client, deadline)
                # Not only when a subscription begins: what the client sends after it must not be executed before it.
                while_subscribed = self._transport.options.while_subscribed()
                await while_subscribed.__aenter__()
                self._while_subscribed = while_subscribed
                await self._send_text(b'{"type":"connection_ack"}')
            case "ping":
                await self._refresh(message.get("payload"), deadline)
                await self._send_text(b'{"type":"pong"}')
            case "pong":
                pass
            case "subscribe":
                await self._start(message)
            case "complete":
                self._stop(message.get("id"))
            case _:
                raise ProtocolError(CloseCode.BAD_REQUEST, "a message is of no known type")

    def _initialise(self, payload: Any) -> None:
        """Take the token and the viewer of `connection_init`."""
        if self._is_ready:
            raise ProtocolError(CloseCode.INIT_TWICE, "too many initialisation requests")
        if payload is not None and not isinstance(payload, dict):
            raise ProtocolError(CloseCode.BAD_REQUEST, "the payload of connection_init is not an object")
        given = payload or {}
        authenticated = authenticated_by_init(self._client, given)
        cookie = self._transport.options.cookie
        if cookie is not None and authenticated is self._client:
            authenticated = cookie.of_viewer(authenticated, named_viewer(given, cookie.viewer_header.decode()))
        self._client = authenticated
        self._is_ready = True

    def _watch_session(self, client: Client, deadline: asyncio.Timeout) -> None:
        """Close the connection once the session of a client has ended."""
        self._watch.__exit__(None, None, None)
        self._watch = self._transport.options.watch_session(client, partial(self._end, deadline))
        self._watch.__enter__()

    async def _refresh(self, payload: Any, deadline: asyncio.Timeout) -> None:
        """If a ping has another token of the same user, go on with that, also in operations that run."""
        if not self._is_ready or not isinstance(payload, dict):
            return
        given = authenticated_by_init(self._client, payload)
        if given.token is None or given.token == self._client.token:
            return
        refreshed = await self._identified(given)
        self._watch_session(refreshed, deadline)  # first: the session may end while its token is checked
        if not await self._handler.is_of_same_user(self._client, given.token):
            raise ProtocolError(CloseCode.FORBIDDEN, "the token is not of the same user")
        self._client = refreshed
        for on_refresh in self._on_refresh:
            on_refresh(refreshed)

    def watch_token(self, on_refresh: OnRefresh) -> None:
        """Call a function with the client now, and whenever it has another token."""
        on_refresh(self._client)
        self._on_refresh.append(on_refresh)

    def unwatch_token(self, on_refresh: OnRefresh) -> None:
        self._on_refresh.remove(on_refresh)

    async def _identified(self, client: Client) -> Client:
        try:
            return await self._handler.identified(client)
        except Refused as refused:
            raise ProtocolError(CloseCode.FORBIDDEN, refused.errors[0]["message"]) from None

    def _end(self, deadline: asyncio.Timeout) -> None:
        """Stop reading, as the session has ended."""
        self._has_ended = True
        deadline.reschedule(asyncio.get_running_loop().time())

    async def _start(self, message: dict[str, Any]) -> None:
        """Begin an operation, in a task of its own."""
        identifier = message.get("id")
        if not isinstance(identifier, str) or not identifier:
            raise ProtocolError(CloseCode.BAD_REQUEST, "a subscribe message has no id")
        if not self._is_ready:
            raise ProtocolError(CloseCode.UNAUTHORIZED, "unauthorized")
        if identifier in self._tasks:
            raise ProtocolError(CloseCode.ID_IN_USE, "a subscriber for this id already exists")
        try:
            request = parse_request(message.get("payload"))
        except Refused as refused:
            raise ProtocolError(CloseCode.BAD_REQUEST, refused.errors[0]["message"]) from None
        if len(self._tasks) < self._transport.options.max_operations:
            self._tasks[identifier] = asyncio.create_task(self._operate(identifier, request))
        else:
            await self._send_text(error_message(encode(identifier), self._transport.too_many()))

    def _stop(self, identifier: Any) -> None:
        """End an operation, without a further message."""
        if not isinstance(identifier, str):
            raise ProtocolError(CloseCode.BAD_REQUEST, "a complete message has no id")
        task = self._tasks.pop(identifier, None)
        if task is not None:
            task.cancel()

    async def _operate(self, identifier: str, request: GraphQLRequest) -> None:
        """Run an operation: send its results, and the message that ends it."""
        id_json = encode_to_keep(identifier)
        try:
            await self._send_results(identifier, id_json, request)
            last = b'{"id":%b,"type":"complete"}' % id_json
        except Refused as refused:
            last = error_message(id_json, refused)
        except OSError:
            return  # the client left
        except Exception as error:
            last = error_message(id_json, self._handler.error_formatter.refusal(error, self._request_id))
        finally:
            self._subscriptions.discard(identifier)
        # Free the id first: the client may use it again as soon as it reads the last message.
        del self._tasks[identifier]
        await self._send_text(last)

    async def _send_results(self, identifier: str, id_json: bytes, request: GraphQLRequest) -> None:
        """Send the results one after the other, so that none has to be buffered."""
        prepared = await self._handler.prepare(request, self._client, self._request_id)
        if prepared.operation.is_subscription:
            self._subscriptions.add(identifier)
        async with aclosing(self._handler.stream(prepared, self)) as results:
            beginning = b'{"id":%b,"type":"next","payload":' % id_json
            async for result in results:
                if not result.body:  # only an id of an event, which Server-sent events have
                    continue
                if self._takes_parts:
                    await self._send({"type": "websocket.send", TEXT_PARTS: (beginning, result.body, b"}")})
                else:
                    await self._send_text(beginning + result.body + b"}")

    async def _send_text(self, text: bytes) -> None:
        await self._send({"type": "websocket.send", "text": text.decode()})

    async def _close(self, code: CloseCode, reason: str) -> None:
        await self._cancel_all()
        with suppress(OSError):
            await self._send(close_frame(code, reason))

    async def _cancel_all(self) -> None:
        tasks = list(self._tasks.values())
        self._tasks.clear()
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)


def named_viewer(payload: dict[str, Any], header: str) -> str:
    """The user whom a page shows, by its `connection_init`: the name of the header is in any case of letters."""
    found = next((value for name, value in payload.items() if name.lower() == header), "")
    return found if isinstance(found, str) else ""


def error_message(id_json: bytes, refused: Refused) -> bytes:
    """The message that ends an operation with errors."""
    return b'{"id":%b,"type":"error","payload":%b}' % (id_json, encode(refused.errors))


def read_message(frame: Message, max_message: int) -> dict[str, Any]:
    """The JSON object of a text frame."""
    text = frame.get("text")
    if text is None:
        raise ProtocolError(CloseCode.BAD_REQUEST, "a message is a text frame")
    if len(text) > max_message:
        raise ProtocolError(CloseCode.TOO_BIG, f"a message is longer than {max_message} characters")
    try:
        message = decode(text)
    except Refused:
        raise ProtocolError(CloseCode.BAD_REQUEST, "a message is not JSON") from None
    if not isinstance(message, dict):
        raise ProtocolError(CloseCode.BAD_REQUEST, "a message is not an object")
    return message


def close_frame(code: CloseCode, reason: str) -> Message:
    return {"type": "websocket.close", "code": int(code), "reason": reason}
