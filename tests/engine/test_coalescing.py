"""
Coalescing: which equal queries and events that arrive in one iteration of the event loop share an execution, and what
happens if it fails or is cancelled.
"""

import asyncio
import gc
from operator import attrgetter
from weakref import ref

import httpx
import pytest

from engine import Client, Endpoint, Options, RateLimiter
from engine.coalescing import Coalescer
from engine.errors import AnswerTooLarge
from engine.limits.rate_limiter import RatePolicy
from engine.results import EncodedResult
from tests.engine.sample import CONTEXTS, until
from tests.support.observers import Recorder
from tests.support.waiting_schema import SCHEMA

HELLO = {"query": "query Hello($name: String) { hello(name: $name) }", "variables": {"name": "you"}}


@pytest.fixture
def recorder():
    return Recorder()


@pytest.fixture
async def http(recorder):
    endpoint = Endpoint(
        SCHEMA, CONTEXTS.open, {}, Options(observer=recorder, viewer_key=attrgetter("token"), stats_header="X-Stats")
    )
    async with httpx.AsyncClient(transport=httpx.ASGITransport(endpoint), base_url="http://test/graphql") as client:
        yield client


async def at_once(http, *requests):
    """Send requests that all arrive before the first is executed."""
    return await asyncio.gather(*(http.post("", json=request, headers=headers) for request, headers in requests))


def by(token):
    return {"authorization": f"Bearer {token}"}


async def test_equal_queries_are_executed_once(http, contexts, recorder):
    answers = await at_once(http, *[(HELLO, by("alice"))] * 5)

    assert [answer.json() for answer in answers] == [{"data": {"hello": "hello you"}}] * 5
    assert len({answer.headers["x-request-id"] for answer in answers}) == 5
    assert len(contexts.opened) == 1
    assert sorted(ended.execution_path for ended in recorder.recorded) == ["coalesced"] * 4 + ["new"]
    assert [(ended.results, ended.codes) for ended in recorder.recorded] == [(1, set())] * 5
    assert sum(ended.round_trips for ended in recorder.recorded) == 1
    assert [usage.round_trips for usage in recorder.usages] == [1]


async def test_result_for_one_client_alone_is_not_shared(http, contexts):
    answers = await at_once(http, *[({"query": "{ own }"}, {})] * 3)

    assert sorted(answer.json()["data"]["own"] for answer in answers) == [0, 1, 2]
    assert len(contexts.opened) == 3


async def test_joining_an_execution_costs_a_tenth():
    rates = RateLimiter({"address": RatePolicy(1_000, 0.001)})
    app = Endpoint(SCHEMA, CONTEXTS.open, {}, Options(rate_limiter=rates, viewer_key=attrgetter("token")))
    asks = {"query": "{ twice(number: 1) __schema { description } }"}  # 50 points
    async with httpx.AsyncClient(transport=httpx.ASGITransport(app), base_url="http://test/graphql") as http:
        answers = await at_once(http, *[(asks, {})] * 3)

    assert [answer.status_code for answer in answers] == [200] * 3
    assert rates.status(Client(token=None, address="127.0.0.1")).remaining == 1_000 - 50 - 5 - 5


@pytest.mark.parametrize(
    "other",
    [
        pytest.param((HELLO, {}), id="without a token"),
        pytest.param((HELLO, by("bob")), id="by another"),
        pytest.param((HELLO | {"variables": {"name": "me"}}, by("alice")), id="with another variable"),
        pytest.param((HELLO | {"variables": {}}, by("alice")), id="without the variable"),
        pytest.param((HELLO | {"variables": {"name": None}}, by("alice")), id="with null"),
        pytest.param((HELLO | {"query": HELLO["query"] + " "}, by("alice")), id="in another document"),
    ],
)
async def test_different_queries_are_executed_separately(http, contexts, other):
    one, two = await at_once(http, (HELLO, by("alice")), other)

    assert len(contexts.opened) == 2
    assert one.json() == {"data": {"hello": "hello you"}}
    name = other[0]["variables"].get("name", "world")
    assert two.json() == {"data": {"hello": f"hello {name}"}}


async def test_one_and_true_which_are_equal_in_python_are_not_coalesced(http):
    asks = "query Twice($number: Int!) { twice(number: $number) }"

    right, wrong = await at_once(
        http, *(({"query": asks, "variables": {"number": number}}, {}) for number in (1, True))
    )

    assert right.json() == {"data": {"twice": 2}}
    assert [error["extensions"]["code"] for error in wrong.json()["errors"]] == ["BAD_USER_INPUT"]


async def test_mutations_are_not_coalesced(http, contexts):
    await at_once(http, *[({"query": "mutation { change }"}, by("alice"))] * 3)

    assert len(contexts.opened) == 3


async def test_requests_for_stats_are_not_coalesced(http, contexts):
    answers = await at_once(http, *[(HELLO, by("alice") | {"X-Stats": "1"})] * 2)

    assert [answer.json()["extensions"]["stats"]["roundTrips"] for answer in answers] == [1, 1]
    assert len(contexts.opened) == 2


async def test_nothing_is_coalesced_without_a_viewer_key(contexts):
    endpoint = Endpoint(SCHEMA, CONTEXTS.open, {})
    async with httpx.AsyncClient(transport=httpx.ASGITransport(endpoint), base_url="http://test/graphql") as http:
        await at_once(http, *[(HELLO, {})] * 2)

    assert len(contexts.opened) == 2


async def test_later_query_does_not_join_a_running_execution(http, contexts):
    """The data that the running execution has read may be older than the later request."""
    first = asyncio.ensure_future(http.post("", json={"query": "{ never }"}))
    await until(lambda: len(contexts.opened) == 1)
    second = asyncio.ensure_future(http.post("", json={"query": "{ never }"}))
    await until(lambda: len(contexts.opened) == 2)  # joined to the first it would wait for ever

    assert not first.done() and not second.done()
    for query in (first, second):
        query.cancel()


async def test_results_with_errors_are_not_shared(http, contexts):
    answers = await at_once(http, *[({"query": "{ fail }"}, {})] * 3)

    errors_of_each = [str(answer.json()["errors"]) for answer in answers]
    assert len(contexts.opened) == 3
    assert all(answer.headers["x-request-id"] in errors for answer, errors in zip(answers, errors_of_each, strict=True))


class Executions:
    """Executions that wait until the test sets their result."""

    def __init__(self):
        self.started = []

    async def execute(self):
        self.started.append(asyncio.get_running_loop().create_future())
        return await self.started[-1]


ANSWER = EncodedResult(b"{}", has_errors=False)


@pytest.fixture
async def three():
    """Three equal queries that arrived together; the execution of the first has begun."""
    coalescer, executions = Coalescer(), Executions()
    queries = [asyncio.ensure_future(coalescer.execute("query", executions.execute)) for _ in range(3)]
    await asyncio.sleep(0)
    assert len(executions.started) == 1
    yield queries, executions.started
    for task in queries:
        task.cancel()


async def test_others_execute_themselves_if_the_first_fails(three):
    queries, started = three

    started[0].set_exception(ZeroDivisionError())
    with pytest.raises(ZeroDivisionError):
        await queries[0]
    await asyncio.sleep(0)
    for execution in started[1:]:
        execution.set_result(ANSWER)

    assert len(started) == 3
    assert await asyncio.gather(*queries[1:]) == [ANSWER, ANSWER]


async def test_others_execute_themselves_if_the_first_is_cancelled(three):
    queries, started = three

    queries[0].cancel()
    await asyncio.wait([queries[0]])
    await asyncio.sleep(0)

    assert queries[0].cancelled() and len(started) == 3


async def test_cancelled_query_does_not_affect_the_others(three):
    queries, started = three

    queries[1].cancel()
    await asyncio.wait([queries[1]])
    started[0].set_result(ANSWER)

    assert await asyncio.gather(queries[0], queries[2]) == [ANSWER, ANSWER]
    assert len(started) == 1


class SentEvent:
    """A value of a subscription."""


class AtOnce:
    """Executions that end without waiting for anything; `outcome` is their result or exception."""

    def __init__(self, outcome=ANSWER):
        self.outcome, self.count = outcome, 0

    async def execute(self):
        self.count += 1
        if isinstance(self.outcome, Exception):
            raise self.outcome
        return self.outcome


async def received(coalescer, executions, *events):
    """The results of subscriptions with equal keys that receive events in the same iteration of the loop."""
    subscribers = [coalescer.execute(("key", id(each)), executions.execute, event=each) for each in events]
    return await asyncio.gather(*subscribers, return_exceptions=True)


async def test_event_is_executed_once_though_its_execution_does_not_wait():
    executions, event, other = AtOnce(), SentEvent(), SentEvent()

    assert await received(Coalescer(), executions, event, event, other, event) == [ANSWER] * 4
    assert executions.count == 2


async def test_result_of_an_event_is_kept_no_longer_than_the_iteration():
    coalescer, executions, event = Coalescer(), AtOnce(), SentEvent()
    kept = ref(event)
    await received(coalescer, executions, event, event)
    await received(coalescer, executions, event)
    await asyncio.sleep(0)
    del event
    gc.collect()

    assert executions.count == 2
    assert kept() is None


async def test_event_is_not_joined_in_a_later_iteration_while_it_runs():
    coalescer, executions, event = Coalescer(), Executions(), SentEvent()
    first = asyncio.ensure_future(coalescer.execute("key", executions.execute, event=event))
    await asyncio.sleep(0)
    await asyncio.sleep(0)
    second = asyncio.ensure_future(coalescer.execute("key", executions.execute, event=event))
    await asyncio.sleep(0)
    for execution in executions.started:
        execution.set_result(ANSWER)

    assert len(executions.started) == 2
    assert await asyncio.gather(first, second) == [ANSWER, ANSWER]


async def test_subscriber_that_is_resumed_after_another_key_began_joins():
    """Of subscribers that wait for one read, the one that sent it is resumed before the others."""
    coalescer, executions, event = Coalescer(), AtOnce(), SentEvent()
    read: asyncio.Future[None] = asyncio.get_running_loop().create_future()

    async def subscriber():
        await read
        return await coalescer.execute("comment", executions.execute, event=event)

    async def sender():
        read.set_result(None)
        return await coalescer.execute("comment", executions.execute, event=event)

    others = [asyncio.ensure_future(subscriber()) for _ in range(3)]
    await asyncio.sleep(0)
    ranking = coalescer.execute("ranking", executions.execute, event=SentEvent())
    assert await asyncio.gather(ranking, sender(), *others) == [ANSWER] * 5
    assert executions.count == 2


async def test_query_does_not_join_an_ended_execution():
    """Its client may have written since then."""
    coalescer, executions = Coalescer(), AtOnce()
    await asyncio.gather(*(coalescer.execute("query", executions.execute) for _ in range(3)))

    assert executions.count == 3


@pytest.mark.parametrize(
    "outcome",
    [
        pytest.param(ZeroDivisionError(), id="exception"),
        pytest.param(EncodedResult(b"{}", has_errors=True), id="errors"),
        pytest.param(EncodedResult(b"{}", has_errors=False, is_shareable=False), id="for one client alone"),
    ],
)
async def test_outcome_of_an_event_that_is_not_shareable_is_not_kept(outcome):
    executions, event = AtOnce(outcome), SentEvent()

    assert await received(Coalescer(), executions, event, event, event) == [outcome] * 3
    assert executions.count == 3


async def test_too_large_result_of_an_event_is_executed_once():
    executions, event = AtOnce(AnswerTooLarge(7)), SentEvent()
    results = await received(Coalescer(), executions, event, event)

    assert [(type(each), str(each)) for each in results] == [(AnswerTooLarge, str(AnswerTooLarge(7)))] * 2
    assert executions.count == 1
