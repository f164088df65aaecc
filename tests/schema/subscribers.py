"""Clients that subscribe over a WebSocket."""

import asyncio
import json
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import Any

import httpx
from websockets.asyncio.client import ClientConnection, connect

from resolvers.live import Live
from server.app import KEY_HEADER
from store.store import Store
from tests.engine.sample import until
from tests.servers import PATIENCE

PROTOCOL = "graphql-transport-ws"
CHANGED = "subscription($id: ID!) { articleChanged(id: $id) { votes title viewerVote groups { name } } }"
SEVERAL = "subscription($ids: [ID!]!) { articlesChanged(ids: $ids) { id votes viewerVote } }"
POSTED = "subscription($group: String) { articlePosted(group: $group) { id poster { username } } }"
COMMENTED = """subscription($id: ID!, $under: ID) { commentPosted(articleId: $id, under: $under) {
  id content depth parent { id } poster { username } viewerVote article { commentCount } } }"""
COMMENT_CHANGED = """subscription($id: ID!) { commentChanged(articleId: $id) {
  id content state votes viewerVote poster { username } editedAt parent { id } } }"""
NOTIFIED = """subscription { notification {
  id kind isSeen actor { username } subject { id ... on Comment { content } ... on Article { title } } } }"""
FED_IDS = "subscription { feedArticle { id } }"
FED = "subscription { feedArticle { poster { username } } }"
RANKING = """subscription($order: ArticleOrder, $group: String, $first: Int) {
  rankingChanged(order: $order, group: $group, first: $first) { at articles { id votes } moves { articleId from to } }
}"""


class Subscriber:
    """A client with one subscription on its own WebSocket."""

    def __init__(self, socket: ClientConnection) -> None:
        self._socket = socket

    async def message(self) -> dict[str, Any]:
        return json.loads(await asyncio.wait_for(self._socket.recv(), PATIENCE))

    async def value(self) -> Any:
        """The value of the subscribed field."""
        message = await self.message()
        assert message["type"] == "next" and "errors" not in message["payload"], message
        (value,) = message["payload"]["data"].values()
        return value

    async def refusal(self) -> tuple[str, str]:
        """The code and the message of the error with which the subscription is refused."""
        message = await self.message()
        assert message["type"] == "error", message
        (error,) = message["payload"]
        return error["extensions"]["code"], error["message"]

    def cut(self) -> None:
        """Abort the connection, without a close frame."""
        self._socket.transport.abort()

    async def leave(self) -> None:
        await self._socket.close()


@asynccontextmanager
async def subscribed(
    url: str, query: str, token: str | None = None, server_key: str | None = None, **variables: Any
) -> AsyncIterator[Subscriber]:
    headers = {KEY_HEADER: server_key} if server_key else {}
    async with connect(url, subprotocols=[PROTOCOL], additional_headers=headers) as socket:
        await socket.send(json.dumps({"type": "connection_init", "payload": {"token": token}}))
        assert json.loads(await socket.recv()) == {"type": "connection_ack"}
        payload = {"query": query, "variables": variables}
        await socket.send(json.dumps({"type": "subscribe", "id": "1", "payload": payload}))
        yield Subscriber(socket)


Value = Callable[[], Awaitable[Any]]  # the next value of the subscribed field; None at the end


@asynccontextmanager
async def over_socket(
    url: str, live: Live, query: str, token: str | None = None, **variables: Any
) -> AsyncIterator[Value]:
    """A subscription over a WebSocket that receives all events from now on."""
    before = listeners(live)
    async with subscribed(url, query, token, **variables) as subscriber:
        await until(lambda: listeners(live) > before)

        async def value() -> Any:
            message = await subscriber.message()
            return _value_in(message["payload"]) if message["type"] == "next" else None

        yield value


@asynccontextmanager
async def over_events(
    url: str, live: Live, query: str, token: str | None = None, **variables: Any
) -> AsyncIterator[Value]:
    """The same over server-sent events."""
    before = listeners(live)
    headers = {"Accept": "text/event-stream"} | ({"Authorization": f"Bearer {token}"} if token else {})
    body = {"query": query, "variables": variables}
    async with (
        httpx.AsyncClient(timeout=PATIENCE) as client,
        client.stream("POST", url.replace("ws:", "http:"), json=body, headers=headers) as response,
    ):
        await until(lambda: listeners(live) > before)
        lines = response.aiter_lines()

        async def value() -> Any:
            async for line in lines:
                if line == "event: complete":
                    return None
                if line.startswith('data: {"data"'):
                    return _value_in(json.loads(line.removeprefix("data: ")))
            return None

        yield value


def _value_in(payload: dict[str, Any]) -> Any:
    (value,) = payload["data"].values()
    return value


async def answered(store: Store) -> None:
    """Wait until the reads that a new subscription sends now or in the next ticks are answered."""
    for _ in range(3):  # the reply to a ping comes after those to all commands that were sent before it
        await store.site.redis.ping()


def listeners(live: Live) -> int:
    """
    How many subscribers wait for events. A `SharedArticle` receives the events of an article for all its subscribers,
    so it is one listener: the others are added.
    """
    others = sum(len(each._subscribers) - 1 for each in live._articles.values())
    return sum(map(len, live.events._listeners.values())) + others
