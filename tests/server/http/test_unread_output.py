"""Limits on answers that wait to be read, for a connection and for an address."""

import asyncio
import json
import socket
from contextlib import AsyncExitStack, ExitStack, suppress
from secrets import token_hex

import httpx
import pytest

from engine import Endpoint, Options
from server.compression import Compression
from server.http.connections import ConnectionLimiter
from server.http.unread_output import UnreadOutput
from tests.engine.sample import CONTEXTS, SCHEMA, running, serving, until
from tests.server.conftest import serving as live_server
from tests.support.raw_clients import INIT, LARGE, UPGRADE, message, request, unreading_client

HERE = "127.0.0.1"
ANSWER = 20 * 9_000  # bytes of each answer that the clients below do not read: LARGE asks for its variable 20 times
VARIABLES = {"x": "x" * 90_000}
OTHERS = [{**LARGE, "variables": {"x": f"{number:02}" * 4_500}} for number in range(80)]  # none equals another


@pytest.fixture
def limiter():
    return ConnectionLimiter(unread_output=UnreadOutput(max_per_connection=2_000_000, max_per_address=5_000_000))


@pytest.fixture
def server(limiter):
    with serving(limiter=limiter, max_message=100_000) as running:
        yield running


async def unreading_clients(stack, server, limiter, *pieces, **options):
    """Connect clients that do not read until the answers to their address reach the limit."""
    count = 0
    while (before := await steady(lambda: waiting(limiter))) <= 5_000_000 - ANSWER:
        count += 1
        assert count < 20
        await stack.enter_async_context(unreading_client(server, limiter, *pieces, connections=count, **options))
        await until(lambda before=before: waiting(limiter) > before)


def waiting(limiter):
    """Bytes that wait. The server, in another thread, may open or close a connection while they are counted."""
    while True:
        with suppress(RuntimeError):
            return limiter.unread_output.waiting(HERE)


async def steady(measure):
    """The measured value once it is the same twice: the system takes more of an answer as its buffers grow."""
    value = None
    while value != (value := measure()):  # noqa: ASYNC110 - the system has no event for its buffers
        await asyncio.sleep(0.05)
    return value


async def test_unread_output_is_limited_per_address(server, limiter):
    async with httpx.AsyncClient(base_url=server.url) as client:
        async with AsyncExitStack() as clients:
            await unreading_clients(clients, server, limiter, *map(request, OTHERS))

            refused = await client.post("", json={**LARGE, "variables": VARIABLES})
            assert refused.status_code == 429
            assert refused.json()["errors"] == [
                {
                    "message": "more than 5000000 bytes of responses to this address wait to be read",
                    "extensions": {"code": "TOO_MUCH_UNREAD"},
                }
            ]
            assert (await client.post("", json={"query": "{ hello }"})).json() == {"data": {"hello": "hello world"}}
            assert waiting(limiter) <= 5_000_000
        await until(lambda: waiting(limiter) == 0)

        assert (await client.post("", json={**LARGE, "variables": VARIABLES})).status_code == 200


async def test_refusal_takes_the_place_of_a_compressed_answer(limiter):
    endpoint = Endpoint(SCHEMA, CONTEXTS.open, {}, Options(max_message=100_000))
    with running(Compression(endpoint), limiter) as server:
        async with httpx.AsyncClient(base_url=server.url) as client, AsyncExitStack() as clients:
            await unreading_clients(clients, server, limiter, *map(request, OTHERS))

            hardly_compressible = {"x": token_hex(45_000)}
            refused = await client.post("", json={**LARGE, "variables": hardly_compressible})
            assert refused.status_code == 429
            assert refused.json()["errors"][0]["extensions"]["code"] == "TOO_MUCH_UNREAD"
            compressed = await client.post("", json={**LARGE, "variables": VARIABLES})
            assert compressed.headers["content-encoding"] == "gzip"


async def test_unread_output_is_limited_per_websocket(server, limiter):
    """Operations on a WebSocket whose client does not read are refused once their answers exceed the limit."""
    CONTEXTS.opened.clear()
    asked = [{"id": str(number), "type": "subscribe", "payload": each} for number, each in enumerate(OTHERS)]
    async with unreading_client(server, limiter, message(INIT), *map(message, asked), first=UPGRADE) as client:
        await until(lambda: len(CONTEXTS.opened) == len(OTHERS))
        assert waiting(limiter) <= 2_000_000
        ended = [each async for each in messages(client, until=len(OTHERS))]

    refused = [each["payload"][0] for each in ended if each["type"] == "error"]
    assert refused and len(refused) < len(OTHERS)
    assert {each["extensions"]["code"] for each in refused} == {"TOO_MUCH_UNREAD"}
    assert refused[0]["message"] == "more than 2000000 bytes of responses to this connection wait to be read"


async def messages(client, until):
    """Yield the messages that end operations, until there were `until` of them."""
    loop, data = asyncio.get_running_loop(), b""
    while until:
        while len(data) < 10 or len(data) < size_of(data):
            received = await loop.sock_recv(client, 1_000_000)
            assert received, "the server closed the connection"
            data += received
        frame, data = data[: size_of(data)], data[size_of(data) :]
        decoded = json.loads(frame[frame.index(b"{") :])
        if decoded["type"] in ("complete", "error"):
            until -= 1
            yield decoded


def size_of(data):
    """The size of the first WebSocket frame in bytes, with its head of 2, 4 or 10 (RFC 6455, section 5.2)."""
    length = data[1]
    if length < 126:
        return 2 + length
    return 4 + int.from_bytes(data[2:4]) if length == 126 else 10 + int.from_bytes(data[2:10])


async def test_unread_stream_ends_at_the_limit():
    """One event may wait, but not two."""
    limiter = ConnectionLimiter(unread_output=UnreadOutput(max_per_connection=1_000_000))
    with serving(limiter=limiter) as server:
        subscription = request({"query": "subscription { forever(size: 900000) }"}, "text/event-stream")
        async with unreading_client(server, limiter, subscription) as client:
            await until(lambda: waiting(limiter) > 0)
            data = b""
            while b"event: complete" not in data:
                data = data[-1_000:] + await asyncio.get_running_loop().sock_recv(client, 1_000_000)

    assert b"TOO_MUCH_UNREAD" in data


async def test_answers_that_were_read_no_longer_count(server, limiter):
    async with httpx.AsyncClient(base_url=server.url) as client:
        for each in OTHERS:
            assert (await client.post("", json=each)).status_code == 200

    await until(lambda: waiting(limiter) == 0 and not limiter.open)
    assert not limiter.unread_output._connections


def test_other_responses_than_those_of_graphql_are_refused_too(tmp_path):
    with live_server(tmp_path, rate_limits="on", max_address_unread=100_000) as live, ExitStack() as clients:
        address = "127.0.0.1", httpx.URL(live.url).port
        for _ in range(4):
            client = clients.enter_context(socket.socket())
            client.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4_096)
            client.connect(address)
            client.sendall(150 * b"GET /schema.graphql HTTP/1.1\r\nHost: upvote\r\n\r\n")
        plain = {"Accept-Encoding": "identity"}  # compressed it is small
        answers = [httpx.get(f"{live.url}/schema.graphql", headers=plain) for _ in range(20)]
        small = httpx.get(f"{live.url}/hn/v0/maxitem.json")

        assert 429 in {answer.status_code for answer in answers}
        refused = next(answer for answer in answers if answer.status_code == 429)
        assert refused.text == "more than 100000 bytes of responses to this address wait to be read"
        assert small.status_code == 200
        assert "Exception" not in live.errors.read_text()
