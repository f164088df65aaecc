"""What an observer learns about operations on each transport. A program writes its log and metrics by one."""

import json

import httpx
import pytest

from tests.engine.sample import serving, until
from tests.support.observers import Recorder

CONTEXTS_TWICE = "subscription { contexts }"


@pytest.fixture(scope="module")
def running():
    recorder = Recorder()
    with serving(observer=recorder) as server:
        yield server, recorder


@pytest.fixture
def recorder(running):
    _, recorder = running
    recorder.recorded.clear()
    recorder.usages.clear()
    recorder.refusals.clear()
    return recorder


@pytest.fixture
async def http(running):
    server, _ = running
    async with httpx.AsyncClient(base_url=server.url) as client:
        yield client


async def test_operation_is_observed_with_its_results_and_usage(recorder, http):
    await http.post("", json={"query": "{ a: hello b: hello }"}, headers={"x-request-id": "r-1"})

    [observation] = recorder.recorded
    assert observation.request.request_id == "r-1"
    assert (observation.results, observation.codes) == (1, set())
    assert (observation.round_trips, observation.commands) == (2, 0)
    assert observation.seconds > 0


@pytest.mark.parametrize(
    ("query", "token", "codes", "answers"),
    [
        ("{ hello refuse }", "t", {"NOT_TODAY"}, 1),
        ("{ refuse fail }", "t", {"NOT_TODAY", "INTERNAL_SERVER_ERROR"}, 1),
        ("{ hello }", "revoked", {"NOT_TODAY"}, 0),
        ("{ hello }", "bug", {"INTERNAL_SERVER_ERROR"}, 0),
        ("query ($n: Int!) { twice(number: $n) }", "t", {"BAD_USER_INPUT"}, 0),
    ],
)
async def test_error_codes_are_observed(recorder, http, query, token, codes, answers):
    await http.post("", json={"query": query}, headers={"authorization": f"Bearer {token}"})

    [observation] = recorder.recorded
    assert (observation.codes, observation.results) == (codes, answers)


@pytest.mark.parametrize(
    ("request_body", "code"),
    [({"query": "{"}, "GRAPHQL_PARSE_FAILED"), ({"documentId": "none"}, "PERSISTED_QUERY_NOT_FOUND")],
)
async def test_refused_request_is_observed(recorder, http, request_body, code):
    await http.post("", json=request_body, headers={"x-request-id": "r-2"})

    assert recorder.refusals == [(code, "r-2")]
    assert recorder.recorded == []


async def test_subscription_is_one_operation_with_the_sums_of_its_events(recorder, http):
    await http.post("", json={"query": CONTEXTS_TWICE}, headers={"accept": "text/event-stream"})

    [observation] = recorder.recorded
    assert (observation.results, observation.codes) == (2, set())
    assert [usage.round_trips for usage in recorder.usages] == [0, 0]


async def test_failed_subscription_ends_with_its_code(recorder, http):
    await http.post("", json={"query": "subscription { breaks }"}, headers={"accept": "text/event-stream"})

    [observation] = recorder.recorded
    assert (observation.results, observation.codes) == (1, {"INTERNAL_SERVER_ERROR"})


@pytest.mark.parametrize("last", ['{"type":"complete","id":"1"}', None])
async def test_subscription_ends_when_its_client_completes_it_or_disconnects(running, recorder, last):
    server, _ = running
    async with server.socket() as socket:
        await socket.send('{"type":"connection_init"}')
        assert json.loads(await socket.recv()) == {"type": "connection_ack"}
        await socket.send('{"type":"subscribe","id":"1","payload":{"query":"subscription { silence }"}}')
        await until(lambda: recorder.open == 1)
        if last:
            await socket.send(last)
            await until(lambda: recorder.open == 0)
    await until(lambda: recorder.open == 0)

    [observation] = recorder.recorded
    assert (observation.results, observation.codes) == (0, set())
