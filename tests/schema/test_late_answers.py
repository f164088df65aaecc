"""
A mutation that was executed has a response, even if a field below it fails or times out. graphql-core executes the
first request with a document, and the plan that is compiled from the document executes the others.
"""

import asyncio

import httpx
import pytest

from engine import Client, Endpoint, Limits, Options
from resolvers.context import Context
from resolvers.dataloader import Reads
from schema.schema import SCHEMA
from server.app import CODES
from store import listings
from store.errors import StoreUnavailable
from store.ranking.formulas import Order

POST = """mutation($title: String!) { post(input: {title: $title, content: "c"}) {
  replayed article { title voters { totalCount } groups { name } } userErrors { code } } }"""
SEVERAL = """mutation { a: post(input: {title: "first", content: "c"}) { article { title voters { totalCount } } }
  b: post(input: {title: "second", content: "c"}) { article { title } } }"""
SECONDS = 0.3  # after which an execution times out


@pytest.fixture
async def http(store):
    """The endpoint, with a short timeout."""

    def open_context(client: Client) -> Context:
        return Context(store, client.token)

    transport = httpx.ASGITransport(Endpoint(SCHEMA, open_context, CODES, Options(limits=Limits(seconds=SECONDS))))
    async with httpx.AsyncClient(transport=transport, base_url="http://upvote") as client:
        yield client


# Events that a test waits for. Without this reference they would be collected with the tasks that wait.
HANGING: list[asyncio.Event] = []


async def hang(*given):
    """Stands in for a read that never ends."""
    HANGING.append(asyncio.Event())
    await HANGING[-1].wait()


async def fail(*given):
    """Stands in for a read that does not reach the store."""
    raise StoreUnavailable


@pytest.mark.parametrize(("below", "code"), [(hang, "TIMEOUT"), (fail, "UNAVAILABLE")])
async def test_post_below_which_a_field_fails_or_times_out_returns_the_rest(
    store, http, token, monkeypatch, below, code, caplog
):
    monkeypatch.setattr(Reads, "voters", below)

    for number in range(3):
        answer = await post_query(http, token, POST, title=f"title {number}")
        article = {"title": f"title {number}", "voters": None, "groups": []}
        assert answer["data"] == {"post": {"replayed": False, "article": article, "userErrors": []}}
        (error,) = answer["errors"]
        assert (error["path"], error["extensions"]["code"]) == (["post", "article", "voters"], code)
    assert await posted(store) == 3
    assert caplog.records == []


async def test_mutation_after_the_timeout_is_not_executed(store, http, token, clock, monkeypatch):
    monkeypatch.setattr(Reads, "voters", hang)

    for number in range(2):
        clock.advance(11)  # later than a double click
        answer = await post_query(http, token, SEVERAL)
        assert answer["data"] == {"a": {"article": {"title": "first", "voters": None}}, "b": None}
        assert {error["extensions"]["code"] for error in answer["errors"]} == {"TIMEOUT"}
        assert await posted(store) == number + 1


async def test_mutation_that_times_out_itself_is_an_error(store, http, token, monkeypatch):
    monkeypatch.setattr(type(store.articles), "post", hang)

    for _ in range(3):
        answer = await post_query(http, token, POST, title="title")
        assert [error["extensions"]["code"] for error in answer["errors"]] == ["TIMEOUT"]
        assert "data" not in answer


async def post_query(http, token, query, **variables):
    headers = {"Authorization": f"Bearer {token}"}
    return (await http.post("/", json={"query": query, "variables": variables}, headers=headers)).json()


async def posted(store) -> int:
    indexes = listings.whole(store.site, Order.TIME).indexes
    return sum(await store.site.redis.pipeline([("ZCARD", index) for index in indexes]))
