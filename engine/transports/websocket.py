"""GraphQL over WebSocket by the graphql-transport-ws protocol: many operations on one connection."""

import asyncio
from contextlib import aclosing, suppress
from dataclasses import dataclass
from time import monotonic
from typing import Any

from starlette.types import Receive, Scope, Send

from engine.clients import Client, Headers, client_of, socket_client
from engine.errors import Code, Refused
from engine.handler import Engine
from engine.json import encode
from engine.requests import GraphQLRequest, graphql_request, request_id_of
from engine.shutdown import stopping_of
from engine.transports.messages import Close, Closed, closing, read

PROTOCOL = "graphql-transport-ws"


@dataclass(frozen=True, slots=True)
class Sockets:
    engine: Engine
    allowed_origins: frozenset[str]
    max_message: int
    max_subscriptions: int
    init_timeout: float
    max_messages: int  # a second

    async def serve(self, scope: Scope, receive: Receive, send: Send) -> None:
        headers: Headers = dict(scope["headers"])
        await receive()
        if not self._is_welcome(headers):
            await send({"type": "websocket.close", "code": 1008})
            return
        request_id = request_id_of(headers)
        known = PROTOCOL in scope["subprotocols"]
        accept = {"type": "websocket.accept", "subprotocol": PROTOCOL if known else None}
        await send({**accept, "headers": [(b"x-request-id", request_id.encode())]})
        if not known:
            await send(closing(Close.NO_SUCH_PROTOCOL, f"expected the subprotocol {PROTOCOL}"))
            return
        client = client_of(scope, headers, self.engine.proxies)
        await Socket(self, client, request_id, receive, send, stopping_of(scope)).run()

    def too_many(self) -> Refused:
        return Refused(Code.TOO_MANY_OPERATIONS, f"more than {self.max_subscriptions} operations on one socket")

    def _is_welcome(self, headers: Headers) -> bool:
        """A browser tells the page's origin: no page of another site may open a socket in its visitor's name."""
        origin = headers.get(b"origin")
        if origin is None:
            return True
        host = origin.partition(b"://")[2]
        return host == headers.get(b"host") or origin.decode("latin-1") in self.allowed_origins


class Pace:
    """Counts the messages of each second."""

    def __init__(self, max_messages: int) -> None:
        self._max_messages = max_messages
        self._second, self._messages = 0, 0

    def count(self) -> None:
        second = int(monotonic())
        self._messages = self._messages + 1 if second == self._second else 1
        self._second = second
        if self._messages > self._max_messages:
            raise Closed(Close.TOO_FAST, f"more than {self._max_messages} messages a second")


class Socket:
    """One connection: reads its client's messages, and runs each operation as a task of its own."""

    def __init__(
        self,
        rules: Sockets,
        client: Client,
        request_id: str,
        receive: Receive,
        send: Send,
        stopping: asyncio.Event,
    ) -> None:
        self._rules = rules
        self._engine = rules.engine
        self._client = client
        self._request_id = request_id
        self._receive = receive
        self._send = send
        self._is_ready = False
        self._pace = Pace(rules.max_messages)
        self._stopping = stopping
        self._tasks: dict[str, asyncio.Task[None]] = {}
        self._subscriptions: set[str] = set()

    async def run(self) -> None:
        """Serve the client until it goes, breaks the protocol, is too slow to introduce itself, or the server stops."""
        try:
            await self._converse()
            if self._stopping.is_set():
                await self._finish()
        except TimeoutError:
            await self._close(Close.INIT_TIMEOUT, "connection initialisation timeout")
        except Closed as closed:
            await self._close(closed.code, closed.reason)
        except OSError:
            pass  # the client went while it was being answered
        finally:
            await self._cancel_all()

    async def _converse(self) -> None:
        async with asyncio.timeout(self._rules.init_timeout) as deadline:
            while (frame := await self._receive())["type"] == "websocket.receive":
                self._pace.count()
                await self._handle(read(frame, self._rules.max_message), deadline)

    async def _finish(self) -> None:
        """End what lasts, and let all else be answered."""
        for identifier in self._subscriptions & self._tasks.keys():
            self._stop(identifier)
        await asyncio.gather(*self._tasks.values())
        await self._close(Close.STOPPING, "the server stops")

    async def _handle(self, message: dict[str, Any], deadline: asyncio.Timeout) -> None:
        match message.get("type"):
            case "connection_init":
                self._introduce(message.get("payload"))
                deadline.reschedule(None)
                await self._send_text(b'{"type":"connection_ack"}')
            case "ping":
                await self._send_text(b'{"type":"pong"}')
            case "pong":
                pass
            case "subscribe":
                await self._start(message)
            case "complete":
                self._stop(message.get("id"))
            case _:
                raise Closed(Close.BAD_REQUEST, "a message is of no known type")

    def _introduce(self, payload: Any) -> None:
        if self._is_ready:
            raise Closed(Close.INIT_TWICE, "too many initialisation requests")
        if payload is not None and not isinstance(payload, dict):
            raise Closed(Close.BAD_REQUEST, "the payload of connection_init is not an object")
        self._client = socket_client(self._client, payload or {})
        self._is_ready = True

    async def _start(self, message: dict[str, Any]) -> None:
        identifier = message.get("id")
        if not isinstance(identifier, str) or not identifier:
            raise Closed(Close.BAD_REQUEST, "a subscribe message has no id")
        if not self._is_ready:
            raise Closed(Close.UNAUTHORIZED, "unauthorized")
        if identifier in self._tasks:
            raise Closed(Close.ID_IN_USE, "a subscriber for this id already exists")
        try:
            request = graphql_request(message.get("payload"))
        except Refused as refused:
            raise Closed(Close.BAD_REQUEST, refused.errors[0]["message"]) from None
        if len(self._tasks) < self._rules.max_subscriptions:
            self._tasks[identifier] = asyncio.create_task(self._operate(identifier, request))
        else:
            await self._send_text(error_message(encode(identifier), self._rules.too_many()))

    def _stop(self, identifier: Any) -> None:
        if not isinstance(identifier, str):
            raise Closed(Close.BAD_REQUEST, "a complete message has no id")
        task = self._tasks.pop(identifier, None)
        if task is not None:
            task.cancel()

    async def _operate(self, identifier: str, request: GraphQLRequest) -> None:
        name = encode(identifier)
        try:
            await self._send_answers(identifier, name, request)
            last = b'{"id":%b,"type":"complete"}' % name
        except Refused as refused:
            last = error_message(name, refused)
        except OSError:
            return  # the client went
        except Exception as fault:
            last = error_message(name, self._engine.faults.refusal(fault, self._request_id))
        finally:
            self._subscriptions.discard(identifier)
        # Free the id first: the client may use it again as soon as it reads the last message.
        del self._tasks[identifier]
        await self._send_text(last)

    async def _send_answers(self, identifier: str, name: bytes, request: GraphQLRequest) -> None:
        """Send one answer after another; each waits until the one before has left, so nothing piles up here."""
        call = self._engine.prepare(request, self._client, self._request_id)
        if call.is_subscription:
            self._subscriptions.add(identifier)
        async with aclosing(self._engine.answers(call)) as answers:
            async for answer in answers:
                await self._send_text(b'{"id":%b,"type":"next","payload":%b}' % (name, answer.body))

    async def _send_text(self, text: bytes) -> None:
        await self._send({"type": "websocket.send", "text": text.decode()})

    async def _close(self, code: Close, reason: str) -> None:
        await self._cancel_all()
        with suppress(OSError):
            await self._send(closing(code, reason))

    async def _cancel_all(self) -> None:
        tasks = list(self._tasks.values())
        self._tasks.clear()
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)


def error_message(name: bytes, refused: Refused) -> bytes:
    return b'{"id":%b,"type":"error","payload":%b}' % (name, encode(refused.errors))
