"""Fixtures that query and subscribe over the real endpoint, with a store whose clock the test sets."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from functools import partial
from operator import attrgetter
from typing import Any

import httpx
import pytest
import uvicorn

from engine import Client, Endpoint, Options
from resolvers.context import Context
from resolvers.live import Live
from schema.schema import SCHEMA
from server.app import CODES, KEY_HEADER, STATS_HEADER, event_id
from store import event_connection
from store.store import Store
from tests.conftest import Clock, registered
from tests.engine.sample import until
from tests.schema.community import PEOPLE, Community
from tests.schema.subscribers import Subscriber, answered, listeners, subscribed
from tests.store.reading import post
from tests.support.events import receive_all

Ask = Callable[..., Awaitable[dict[str, Any]]]
Listen = Callable[..., Awaitable[Subscriber]]


@pytest.fixture
async def uncached(redis_url: str, partitions: int) -> AsyncIterator[Store]:
    """A store without a cache of what it read, so that each read takes a round trip."""
    store = await Store.open(redis_url, partitions=partitions, clock=Clock(), cached_keys=0)
    yield store
    await store.close()


@pytest.fixture
async def ask(store: Store) -> AsyncIterator[Ask]:
    """`await ask(query, token, **variables)` gives the whole answer, with what it cost in `extensions`."""

    def open_context(client: Client) -> Context:
        return Context(store, client.token, server_key=client.key and client.key.text)

    options = Options(stats_header=STATS_HEADER, key_header=KEY_HEADER, viewer_key=attrgetter("token"))
    transport = httpx.ASGITransport(Endpoint(SCHEMA, open_context, CODES, options))
    async with httpx.AsyncClient(transport=transport, base_url="http://upvote") as client:
        yield partial(_ask, client)


async def _ask(
    client: httpx.AsyncClient,
    query: str,
    token: str | None = None,
    server_key: str | None = None,
    stats: bool = True,
    **variables: Any,
) -> dict[str, Any]:
    headers = {STATS_HEADER: "1"} if stats else {}
    headers |= {"Authorization": f"Bearer {token}"} if token else {}
    headers |= {KEY_HEADER: server_key} if server_key else {}
    response = await client.post("/", json={"query": query, "variables": variables}, headers=headers)
    return response.json()


@pytest.fixture
async def token(store: Store) -> str:
    """The token of a registered user, vera."""
    return (await store.users.register("vera", "correct horse")).token


@pytest.fixture
async def live(store: Store, redis_url: str, partitions: int) -> AsyncIterator[Live]:
    """What the subscriptions of the server of `url` share, such as the events that they wait for."""
    async with event_connection.connect(redis_url, store.site) as listener:
        yield Live(store, listener)


@pytest.fixture
def opened() -> list[str | None]:
    """The tokens of the contexts that the server of `url` has opened."""
    return []


@pytest.fixture
async def url(store: Store, live: Live, opened: list[str | None]) -> AsyncIterator[str]:
    """The URL of a server in the loop of the test."""

    def open_context(client: Client) -> Context:
        opened.append(client.token)
        key = client.key and client.key.text
        return Context(store, client.token, live, server_key=key, last_event_id=client.last_event_id)

    options = Options(viewer_key=attrgetter("token"), key_header=KEY_HEADER, event_id=event_id)
    app = Endpoint(SCHEMA, open_context, CODES, options)
    server = uvicorn.Server(uvicorn.Config(app, port=0, lifespan="off", log_config=None, timeout_graceful_shutdown=1))
    task = asyncio.create_task(server.serve())
    await until(lambda: server.started)
    yield f"ws://127.0.0.1:{server.servers[0].sockets[0].getsockname()[1]}/graphql"
    server.should_exit = True
    await task


@pytest.fixture
async def listen(store: Store, url: str, live: Live) -> AsyncIterator[Listen]:
    """`await listen(query, token, **variables)` gives a subscriber that receives all events from now on."""
    subscriptions = []

    async def listen(query: str, token: str | None = None, **variables: Any) -> Subscriber:
        await receive_all(store, live.events)
        before = listeners(live)
        subscriptions.append(subscribed(url, query, token, **variables))
        subscriber = await subscriptions[-1].__aenter__()
        await until(lambda: listeners(live) > before)
        await answered(store)  # what the subscription reads at its beginning
        return subscriber

    yield listen
    for each in subscriptions:
        await each.__aexit__(None, None, None)


@pytest.fixture
async def community(store: Store, ask: Ask) -> Community:
    """`PEOPLE`, who are logged in, and an article of alice."""
    for name in PEOPLE:
        await registered(store, name)
    tokens = {name: (await store.sessions.open(name)).token for name in PEOPLE}
    return Community(ask, tokens, (await post(store, "alice")).id)
