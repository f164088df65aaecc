"""A running server with the sample schema of the engine's tests, and clients for it: see sample.py."""

from collections.abc import AsyncGenerator, Callable, Iterator
from functools import partial
from typing import Any

import httpx
import pytest
from websockets.asyncio.client import ClientConnection

from tests.engine.sample import CONTEXTS, Contexts, Server, serving


@pytest.fixture(scope="session")
def server() -> Iterator[Server]:
    with serving(allowed_origins=["https://friend.example"], keep_alive=0.05) as running:
        yield running


@pytest.fixture
def contexts() -> Contexts:
    """The record of the contexts and streams that the server has opened, emptied for this test."""
    CONTEXTS.opened.clear()
    CONTEXTS.streams_started = CONTEXTS.streams_ended = 0
    return CONTEXTS


@pytest.fixture
async def http(server: Server) -> AsyncGenerator[httpx.AsyncClient, None]:
    async with httpx.AsyncClient(base_url=server.url) as client:
        yield client


Ask = Callable[..., Any]  # `post` without its first argument


@pytest.fixture
def ask(http: httpx.AsyncClient) -> Ask:
    return partial(post, http)


async def post(
    http: httpx.AsyncClient, query: str, headers: dict[str, str] | None = None, **rest: Any
) -> httpx.Response:
    """Send a query; `rest` are further fields of the request, such as `variables`."""
    accept = {"accept": "application/graphql-response+json"}
    return await http.post("", json={"query": query, **rest}, headers=accept | (headers or {}))


@pytest.fixture
async def socket(server: Server) -> AsyncGenerator[ClientConnection, None]:
    async with server.socket() as connection:
        yield connection
