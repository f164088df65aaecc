"""
Subscriptions of several viewers to one article and its comments, over WebSockets and server-sent events, and what they
send according to the model of the server.
"""

import asyncio
import json
from abc import abstractmethod
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from typing import Any, NamedTuple, Protocol

import orjson
from websockets.asyncio.client import ClientConnection, connect

from tests.soak.model import Model
from tests.soak.records import Article, Comment, User, named, vote_of

PATIENCE = 20.0  # seconds in which a message comes, on a busy machine: usually well under one
SETTLING = 0.3  # seconds after which subscriptions have read what they begin with, and in which nothing more comes
PROTOCOL = "graphql-transport-ws"
ARTICLE = "id title state isLocked votes viewerVote commentCount poster { username }"
COMMENT = "id state content votes poster { username }"
FIELDS = {
    "articleChanged": f"articleChanged(id: $id) {{ {ARTICLE} }}",
    "commentChanged": f"commentChanged(articleId: $id) {{ {COMMENT} }}",
    "commentPosted": f"commentPosted(articleId: $id) {{ {COMMENT} }}",
}
SUBSCRIPTIONS = {name: f"subscription($id: ID!) {{ {field} }}" for name, field in FIELDS.items()}
BARRIER = "subscription { rankingChanged(first: 1) { at } }"  # which sends something at once
COMPLETE = "complete"

Message = dict[str, Any] | int | str | None  # the value of the subscribed field, or COMPLETE


class Subscriber(Protocol):
    """One or several subscriptions of a viewer. `messages` has what has come, by the name of the field."""

    messages: dict[str, list[Message]]

    @abstractmethod
    async def begin(self, article: str) -> None:
        """Subscribe. `article` is the id of the article; "" where no subscription is about one."""

    @abstractmethod
    async def receive(self) -> None:
        """Wait for one message."""


class OverWebSocket:
    """Several subscriptions on one socket, by the names of their fields."""

    def __init__(
        self, socket: ClientConnection, token: str | None, subscriptions: Mapping[str, str] = SUBSCRIPTIONS
    ) -> None:
        self._socket, self._token, self._subscriptions = socket, token, subscriptions
        self.messages: dict[str, list[Message]] = {name: [] for name in subscriptions}

    async def begin(self, article: str) -> None:
        """Returns when they have begun: the last one, which sends something at once, has begun after the others."""
        authorization = {"Authorization": f"Bearer {self._token}"} if self._token else {}
        await self._socket.send(json.dumps({"type": "connection_init", "payload": authorization}))
        for name, text in {**self._subscriptions, "barrier": BARRIER}.items():
            payload = {"query": text, "variables": {"id": article} if "$id" in text else {}}
            await self._socket.send(json.dumps({"type": "subscribe", "id": name, "payload": payload}))
        while "barrier" not in self.messages:
            await self.receive()

    async def refresh(self, token: str) -> None:
        """Go on with another token. Messages are handled in their order, so what follows is by this one."""
        await self._socket.send(json.dumps({"type": "ping", "payload": {"Authorization": f"Bearer {token}"}}))

    async def receive(self) -> None:
        message = json.loads(await self._socket.recv())
        name = message.get("id", "")
        match message["type"]:
            case "next" if name == "barrier":
                self.messages[name] = []
            case "next":
                self.messages[name] += message["payload"]["data"].values()
            case "complete":
                self.messages[name].append(COMPLETE)
            case "error":
                self.messages[name].append(str(message["payload"]))


class OverEvents:
    """A stream of server-sent events for `articleChanged`."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, token: str | None) -> None:
        self._reader, self._writer, self._token = reader, writer, token
        self.messages: dict[str, list[Message]] = {"articleChanged": []}

    async def begin(self, article: str) -> None:
        body = orjson.dumps({"query": SUBSCRIPTIONS["articleChanged"], "variables": {"id": article}})
        authorization = f"authorization: Bearer {self._token}\r\n" if self._token else ""
        head = (
            f"POST /graphql HTTP/1.1\r\nhost: soak\r\naccept: text/event-stream\r\n{authorization}"
            f"content-type: application/json\r\ncontent-length: {len(body)}\r\n\r\n"
        )
        self._writer.write(head.encode() + body)
        while (line := await self._reader.readline()) != b":\n":
            if not line:
                raise ConnectionError("the stream ended before it began")
        await asyncio.sleep(SETTLING)

    async def receive(self) -> None:
        line = await self._reader.readline()
        if line.startswith(b"event: complete"):
            self.messages["articleChanged"].append(COMPLETE)
        elif line.startswith(b"data: {"):
            answer = orjson.loads(line.removeprefix(b"data: "))
            self.messages["articleChanged"] += (answer.get("data") or {"": str(answer)}).values()
        elif not line:
            await asyncio.sleep(PATIENCE)  # the stream has ended, and no message comes


@asynccontextmanager
async def subscribed(port: int, tokens: Sequence[str | None], article: str) -> AsyncIterator[list[Subscriber]]:
    """Subscribers over WebSockets and server-sent events in turns."""
    async with AsyncExitStack() as stack:
        found: list[Subscriber] = []
        for token in tokens:
            found.append(await stack.enter_async_context(over_websocket(port, token)))
            found.append(await stack.enter_async_context(over_events(port, token)))
        async with asyncio.timeout(PATIENCE):
            await asyncio.gather(*(each.begin(article) for each in found))
        yield found


@asynccontextmanager
async def over_websocket(
    port: int, token: str | None, subscriptions: Mapping[str, str] = SUBSCRIPTIONS
) -> AsyncIterator[OverWebSocket]:
    async with connect(f"ws://127.0.0.1:{port}/graphql", subprotocols=[PROTOCOL]) as socket:
        yield OverWebSocket(socket, token, subscriptions)


@asynccontextmanager
async def over_events(port: int, token: str | None) -> AsyncIterator[OverEvents]:
    reader, writer = await asyncio.open_connection("127.0.0.1", port, limit=2**24)
    try:
        yield OverEvents(reader, writer, token)
    finally:
        writer.close()


class State(NamedTuple):
    """
    What subscriptions of a viewer to an article and its comments send, as it is at one time. `announced` are the
    comments that subscribers have heard of: not those that are held since they were posted.
    """

    article: Message
    comments: dict[int, Message]
    announced: frozenset[int]

    def after(self, before: "State") -> dict[str, list[Message]]:
        """What has to be sent after a change from the state before."""
        if self.article == COMPLETE:
            return {name: [COMPLETE] for name in SUBSCRIPTIONS}
        new = self.announced - before.announced
        posted = [each for number, each in self.comments.items() if number in new]
        changed = [each for number, each in self.comments.items() if before.comments.get(number, each) != each]
        article = [self.article] if self.article != before.article else []
        return {"articleChanged": article, "commentPosted": posted, "commentChanged": changed}

    def allowed(self, before: "State") -> dict[str, list[Message]]:
        """What else may be sent: also the state before, as a busy worker tells late what was written last."""
        articles, comments = [self.article, before.article], [*self.comments.values(), *before.comments.values()]
        return {"articleChanged": articles, "commentChanged": comments}


def state(model: Model, viewer: User | None, article: Article) -> State:
    """The state for a viewer now. The comments of a hidden article are sent to those who may read it."""
    of_article = [each for each in model.comments.values() if each.article is article]
    shown = {each.number: _comment(each) for each in of_article if model.may_read(viewer, article)}
    announced = frozenset(each.number for each in of_article if each.is_announced)
    return State(_article(model, viewer, article), shown, announced)


async def wrong(
    subscriber: Subscriber, expected: Mapping[str, list[Message]], allowed: Mapping[str, list[Message]]
) -> str | None:
    """What is wrong with the messages of a subscriber: those that are expected have to come, others may if allowed."""
    missing = _missing(subscriber, expected)
    try:
        async with asyncio.timeout(PATIENCE):
            while missing:
                await subscriber.receive()
                missing = _missing(subscriber, expected)
        async with asyncio.timeout(SETTLING):
            while True:
                await subscriber.receive()
    except TimeoutError:
        pass
    if missing:
        return f"{type(subscriber).__name__}: not sent: {missing}, only {subscriber.messages}"
    other = [
        (name, each) for name, messages in subscriber.messages.items()
        for each in messages if each not in (*expected.get(name, ()), *allowed.get(name, ()))
    ]  # fmt: skip
    return f"{type(subscriber).__name__}: {other}, expected only {expected}" if other else None


def _missing(subscriber: Subscriber, expected: Mapping[str, list[Message]]) -> list[tuple[str, Message]]:
    return [
        (name, each) for name, messages in expected.items()
        for each in messages if name in subscriber.messages and each not in subscriber.messages[name]
    ]  # fmt: skip


def _article(model: Model, viewer: User | None, article: Article) -> Message:
    """What `articleChanged` sends to a viewer now."""
    if article.number not in model.articles or not model.may_read(viewer, article):
        return COMPLETE
    return {
        "id": f"article:{article.number}",
        "title": article.title,
        "state": article.state,
        "isLocked": article.is_locked,
        "votes": article.votes,
        "viewerVote": vote_of(article, viewer) if viewer is not None and model.has_voters(article) else None,
        "commentCount": model.comment_count(article),
        "poster": {"username": article.poster.shown_name},
    }


def _comment(comment: Comment) -> Message:
    """A comment as everybody reads it, also where no thread has it."""
    return {
        "id": f"comment:{comment.number}",
        "state": comment.state,
        "content": comment.content if comment.is_visible else None,
        "votes": comment.votes,
        "poster": {"username": poster.name} if comment.is_visible and (poster := named(comment.poster)) else None,
    }
