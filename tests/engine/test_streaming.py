"""Server-sent events and multipart subscriptions, read as bytes from a running server."""

import json

import httpx
import pytest

from tests.engine.sample import until
from tests.support.answers import code, stable

EVENTS = {"accept": "text/event-stream"}
MULTIPART = {"accept": 'multipart/mixed;boundary="graphql";subscriptionSpec=1.0,application/json'}
COUNT = "subscription { count(to: 2) }"


async def test_events_are_framed_and_completed(ask):
    response = await ask(COUNT, EVENTS)

    assert response.headers["content-type"] == "text/event-stream; charset=utf-8"
    assert response.headers["cache-control"] == "no-store"
    assert "x-request-id" in response.headers
    assert response.text == (
        ":\n\n"
        'event: next\ndata: {"data":{"count":0}}\n\n'
        'event: next\ndata: {"data":{"count":1}}\n\n'
        "event: complete\ndata: \n\n"
    )


async def test_server_sent_events_have_the_ids_of_the_application(ask):
    response = await ask("subscription { ticks(to: 2) { number } }", EVENTS)

    assert response.text == (
        ":\n\n"
        'id: 0\nevent: next\ndata: {"data":{"ticks":{"number":0}}}\n\n'
        'id: 1\nevent: next\ndata: {"data":{"ticks":{"number":1}}}\n\n'
        "id: 2\n\n"
        "event: complete\ndata: \n\n"
    )


async def test_client_that_connects_again_goes_on_after_its_last_event(http):
    query = {"query": "subscription { ticks(to: 4) { number } }"}
    response = await http.get("", params=query, headers=EVENTS | {"Last-Event-ID": "2"})

    assert response.text.split("\n\n")[1:3] == [
        'id: 3\nevent: next\ndata: {"data":{"ticks":{"number":3}}}',
        "id: 4",
    ]


async def test_multipart_leaves_ids_out(ask):
    response = await ask("subscription { ticks(to: 1) { number } }", MULTIPART)

    assert response.text == (
        "\r\n--graphql"
        '\r\nContent-Type: application/json\r\n\r\n{"payload":{"data":{"ticks":{"number":0}}}}\r\n--graphql'
        "--\r\n"
    )


async def test_query_is_streamed_if_only_a_stream_is_accepted(ask):
    streamed = await ask("{ hello }", EVENTS)
    single = await ask("{ hello }", {"accept": "text/event-stream, application/json"})

    assert 'data: {"data":{"hello":"hello world"}}' in streamed.text
    assert single.json() == {"data": {"hello": "hello world"}}


async def test_subscription_is_streamed_by_get(http):
    response = await http.get("", params={"query": COUNT}, headers=EVENTS)

    assert response.text.endswith("event: complete\ndata: \n\n")


async def test_mutation_is_not_streamed_by_get(http):
    response = await http.get("", params={"query": "mutation { change }"}, headers=EVENTS)

    assert (response.status_code, code(response)) == (405, "METHOD_NOT_ALLOWED")


@pytest.mark.parametrize("accept", ["application/json", "application/graphql-response+json", "*/*"])
async def test_subscription_requires_a_streaming_media_type(ask, accept):
    response = await ask(COUNT, {"accept": accept})

    assert (response.status_code, code(response)) == (406, "NOT_ACCEPTABLE")


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ("subscription {", "GRAPHQL_PARSE_FAILED"),
        ("subscription { nothing }", "GRAPHQL_VALIDATION_FAILED"),
        ("subscription ($n: Int!) { count(to: $n) }", "BAD_USER_INPUT"),
        ("subscription { refused }", "NOT_TODAY"),
        ("subscription { breaks }", "INTERNAL_SERVER_ERROR"),
    ],
)
async def test_refusal_is_the_last_event(ask, query, expected):
    response = await ask(query, EVENTS)

    *_, last, complete, rest = response.text.split("\n\n")
    assert json.loads(last.removeprefix("event: next\ndata: "))["errors"][0]["extensions"]["code"] == expected
    assert (complete, rest) == ("event: complete\ndata: ", "")
    assert "secret" not in response.text


async def test_multipart_has_payloads_and_a_closing_boundary(ask):
    response = await ask(COUNT, MULTIPART)

    assert response.headers["content-type"] == 'multipart/mixed;boundary="graphql";subscriptionSpec=1.0'
    assert response.text == (
        "\r\n--graphql"
        '\r\nContent-Type: application/json\r\n\r\n{"payload":{"data":{"count":0}}}\r\n--graphql'
        '\r\nContent-Type: application/json\r\n\r\n{"payload":{"data":{"count":1}}}\r\n--graphql'
        "--\r\n"
    )


@pytest.mark.parametrize(
    ("headers", "heartbeat"),
    [(EVENTS, ":\n\n"), (MULTIPART, "\r\nContent-Type: application/json\r\n\r\n{}\r\n--graphql")],
)
async def test_idle_stream_has_heartbeats_and_ends_when_the_client_leaves(http, contexts, headers, heartbeat):
    body = {"query": "subscription { silence }"}
    async with http.stream("POST", "", json=body, headers=headers) as response:
        received = ""
        async for text in response.aiter_text():
            received += text
            if received.count(heartbeat) >= 3:
                break

    await until(lambda: contexts.streams_ended == 1)
    assert contexts.streams_started == 1


async def test_each_event_has_its_own_context(ask, contexts):
    await ask(COUNT, EVENTS)

    assert len(contexts.opened) == 3  # of the subscription, and of each event


async def test_each_event_has_its_stats(ask):
    response = await ask("subscription { count(to: 1) }", EVENTS | {"X-Stats": "1"})

    assert '{"data":{"count":0},"extensions":{"stats":{"roundTrips":0,"commands":0},"cost":0}}' in response.text


async def test_slow_client_pauses_its_subscription(server, contexts):
    """The client reads nothing, so the endless subscription must stop."""
    async with httpx.AsyncClient() as client:
        body = {"query": "subscription { forever(size: 100000) }"}
        async with client.stream("POST", server.url, json=body, headers=EVENTS):
            await until(lambda: contexts.streams_started == 1)
            await stable(lambda: len(contexts.opened))

    assert len(contexts.opened) < 1_000
