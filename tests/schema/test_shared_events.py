"""
Equal subscriptions share the execution of each event. The endpoint tells an observer of each execution, which counts
them.

The fixture `token` is a session token of the user vera.
"""

import asyncio
import json
from collections.abc import AsyncIterator, Awaitable, Callable
from dataclasses import dataclass, field
from operator import attrgetter
from typing import Any

import pytest

from engine import Endpoint, Options
from resolvers.context import Context
from resolvers.live import Live
from schema.schema import SCHEMA
from server.app import CODES, event_id
from store import event_connection
from store.records import Vote
from store.store import Store
from tests.engine.sample import until
from tests.schema.subscribers import COMMENTED, RANKING, SEVERAL, answered, listeners
from tests.store.discussions import commented
from tests.store.reading import post
from tests.support.events import receive_all
from tests.support.observers import Recorder

CHANGED = """subscription($id: ID!, $titled: Boolean! = false) {
  articleChanged(id: $id) { votes viewerVote title @include(if: $titled) } }"""
PLAIN = "subscription($id: ID!) { articleChanged(id: $id) { id votes score } }"
NESTED = "subscription($id: ID!) { articleChanged(id: $id) { votes voters(first: 5) { nodes { username } } } }"

pytestmark = pytest.mark.many_partitions  # run also with several partitions of the store


@dataclass
class Stream:
    """A response of server-sent events, as the endpoint sends it to an ASGI server."""

    body: bytes
    headers: list[tuple[bytes, bytes]]
    sent: list[bytes] = field(default_factory=list)

    @property
    def results(self) -> list[bytes]:
        return [each for each in self.sent if each.startswith(b"event: next")]

    @property
    def values(self) -> list[Any]:
        """What was sent of the subscribed field."""
        results = [json.loads(each.partition(b"data: ")[2]) for each in self.results]
        assert not any("errors" in result for result in results), results
        return [value for result in results for value in result["data"].values()]

    async def receive(self) -> dict[str, Any]:
        if self.body:
            body, self.body = self.body, b""
            return {"type": "http.request", "body": body}
        await asyncio.Event().wait()
        raise AssertionError("the client stays")

    async def send(self, message: dict[str, Any]) -> None:
        self.sent.append(message.get("body", b""))


Listen = Callable[..., Awaitable[list[Stream]]]


@pytest.fixture(params=[None, 0], ids=["cached", "without a cache"])
async def store(request, redis_url, partitions, policy, clock) -> AsyncIterator[Store]:
    cached = {} if request.param is None else {"cached_keys": request.param}
    store = await Store.open(redis_url, policy, partitions, clock=clock, **cached)
    yield store
    await store.close()


@pytest.fixture
async def live(store: Store, redis_url: str) -> AsyncIterator[Live]:
    async with event_connection.connect(redis_url, store.site) as listener:
        yield Live(store, listener)


@pytest.fixture
def recorder() -> Recorder:
    return Recorder()


@pytest.fixture
async def listen(store: Store, live: Live, recorder: Recorder) -> AsyncIterator[Listen]:
    """`await listen(count, query, token, **variables)` opens equal streams, which receive all events from now on."""
    options = Options(viewer_key=attrgetter("token"), event_id=event_id, observer=recorder)
    endpoint = Endpoint(SCHEMA, lambda client: Context(store, client.token, live), CODES, options)
    tasks: list[asyncio.Task[None]] = []

    async def listen(count: int, query: str, token: str | None = None, **variables: Any) -> list[Stream]:
        headers = [(b"content-type", b"application/json"), (b"accept", b"text/event-stream")]
        headers += [(b"authorization", f"Bearer {token}".encode())] if token else []
        body = json.dumps({"query": query, "variables": variables}).encode()
        streams, before = [Stream(body, headers) for _ in range(count)], listeners(live)
        for each in streams:
            scope = {"type": "http", "method": "POST", "headers": headers, "client": ("127.0.0.1", 1)}
            tasks.append(asyncio.create_task(endpoint(scope, each.receive, each.send)))
        await until(lambda: listeners(live) >= before + (1 if query == RANKING else count))
        await receive_all(store, live.events)
        await answered(store)
        return streams

    yield listen
    for task in tasks:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)


async def all_have(streams: list[Stream], count: int) -> list[Any]:
    """Wait until each stream has sent so many values; return the last ones."""
    await until(lambda: all(len(each.results) >= count for each in streams))
    assert {len(each.results) for each in streams} == {count}
    return [each.values[-1] for each in streams]


@pytest.mark.parametrize("query", [PLAIN, CHANGED, NESTED])
async def test_thousand_equal_subscribers_cost_one_execution_of_each_event(store, listen, recorder, alice, bob, query):
    article = await post(store, alice)
    streams = await listen(1_000, query, id=article.id)
    executions = []
    for number, vote in enumerate((Vote.UP, Vote.NONE), 1):
        before = len(recorder.usages)
        await store.articles.vote(article.number, bob, vote)
        values = await all_have(streams, number)
        executions.append(len(recorder.usages) - before)
        assert {value["votes"] for value in values} == {3 - number}

    assert executions == [1, 1]


async def test_each_viewer_and_each_variable_has_an_execution(store, listen, recorder, alice, bob, token):
    article = await post(store, alice)
    bobs = (await store.sessions.open(bob)).token
    tokens = [None, token, bobs]
    plain = [await listen(20, CHANGED, each, id=article.id) for each in tokens]
    titled = [await listen(20, CHANGED, each, id=article.id, titled=True) for each in tokens]
    await store.articles.vote(article.number, bob, Vote.UP)
    values = [await all_have(each, 1) for each in plain + titled]

    by_viewer = [{"votes": 2, "viewerVote": vote} for vote in (None, "NONE", "UP")]
    assert values == [[{**each, **more}] * 20 for more in ({}, {"title": "a title"}) for each in by_viewer]
    assert len(recorder.usages) == 6


async def test_each_of_several_articles_is_executed_once(store, listen, recorder, alice, bob):
    articles = [await post(store, alice) for _ in range(2)]
    streams = await listen(50, SEVERAL, ids=[each.id for each in articles])
    for number, article in enumerate(articles, 1):
        await store.articles.vote(article.number, bob, Vote.UP)
        values = await all_have(streams, number)
        assert values == [{"id": article.id, "votes": 2, "viewerVote": None}] * 50

    assert len(recorder.usages) == 2


async def test_comment_and_ranking_are_executed_once(store, listen, recorder, alice):
    """A comment changes the ranking, which shows how many there are."""
    article = await post(store, alice)
    rankings = await listen(50, RANKING)
    await all_have(rankings, 1)
    before = len(recorder.usages)
    comments = await listen(50, COMMENTED, id=article.id)
    posted = await commented(store, article.number, alice)
    values = await all_have(comments, 1)
    await all_have(rankings, 2)

    assert len(recorder.usages) == before + 2
    assert {value["id"] for value in values} == {posted.id}
