"""GraphQL over WebSocket, message by message, with a running server."""

import asyncio
import contextlib
import json
from time import monotonic

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from websockets.exceptions import ConnectionClosed, InvalidStatus

from tests.engine.messages import initialise, receive, send, subscribe
from tests.engine.sample import serving, until
from tests.examples import examples
from tests.support.answers import stable


async def close_code(socket):
    """Read until the server closes the connection, and return its close code."""
    with pytest.raises(ConnectionClosed) as closed:
        while True:
            await socket.recv()
    return closed.value.rcvd.code


async def test_subscription_sends_its_events_and_completes(socket):
    await initialise(socket)
    await subscribe(socket, "subscription { count(to: 2) }")

    assert [await receive(socket) for _ in range(3)] == [
        {"id": "1", "type": "next", "payload": {"data": {"count": 0}}},
        {"id": "1", "type": "next", "payload": {"data": {"count": 1}}},
        {"id": "1", "type": "complete"},
    ]


async def test_event_that_is_only_an_id_is_not_sent(socket):
    """`ticks` ends with such an event, which is for clients of server-sent events: they go on from its id."""
    await initialise(socket)
    await subscribe(socket, "subscription { ticks(to: 1) { number } }")

    assert [await receive(socket) for _ in range(2)] == [
        {"id": "1", "type": "next", "payload": {"data": {"ticks": {"number": 0}}}},
        {"id": "1", "type": "complete"},
    ]


async def test_query_has_one_result(socket):
    await initialise(socket)
    await subscribe(socket, "query ($n: String!) { hello(name: $n) }", variables={"n": "Ada"})

    assert (await receive(socket))["payload"] == {"data": {"hello": "hello Ada"}}
    assert await receive(socket) == {"id": "1", "type": "complete"}


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
async def test_refused_operation_leaves_the_connection_open(socket, query, expected):
    await initialise(socket)
    await subscribe(socket, query)
    refusal = await receive(socket)
    await subscribe(socket, "{ hello }")

    assert (refusal["type"], refusal["payload"][0]["extensions"]["code"]) == ("error", expected)
    assert (await receive(socket))["payload"] == {"data": {"hello": "hello world"}}


async def test_exception_of_a_subscription_is_a_masked_error(socket, caplog):
    await initialise(socket)
    await subscribe(socket, "subscription { breaks }")
    event, error = await receive(socket), await receive(socket)

    assert event["payload"] == {"data": {"breaks": 1}}
    assert (error["type"], error["payload"][0]["message"]) == ("error", "internal server error")
    assert error["payload"][0]["extensions"]["code"] == "INTERNAL_SERVER_ERROR"
    assert len(caplog.records) == 1


@pytest.mark.parametrize(
    "payload", [{"Authorization": "Bearer secret"}, {"authorization": "bearer secret"}, {"token": "secret"}]
)
async def test_token_is_read_from_connection_init(socket, payload):
    await initialise(socket, payload)
    await subscribe(socket, "{ whoami }")

    assert (await receive(socket))["payload"] == {"data": {"whoami": "secret"}}


async def test_token_is_read_from_the_handshake(server):
    async with server.socket(additional_headers={"Authorization": "Bearer secret"}) as socket:
        await initialise(socket)
        await subscribe(socket, "{ whoami }")

        assert (await receive(socket))["payload"] == {"data": {"whoami": "secret"}}


async def test_ping_is_answered_before_connection_init(socket):
    await send(socket, type="ping", payload={"a": 1})

    assert await receive(socket) == {"type": "pong"}


async def test_completed_operation_stops_and_its_id_may_be_used_again(socket, contexts):
    await initialise(socket)
    await subscribe(socket, "subscription { silence }")
    await until(lambda: contexts.streams_started == 1)

    await send(socket, id="1", type="complete")
    await send(socket, id="none", type="complete")
    await subscribe(socket, "{ hello }")

    assert (await receive(socket))["payload"] == {"data": {"hello": "hello world"}}
    await until(lambda: contexts.streams_ended == 1)


async def test_operations_end_when_the_client_leaves(server, contexts):
    async with server.socket() as socket:
        await initialise(socket)
        for identifier in "abc":
            await subscribe(socket, "subscription { silence }", identifier)
        await until(lambda: contexts.streams_started == 3)

    await until(lambda: contexts.streams_ended == 3)
    assert contexts.streams_started == 3


async def test_operations_end_when_the_connection_breaks(server, contexts):
    async with server.socket() as socket:
        await initialise(socket)
        await subscribe(socket, "subscription { forever }")
        await receive(socket)
        socket.transport.abort()

    await until(lambda: contexts.streams_ended == 1)
    assert contexts.streams_started == 1


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
async def test_malformed_message_closes_the_connection(socket, message):
    await initialise(socket)
    await socket.send(message)

    assert await close_code(socket) == 4400


async def test_long_message_closes_the_connection(socket):
    await socket.send(" " * 64_001)  # one byte more than is allowed

    assert await close_code(socket) == 1009


async def test_connection_init_without_an_object_closes_the_connection(socket):
    await send(socket, type="connection_init", payload=[1])

    assert await close_code(socket) == 4400


async def test_operation_before_connection_init_closes_the_connection(socket):
    await subscribe(socket, "{ hello }")

    assert await close_code(socket) == 4401


async def test_second_connection_init_closes_the_connection(socket):
    await initialise(socket)
    await send(socket, type="connection_init")

    assert await close_code(socket) == 4429


async def test_id_in_use_closes_the_connection_and_ends_its_operations(socket, contexts):
    await initialise(socket)
    await subscribe(socket, "subscription { silence }")
    await until(lambda: contexts.streams_started == 1)
    await subscribe(socket, "subscription { silence }")

    assert await close_code(socket) == 4409
    await until(lambda: contexts.streams_ended == 1)


async def test_connection_without_connection_init_is_closed():
    with serving(init_timeout=0.05) as server:
        async with server.socket() as socket:
            assert await close_code(socket) == 4408


async def test_init_timeout_ends_with_connection_init():
    with serving(init_timeout=2) as server:
        async with server.socket() as socket:
            await initialise(socket)
            await asyncio.sleep(2.1)
            await send(socket, type="ping")

            assert await receive(socket) == {"type": "pong"}


async def test_messages_beyond_the_rate_are_handled_in_the_next_seconds():
    with serving(max_messages=10) as server:
        async with server.socket() as socket:
            started = monotonic()
            await initialise(socket)
            for _ in range(30):
                await send(socket, type="ping")
            pongs = [await receive(socket) for _ in range(30)]

    assert pongs == [{"type": "pong"}] * 30
    assert monotonic() - started > 2  # 31 messages in four different seconds


async def test_operations_beyond_the_limit_are_refused_one_by_one(socket):
    """A page that subscribes to more than 100 things at once gets the first 100, and the socket stays open."""
    await initialise(socket)
    for number in range(150):
        await subscribe(socket, "subscription { silence }", f"s{number}")
    refused = [await receive(socket) for _ in range(50)]
    await send(socket, id="s0", type="complete")
    await subscribe(socket, "{ hello }", "s100")

    assert [each["id"] for each in refused] == [f"s{number}" for number in range(100, 150)]
    assert {(each["type"], each["payload"][0]["extensions"]["code"]) for each in refused} == {
        ("error", "TOO_MANY_OPERATIONS")
    }
    assert await receive(socket) == {"id": "s100", "type": "next", "payload": {"data": {"hello": "hello world"}}}


@pytest.mark.parametrize("protocol", ["graphql-ws", "mqtt"])
async def test_other_subprotocols_are_closed(server, protocol):
    async with server.socket(protocol) as socket:
        assert await close_code(socket) == 4406


@pytest.mark.parametrize(
    ("origin", "headers"),
    [
        ("https://evil.example", {}),
        ("https://evil.example", {"Sec-Fetch-Site": "cross-site"}),
        ("http://localhost.evil.example", {}),
        ("http://localhost:80.evil.example", {}),
        ("http://10.0.0.1:5173", {}),
        ("null", {}),
    ],
)
async def test_other_origin_is_refused(server, origin, headers):
    with pytest.raises(InvalidStatus) as refused:
        async with server.socket(origin=origin, additional_headers=headers):
            pass

    assert refused.value.response.status_code == 403


@pytest.mark.parametrize(
    ("origin", "headers"),
    [
        ("http://localhost:5173", {}),
        ("http://127.0.0.1:3000", {}),
        ("http://[::1]:5173", {}),
        ("https://dev.example", {"Sec-Fetch-Site": "same-origin"}),
    ],
)
async def test_page_behind_a_proxy_that_replaces_the_host_is_accepted(server, origin, headers):
    """As `changeOrigin` of Vite's proxy does."""
    async with server.socket(origin=origin, additional_headers=headers) as socket:
        await initialise(socket)
        await subscribe(socket, "{ hello }")

        assert (await receive(socket))["payload"] == {"data": {"hello": "hello world"}}


async def test_own_and_allowed_origins_are_accepted(server):
    for origin in (f"http://127.0.0.1:{server.port}", "https://friend.example"):
        async with server.socket(origin=origin) as socket:
            await initialise(socket)
            await subscribe(socket, "{ hello }")

            assert (await receive(socket))["payload"] == {"data": {"hello": "hello world"}}


async def test_each_event_has_its_own_context(socket, contexts):
    await initialise(socket)
    await subscribe(socket, "subscription { count(to: 2) }")
    while (await receive(socket))["type"] != "complete":
        pass

    assert len(contexts.opened) == 3  # of the subscription, and of each event


async def test_slow_client_pauses_its_subscription(server, contexts):
    """The client reads nothing, so the endless subscription must stop."""
    async with server.socket(compression=None, close_timeout=0.1) as socket:
        await initialise(socket)
        await subscribe(socket, "subscription { forever(size: 100000) }")
        await until(lambda: contexts.streams_started == 1)
        await stable(lambda: len(contexts.opened))

    assert len(contexts.opened) < 1_000
    await until(lambda: contexts.streams_ended == 1)


types = st.sampled_from(["connection_init", "ping", "pong", "subscribe", "complete"])
payloads = (
    st.none() | st.text() | st.dictionaries(st.sampled_from(["query", "variables", "token"]), st.text() | st.none())
)
messages = st.fixed_dictionaries({}, optional={"type": types, "id": st.text() | st.integers(), "payload": payloads})


@settings(max_examples=examples(60), deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(texts=st.lists(messages.map(json.dumps) | st.text(st.characters(codec="utf-8")), max_size=5))
async def test_no_message_causes_an_internal_error(server, texts, caplog):
    async with server.socket() as socket:
        for text in texts:
            with contextlib.suppress(ConnectionClosed):
                await socket.send(text)
    assert socket.close_code in {1000, 4400, 4401, 4409, 4429}
    assert caplog.records == []
