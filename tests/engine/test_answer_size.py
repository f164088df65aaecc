"""
The size limit of results: a result that is too large is refused while it is completed, on each execution path: by
graphql-core, which executes a document at first, and by the plan that is compiled from it then.
"""

import asyncio
from collections.abc import AsyncGenerator
from operator import attrgetter

import httpx
import pytest
import strawberry
from strawberry.types import Info

from caches import Pool
from engine import Client, Endpoint, Limits, Options, RateLimiter, handler, results
from engine.compiler.plan import Budget
from engine.compiler.resolvers import RESOLVER, RootResolver
from engine.documents import Operations
from engine.errors import AnswerTooLarge
from engine.limits.cost import Weights
from engine.limits.rate_limiter import RatePolicy
from tests.engine.sample import CONTEXTS

LIMIT = 100_000  # bytes of an answer
TEXT = "x" * 40_000  # two fit into an answer, three do not


async def pages_of(context, count=1):
    context.usage.round_trips += 1
    await asyncio.sleep(0)
    return [Page() for _ in range(count)]


async def pages(info: Info, count: int = 1) -> list["Page"]:
    return await pages_of(info.context, count)


@strawberry.type
class Page:
    text: str = TEXT


@strawberry.type
class Query:
    pages = strawberry.field(resolver=pages, metadata={RESOLVER: RootResolver(pages_of)})

    @strawberry.field
    def quotes(self, count: int) -> str:
        return '"' * count


@strawberry.type
class Mutation:
    @strawberry.mutation
    def change(self) -> list[Page]:
        return [Page()] * 5


@strawberry.type
class Subscription:
    @strawberry.subscription
    async def growing(self) -> AsyncGenerator[list[Page], None]:
        for count in (1, 5, 1):
            yield [Page()] * count


SCHEMA = strawberry.Schema(Query, Mutation, Subscription)
PAGES = "query($count: Int!) { pages(count: $count) { text } }"


def endpoint(**settings):
    return Endpoint(SCHEMA, CONTEXTS.open, {}, Options(limits=Limits(answer=LIMIT), **settings))


@pytest.fixture
async def ask():
    transport = httpx.ASGITransport(endpoint(viewer_key=attrgetter("token")))
    async with httpx.AsyncClient(transport=transport, base_url="http://test/graphql") as client:

        async def ask(query, accept="application/json", **variables):
            return await client.post("", json={"query": query, "variables": variables}, headers={"accept": accept})

        yield ask


def codes(response):
    return [error["extensions"]["code"] for error in response.json().get("errors", ())]


async def test_answer_beyond_the_limit_is_refused_before_it_is_encoded(ask, monkeypatch):
    encoded, encode = [], results.encode
    for module in (handler, results):
        monkeypatch.setattr(module, "encode", lambda content: encoded.append(content.keys()) or encode(content))

    for _ in range(4):  # by graphql-core at first, then by a plan
        refused = await ask(PAGES, count=3)
        assert codes(refused) == ["ANSWER_TOO_LARGE"]
        assert refused.json()["errors"][0]["message"] == "the answer is larger than 100000 bytes: ask for less at once"
    assert encoded == [{"errors"}] * 4


async def test_answer_below_the_limit_is_returned(ask):
    answers = [(await ask(PAGES, count=2)).content for _ in range(4)]

    assert set(answers) == {b'{"data":{"pages":[{"text":"%b"},{"text":"%b"}]}}' % ((TEXT.encode(),) * 2)}


async def test_json_escapes_count(ask):
    for _ in range(4):
        assert codes(await ask("{ quotes(count: 49000) }")) == []
        assert codes(await ask("{ quotes(count: 51000) }")) == ["ANSWER_TOO_LARGE"]


async def test_mutation_with_a_large_answer_is_executed_and_refused(ask):
    for _ in range(4):
        assert codes(await ask("mutation { change { text } }")) == ["ANSWER_TOO_LARGE"]


async def test_coalesced_queries_are_refused_by_one_execution(ask):
    for _ in range(3):
        await ask(PAGES, count=1)
    CONTEXTS.opened.clear()

    refused = await asyncio.gather(*[ask(PAGES, count=3) for _ in range(10)])

    assert [codes(each) for each in refused] == [["ANSWER_TOO_LARGE"]] * 10
    assert len(CONTEXTS.opened) == 1


async def test_subscription_ends_at_an_event_beyond_the_limit(ask):
    events = (await ask("subscription { growing { text } }", accept="text/event-stream")).text

    assert events.count(TEXT) == 1
    assert "ANSWER_TOO_LARGE" in events
    assert events.endswith("event: complete\ndata: \n\n")


async def test_bytes_beyond_the_estimate_are_charged():
    rates = RateLimiter({"address": RatePolicy(100, 1.0)}, clock=lambda: 0.0)
    options = Options(rate_limiter=rates, limits=Limits(weights=Weights(bytes_per_point=1_000)))
    app = Endpoint(SCHEMA, CONTEXTS.open, {}, options)
    async with httpx.AsyncClient(transport=httpx.ASGITransport(app), base_url="http://test/graphql") as client:
        await client.post("", json={"query": PAGES, "variables": {"count": 2}})

    assert rates.status(Client(token=None, address="127.0.0.1")).remaining == 20  # of 100: 80,000 bytes cost 80 points


def test_long_texts_cost_their_weight_for_each_alias():
    operations = Operations(SCHEMA, Limits(weights=Weights(long_texts={("Page", "text"): 4})), Pool(100_000))

    def cost(selected):
        return operations.find(f"{{ pages {{ {selected} }} }}", name=None).cost.points({})

    assert cost("__typename") == 1
    assert cost("text text") == 41  # 4 points for each of 10 items, which a list without a size counts as
    assert cost("text b: text") == 81


@pytest.mark.parametrize("text", ["x" * 30_000, "語" * 10_000, "é" * 15_000, "😀" * 7_500])
def test_texts_count_their_utf8_bytes(text):
    by_column, by_walk = Budget(), Budget()
    by_column.add_texts([text])
    by_walk.add_data(text)

    assert 30_000 <= by_column.size <= 30_010
    assert 30_000 <= by_walk.size <= 30_010


def test_exceeded_budget_stays_exceeded():
    budget = Budget(10)
    budget.add(10)
    for _ in range(2):
        with pytest.raises(AnswerTooLarge):
            budget.add(1)
