"""
Equal queries that arrive at once share one result, unless its execution has read what only its own client has sent.
"""

import asyncio
from operator import attrgetter

import httpx
import pytest
import strawberry

from engine import Endpoint, Options
from resolvers.context import Context


@strawberry.type
class Query:
    @strawberry.field
    async def title(self) -> str:
        await asyncio.sleep(0)
        return "a title"

    @strawberry.field
    async def address(self, info: strawberry.Info) -> str:
        await asyncio.sleep(0)
        return str(info.context.address)

    @strawberry.field
    async def last_event_id(self, info: strawberry.Info) -> str:
        await asyncio.sleep(0)
        return str(info.context.last_event_id)


@pytest.fixture
def contexts():
    return []


@pytest.fixture
def at_once(store, contexts):
    """Send a query for two clients without a token at the same time. Returns their responses."""

    def open_context(client):
        contexts.append(Context(store, client.token, address=client.address, last_event_id=client.last_event_id))
        return contexts[-1]

    options = Options(viewer_key=attrgetter("token"))
    endpoint = Endpoint(strawberry.Schema(Query), open_context, {}, options)

    async def get(query, address):
        transport = httpx.ASGITransport(endpoint, client=(address, 1))
        async with httpx.AsyncClient(transport=transport, base_url="http://test/graphql") as http:
            return await http.get("", params={"query": query}, headers={"Last-Event-ID": f"of {address}"})

    async def at_once(query):
        return await asyncio.gather(*(get(query, address) for address in ("192.0.2.1", "192.0.2.2")))

    return at_once


async def test_result_is_shared_if_it_is_equal_for_both_clients(at_once, contexts):
    responses = await at_once("{ title }")

    assert [response.json()["data"] for response in responses] == [{"title": "a title"}] * 2
    assert all("public" in response.headers["cache-control"] for response in responses)
    assert len(contexts) == 1


@pytest.mark.parametrize(
    ("field", "values"),
    [("address", ["192.0.2.1", "192.0.2.2"]), ("lastEventId", ["of 192.0.2.1", "of 192.0.2.2"])],
)
async def test_result_is_not_shared_once_a_resolver_has_read_what_its_client_sent(at_once, field, values):
    responses = await at_once(f"{{ {field} }}")

    assert [response.json()["data"] for response in responses] == [{field: value} for value in values]
    assert [response.headers["cache-control"] for response in responses] == ["private, no-store"] * 2
