"""Fixtures that query the schema over the real endpoint, with a store whose clock the test sets."""

from collections.abc import AsyncIterator, Awaitable, Callable
from functools import partial
from typing import Any

import httpx
import pytest

from engine import Client, Endpoint, Options
from resolvers.context import Context
from schema.schema import SCHEMA
from server.app import CODES, STATS_HEADER
from store.store import Store

Ask = Callable[..., Awaitable[dict[str, Any]]]


@pytest.fixture
async def ask(store: Store) -> AsyncIterator[Ask]:
    """`await ask(query, token, **variables)` gives the whole answer, with what it cost in `extensions`."""

    def open_context(client: Client) -> Context:
        return Context(store, client.token)

    transport = httpx.ASGITransport(Endpoint(SCHEMA, open_context, CODES, Options(stats_header=STATS_HEADER)))
    async with httpx.AsyncClient(transport=transport, base_url="http://upvote") as client:
        yield partial(_ask, client)


async def _ask(client: httpx.AsyncClient, query: str, token: str | None = None, **variables: Any) -> dict[str, Any]:
    headers = {STATS_HEADER: "1"} | ({"Authorization": f"Bearer {token}"} if token else {})
    response = await client.post("/", json={"query": query, "variables": variables}, headers=headers)
    return response.json()


@pytest.fixture
async def token(store: Store) -> str:
    """The token of a registered user, vera."""
    return (await store.users.register("vera", "correct horse")).token
