"""GraphQL over WebSocket, spoken message by message with a running server."""

import asyncio
import contextlib
import json

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from websockets.exceptions import ConnectionClosed, InvalidStatus

from tests.engine.sample import serving, until
from tests.engine.transports.messages import hear, introduce, say, subscribe
from tests.engine.transports.test_streaming import settled


async def closing(socket):
    with pytest.raises(ConnectionClosed) as closed:
        while True:
            await socket.recv()
    return closed.value.rcvd.code


async def test_subscription_sends_its_events_and_completes(socket):
    await introduce(socket)
    await subscribe(socket, "subscription { count(to: 2) }")

    assert [await hear(socket) for _ in range(3)] == [
        {"id": "1", "type": "next", "payload": {"data": {"count": 0}}},
        {"id": "1", "type": "next", "payload": {"data": {"count": 1}}},
        {"id": "1", "type": "complete"},
    ]


async def test_query_is_answered_once(socket):
    await introduce(socket)
    await subscribe(socket, "query ($n: String!) { hello(name: $n) }", variables={"n": "Ada"})

    assert (await hear(socket))["payload"] == {"data": {"hello": "hello Ada"}}
    assert await hear(socket) == {"id": "1", "type": "complete"}


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ("subscription {", "GRAPHQL_PARSE_FAILED"),
        ("{ nothing }", "GRAPHQL_VALIDATION_FAILED"),
        ("query A { hello } query B { hello }", "OPERATION_RESOLUTION_FAILURE"),
        ("query ($n: Int!) { twice(number: $n) }", "BAD_USER_INPUT"),
        ("subscription { refused }", "NOT_TODAY"),
    ],
)
async def test_refused_operation_ends_itself_and_not_the_socket(socket, query, expected):
    await introduce(socket)
    await subscribe(socket, query)
    refusal = await hear(socket)
    await subscribe(socket, "{ hello }")

    assert (refusal["type"], refusal["payload"][0]["extensions"]["code"]) == ("error", expected)
    assert (await hear(socket))["payload"] == {"data": {"hello": "hello world"}}


async def test_events_that_break_end_in_a_masked_error(socket, caplog):
    await introduce(socket)
    await subscribe(socket, "subscription { breaks }")
    event, error = await hear(socket), await hear(socket)

    assert event["payload"] == {"data": {"breaks": 1}}
    assert (error["type"], error["payload"][0]["message"]) == ("error", "internal server error")
    assert error["payload"][0]["extensions"]["code"] == "INTERNAL_SERVER_ERROR"
    assert len(caplog.records) == 1


@pytest.mark.parametrize(
    "payload", [{"Authorization": "Bearer secret"}, {"authorization": "bearer secret"}, {"token": "secret"}]
)
async def test_token_comes_with_the_first_message(socket, payload):
    await introduce(socket, payload)
    await subscribe(socket, "{ whoami }")

    assert (await hear(socket))["payload"] == {"data": {"whoami": "secret"}}


async def test_token_comes_with_the_handshake(server):
    async with server.socket(additional_headers={"Authorization": "Bearer secret"}) as socket:
        await introduce(socket)
        await subscribe(socket, "{ whoami }")

        assert (await hear(socket))["payload"] == {"data": {"whoami": "secret"}}


async def test_ping_is_answered_before_the_introduction(socket):
    await say(socket, type="ping", payload={"a": 1})

    assert await hear(socket) == {"type": "pong"}


async def test_completed_operation_falls_silent_and_its_id_is_free(socket, contexts):
    await introduce(socket)
    await subscribe(socket, "subscription { silence }")
    await until(lambda: contexts.begun == 1)

    await say(socket, id="1", type="complete")
    await say(socket, id="none", type="complete")
    await subscribe(socket, "{ hello }")

    assert (await hear(socket))["payload"] == {"data": {"hello": "hello world"}}
    await until(lambda: contexts.ended == 1)


async def test_operations_end_when_the_client_goes(server, contexts):
    async with server.socket() as socket:
        await introduce(socket)
        for identifier in "abc":
            await subscribe(socket, "subscription { silence }", identifier)
        await until(lambda: contexts.begun == 3)

    await until(lambda: contexts.ended == 3)


async def test_operations_end_when_the_connection_breaks(server, contexts):
    async with server.socket() as socket:
        await introduce(socket)
        await subscribe(socket, "subscription { forever }")
        await hear(socket)
        socket.transport.abort()

    await until(lambda: contexts.ended == 1)


@pytest.mark.parametrize(
    "message",
    [
        "not json",
        "[1]",
        "null",
        "{}",
        '{"type": "nope"}',
        '{"type": ["ping"]}',
        '{"type": "complete"}',
        '{"type": "subscribe"}',
        '{"type": "subscribe", "id": "", "payload": {"query": "{ hello }"}}',
        '{"type": "subscribe", "id": 1, "payload": {"query": "{ hello }"}}',
        '{"type": "subscribe", "id": "1"}',
        '{"type": "subscribe", "id": "1", "payload": {"query": 1}}',
        '{"type": "subscribe", "id": "1", "payload": {"query": "{ hello }", "variables": []}}',
        b"\x00",
    ],
)
async def test_malformed_message_closes_the_socket(socket, message):
    await introduce(socket)
    await socket.send(message)

    assert await closing(socket) == 4400


async def test_long_message_closes_the_socket(socket):
    await socket.send(" " * 64_001)

    assert await closing(socket) == 1009


async def test_introduction_that_is_no_object_closes_the_socket(socket):
    await say(socket, type="connection_init", payload=[1])

    assert await closing(socket) == 4400


async def test_operation_before_the_introduction_closes_the_socket(socket):
    await subscribe(socket, "{ hello }")

    assert await closing(socket) == 4401


async def test_second_introduction_closes_the_socket(socket):
    await introduce(socket)
    await say(socket, type="connection_init")

    assert await closing(socket) == 4429


async def test_id_in_use_closes_the_socket_and_ends_its_operations(socket, contexts):
    await introduce(socket)
    await subscribe(socket, "subscription { silence }")
    await until(lambda: contexts.begun == 1)
    await subscribe(socket, "subscription { silence }")

    assert await closing(socket) == 4409
    await until(lambda: contexts.ended == 1)


async def test_client_that_does_not_introduce_itself_is_closed():
    with serving(init_timeout=0.05) as server:
        async with server.socket() as socket:
            assert await closing(socket) == 4408


async def test_introduced_client_may_take_its_time():
    with serving(init_timeout=0.5) as server:
        async with server.socket() as socket:
            await introduce(socket)
            await asyncio.sleep(0.6)
            await say(socket, type="ping")

            assert await hear(socket) == {"type": "pong"}


async def test_flood_of_messages_closes_the_socket(socket):
    with contextlib.suppress(ConnectionClosed):
        for _ in range(2_000):
            await say(socket, type="pong")

    assert await closing(socket) == 1008


async def test_operations_on_a_socket_are_counted(socket):
    await introduce(socket)
    for number in range(20):
        await subscribe(socket, "subscription { silence }", f"s{number}")
    await subscribe(socket, "{ hello }", "more")
    refused = await hear(socket)
    await say(socket, id="s0", type="complete")
    await subscribe(socket, "{ hello }", "more")

    assert (refused["id"], refused["payload"][0]["extensions"]["code"]) == ("more", "TOO_MANY_OPERATIONS")
    assert (await hear(socket))["payload"] == {"data": {"hello": "hello world"}}


@pytest.mark.parametrize("protocol", ["graphql-ws", "mqtt"])
async def test_other_protocols_are_closed(server, protocol):
    async with server.socket(protocol) as socket:
        assert await closing(socket) == 4406


@pytest.mark.parametrize("origin", ["https://evil.example", "null", "http://127.0.0.1"])
async def test_page_of_another_site_gets_no_socket(server, origin):
    with pytest.raises(InvalidStatus) as refused:
        async with server.socket(origin=origin):
            pass

    assert refused.value.response.status_code == 403


async def test_page_of_this_site_or_of_a_friend_gets_a_socket(server):
    for origin in (f"http://127.0.0.1:{server.port}", "https://friend.example"):
        async with server.socket(origin=origin) as socket:
            await introduce(socket)


async def test_each_event_on_a_socket_has_a_context_of_its_own(socket, contexts):
    await introduce(socket)
    await subscribe(socket, "subscription { count(to: 2) }")
    while (await hear(socket))["type"] != "complete":
        pass

    assert len(contexts.opened) == 3


async def test_slow_subscriber_holds_its_source_back(server, contexts):
    """A source without end goes on only as fast as its client reads: here, not at all."""
    async with server.socket(compression=None, close_timeout=0.1) as socket:
        await introduce(socket)
        await subscribe(socket, "subscription { forever(size: 100000) }")
        await until(lambda: contexts.begun == 1)
        await settled(lambda: len(contexts.opened))

    assert len(contexts.opened) < 1_000
    await until(lambda: contexts.ended == 1)


words = st.sampled_from(["connection_init", "ping", "pong", "subscribe", "complete"])
payloads = (
    st.none() | st.text() | st.dictionaries(st.sampled_from(["query", "variables", "token"]), st.text() | st.none())
)
messages = st.fixed_dictionaries({}, optional={"type": words, "id": st.text() | st.integers(), "payload": payloads})


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(said=st.lists(messages.map(json.dumps) | st.text(st.characters(codec="utf-8")), max_size=5))
async def test_no_message_provokes_a_fault(server, said, caplog):
    async with server.socket() as socket:
        for text in said:
            with contextlib.suppress(ConnectionClosed):
                await socket.send(text)
    assert socket.close_code in {1000, 4400, 4401, 4409, 4429}
    assert caplog.records == []
