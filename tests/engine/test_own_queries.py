"""
Queries that the program itself runs by `Endpoint.query` to answer an HTTP request, such as that of a page: each counts
as a request of that client.
"""

import asyncio
from operator import attrgetter

import httpx
import orjson
import pytest

from engine import Client, Endpoint, Limits, Options, RateLimiter, Refused
from engine.limits.rate_limiter import RatePolicy
from tests.engine.sample import CONTEXTS, SCHEMA, NotToday
from tests.support.observers import Recorder
from tests.support.waiting_schema import SCHEMA as WAITING

HELLO = "query Hello($name: String!) { hello(name: $name) }"
TWICE = "query Twice { twice(number: 1) }"
NEVER = "query Never { never }"


def scope(*headers, address="192.0.2.7"):
    return {"type": "http", "method": "GET", "headers": list(headers), "client": (address, 5000)}


def endpoint(**options):
    return Endpoint(SCHEMA, CONTEXTS.open, {NotToday: "NOT_TODAY"}, Options(**options))


async def test_query_is_executed_for_the_client_of_the_request(contexts):
    by = b"authorization", b"Bearer alice"

    result = await endpoint().query(scope(by), "{ whoami address }", {})

    assert result == ({"whoami": "alice", "address": "192.0.2.7"}, [], None)


async def test_field_that_fails_is_an_error_beside_the_data(contexts):
    result = await endpoint().query(scope(), "{ refuse twice(number: 2) }", {})

    assert result.data == {"refuse": None, "twice": 4}
    assert [(error["path"], error["extensions"]["code"]) for error in result.errors] == [(["refuse"], "NOT_TODAY")]


async def test_query_is_observed_with_its_name_and_the_id_of_the_request(contexts):
    recorder = Recorder()

    await endpoint(observer=recorder).query(scope((b"x-request-id", b"r-1")), HELLO, {"name": "you"})

    [observation] = recorder.recorded
    assert (observation.request.operation.name, observation.request.request_id) == ("Hello", "r-1")
    assert (observation.results, observation.round_trips, recorder.open) == (1, 1, 0)


async def test_equal_queries_are_executed_once(contexts):
    recorder = Recorder()
    own = Endpoint(WAITING, CONTEXTS.open, {}, Options(observer=recorder, viewer_key=attrgetter("token")))
    names = ["you", "you", "me"]

    results = await asyncio.gather(*(own.query(scope(), HELLO, {"name": name}) for name in names))

    assert [result.data["hello"] for result in results] == ["hello you", "hello you", "hello me"]
    assert [ended.execution_path for ended in recorder.recorded].count("coalesced") == 1
    assert len(contexts.opened) == 2


async def test_query_takes_points_of_the_client_and_is_refused_without_any(contexts):
    rates = RateLimiter({"address": RatePolicy(2, 0.001)})
    own = endpoint(rate_limiter=rates)

    charged = await own.query(scope(), "{ twice(number: 1) again: twice(number: 2) __schema { description } }", {})
    with pytest.raises(Refused) as refused:
        await own.query(scope(), TWICE, {})
    other = await own.query(scope(address="192.0.2.8"), TWICE, {})

    assert rates.status(Client(token=None, address="192.0.2.7")).remaining == 0
    assert b"ratelimit" in dict(charged.charge.headers())
    assert refused.value.code == "RATE_LIMITED"
    assert {b"retry-after", b"ratelimit"} <= dict(refused.value.headers).keys()
    assert other.data == {"twice": 2}


async def test_limits_hold_for_own_queries(contexts):
    recorder = Recorder()
    own = endpoint(limits=Limits(cost=10), observer=recorder)

    with pytest.raises(Refused) as refused:
        await own.query(scope((b"x-request-id", b"r-2")), "{ shelf(first: 100) { books { title } } }", {})

    assert refused.value.code == "COST_LIMIT_EXCEEDED"
    assert recorder.refusals == [("COST_LIMIT_EXCEEDED", "r-2")]


async def test_query_that_takes_too_long_is_refused(contexts):
    with pytest.raises(Refused) as refused:
        await endpoint(limits=Limits(seconds=0.01)).query(scope(), NEVER, {})

    assert refused.value.code == "TIMEOUT"


async def test_own_queries_need_not_be_trusted_and_equal_ones_of_clients_are_refused(contexts):
    own = endpoint(only_trusted=True)
    request = {"query": TWICE, "variables": {}}

    result = await own.query(scope(), TWICE, {})
    async with httpx.AsyncClient(transport=httpx.ASGITransport(own), base_url="http://test/graphql") as http:
        refused = await http.post("", content=orjson.dumps(request), headers={"content-type": "application/json"})

    assert result.data == {"twice": 2}
    assert refused.json()["errors"][0]["extensions"] == {"code": "QUERY_NOT_IN_SAFELIST"}


async def test_text_that_is_not_unicode_is_read_as_it_is(contexts):
    assert (await endpoint().query(scope(), "{ surrogate }", {})).data == {"surrogate": "\ud800"}


async def test_own_mutation_is_a_mistake_in_the_program(contexts):
    with pytest.raises(AssertionError, match="is a query"):
        await endpoint().query(scope(), "mutation { change }", {})
