"""Limits of connections: how many there are, the size and time of a request, and clients that do not read."""

import asyncio
import json
import socket
import sys
from contextlib import AsyncExitStack, contextmanager

import httpx
import pytest
from websockets.exceptions import ConnectionClosedError
from websockets.frames import Frame, Opcode

from server.http.connections import ConnectionLimiter
from server.http.slow_clients import SlowClients
from server.trusted import TrustedProxies
from tests.engine.messages import initialise
from tests.engine.sample import CONTEXTS, serving, until
from tests.support.raw_clients import ENDLESS, INIT, LARGE, POST, SUBSCRIBE, UPGRADE, message, request, unreading_client

BODY = b'{"query": "{ hello }"}'
DATA_SEGMENTS_IN = 152  # offset of `tcpi_data_segs_in` in Linux' `struct tcp_info`


@pytest.fixture(scope="module")
def server():
    with serving(limiter=ConnectionLimiter()) as running:
        yield running


@pytest.fixture(scope="module")
def strict_server():
    """A server with a short request timeout."""
    with serving(limiter=ConnectionLimiter(request_seconds=0.4)) as running:
        yield running


async def exchange(server, *pieces):
    """Send the pieces and read until the server closes the connection."""
    reader, writer = await asyncio.open_connection("127.0.0.1", server.port)
    for piece in pieces:
        writer.write(piece)
        await writer.drain()
    answer = await reader.read()
    writer.close()
    return answer


def refusal(answer):
    """The status and the error code of a raw HTTP response."""
    head, _, body = answer.partition(b"\r\n\r\n")
    return int(head.split()[1]), json.loads(body)["errors"][0]["extensions"]["code"]


@pytest.mark.parametrize(
    "pieces",
    [
        [],
        [b"POS"],
        [POST],
        [POST + b"Content-Length: 22\r\n\r\n"],
        [POST + b"Content-Length: 22\r\n\r\n", BODY[:9]],
        [POST + b"Transfer-Encoding: chunked\r\n\r\n", b"5\r\n{", b"   "],
    ],
    ids=["nothing", "method", "headers", "no body", "part of a body", "part of a chunk"],
)
async def test_incomplete_request_times_out(strict_server, pieces):
    assert refusal(await exchange(strict_server, *pieces)) == (408, "TIMEOUT")


async def test_body_that_follows_an_answered_request_and_does_not_come_times_out(strict_server):
    answers = await exchange(strict_server, request({"query": "{ hello }"}) + POST + b"Content-Length: 22\r\n\r\n")

    assert answers.startswith(b"HTTP/1.1 200")
    assert refusal(answers[answers.rindex(b"HTTP/1.1") :]) == (408, "TIMEOUT")


async def test_slowly_sent_request_times_out(strict_server):
    async def send_slowly(writer):
        while not writer.is_closing():
            writer.write(b" ")
            await asyncio.sleep(0.02)

    reader, writer = await asyncio.open_connection("127.0.0.1", strict_server.port)
    writer.write(POST + b"Content-Length: 90000\r\n\r\n")
    sending = asyncio.create_task(send_slowly(writer))
    answer = await reader.readuntil(b"}]}")
    sending.cancel()
    writer.close()

    assert refusal(answer) == (408, "TIMEOUT")


@pytest.mark.skipif(not hasattr(socket, "TCP_INFO"), reason="only Linux counts the segments of a socket")
async def test_head_and_body_of_a_response_are_one_write(server):
    with socket.create_connection(("127.0.0.1", server.port)) as client:
        client.setblocking(False)
        loop = asyncio.get_running_loop()
        await loop.sock_sendall(client, POST + b"Content-Length: %d\r\n\r\n" % len(BODY) + BODY)
        response = b""
        while not response.endswith(b"}}"):
            response += await loop.sock_recv(client, 10_000)
        info = client.getsockopt(socket.IPPROTO_TCP, socket.TCP_INFO, DATA_SEGMENTS_IN + 4)

    assert int.from_bytes(info[DATA_SEGMENTS_IN:], sys.byteorder) == 1


@pytest.mark.parametrize(
    ("head", "status"),
    [
        (POST + b"".join(b"X-%d: y\r\n" % number for number in range(200)) + b"\r\n", 431),
        (POST + b"X: " + b"y" * 16_400 + b"\r\n\r\n", 431),
        (POST + b"X-A: " + b"y" * 9_000 + b"\r\nX-B: " + b"y" * 9_000 + b"\r\n\r\n", 431),
        (POST + b"X: " + b"y" * 90_000, 431),
        (
            POST
            + b"Transfer-Encoding: chunked\r\n\r\n0\r\nX-A: "
            + b"y" * 9_000
            + b"\r\nX-B: "
            + b"y" * 9_000
            + b"\r\n\r\n",
            431,
        ),
        (b"GET /graphql?query=" + b"y" * 66_000 + b" HTTP/1.1\r\nHost: x\r\n\r\n", 414),
    ],
    ids=["many", "long", "long together", "endless", "long after the body", "long URL"],
)
async def test_large_head_is_refused(server, head, status):
    assert refusal(await exchange(server, head)) == (status, "HEADERS_TOO_LARGE")


async def test_large_head_of_a_pipelined_request_is_refused(server):
    pipelined = (
        request({"query": "{ hello }"}) + POST + b"X-A: " + b"y" * 9_000 + b"\r\nX-B: " + b"y" * 9_000 + b"\r\n\r\n"
    )

    answers = await exchange(server, pipelined[:-100], pipelined[-100:])

    assert refusal(answers[answers.rindex(b"HTTP/1.1") :]) == (431, "HEADERS_TOO_LARGE")


async def test_pipelined_requests_do_not_count_for_the_head_that_follows_them():
    one = request({"query": "{ hello }"})
    with serving(limiter=ConnectionLimiter(max_url_bytes=500, max_header_bytes=500)) as server:
        reader, writer = await asyncio.open_connection("127.0.0.1", server.port)
        for piece in (one[:60], one[60:] + one * 20 + one[:60], one[60:] + one * 20):
            writer.write(piece)
            await writer.drain()
            await asyncio.sleep(0.05)
        for _ in range(42):
            assert (await reader.readuntil(b"}}")).startswith(b"HTTP/1.1 200")
        writer.close()


@pytest.mark.parametrize("text", [b"\x16\x03\x01\x02\x00\x01", b"HELLO\r\n\r\n", POST + b"a b: c\r\n\r\n"])
async def test_invalid_http_is_refused(server, text):
    assert refusal(await exchange(server, text)) == (400, "BAD_REQUEST")


async def test_headers_within_the_limit_are_accepted(server):
    headers = {f"x-{number}": "y" * 100 for number in range(93)}  # httpx sends seven more

    async with httpx.AsyncClient(base_url=server.url, headers=headers) as client:
        assert (await client.post("", json={"query": "{ hello }"})).status_code == 200


async def test_request_timeout_begins_anew_with_each_request():
    with serving(limiter=ConnectionLimiter(request_seconds=2)) as server:
        async with httpx.AsyncClient(base_url=server.url) as client, server.socket() as socket:
            for _ in range(3):
                assert (await client.post("", json={"query": "{ hello }"})).status_code == 200
                await asyncio.sleep(0.8)
            await initialise(socket)


@pytest.mark.parametrize("earlier", [[], [{"query": "{ hello }"}]], ids=["new connection", "used connection"])
async def test_websocket_is_not_closed_as_an_idle_connection(earlier):
    with serving(limiter=ConnectionLimiter(request_seconds=1, idle_seconds=1)) as server:
        reader, writer = await asyncio.open_connection("127.0.0.1", server.port)
        for content in earlier:
            writer.write(request(content))
            await reader.readuntil(b"}}")
        writer.write(UPGRADE)
        assert (await reader.readuntil(b"\r\n\r\n")).startswith(b"HTTP/1.1 101")
        await asyncio.sleep(1.2)
        writer.write(message(INIT))

        assert b"connection_ack" in await reader.readuntil(b"}")
        writer.close()


async def test_connection_is_not_idle_while_a_refused_body_arrives():
    with serving(limiter=ConnectionLimiter(idle_seconds=0.2), max_body=100) as server:
        reader, writer = await asyncio.open_connection("127.0.0.1", server.port)
        writer.write(POST + b"Content-Length: 200\r\n\r\n" + b" " * 150)
        await reader.readuntil(b"}]}")
        await asyncio.sleep(0.4)
        writer.write(b" " * 50 + request({"query": "{ hello }"}))

        assert b"hello world" in await reader.readuntil(b"}}")
        assert await reader.read() == b""  # idle
        writer.close()


async def test_connections_beyond_the_limit_are_refused():
    limiter = ConnectionLimiter(max_connections=3)
    with serving(limiter=limiter) as server:
        async with AsyncExitStack() as stack:
            for _ in range(2):
                await stack.enter_async_context(server.socket())
            _, writer = await asyncio.open_connection("127.0.0.1", server.port)

            assert refusal(await exchange(server)) == (503, "TOO_MANY_CONNECTIONS")
            writer.close()
        await until(lambda: not limiter.open)
        async with httpx.AsyncClient() as client:
            assert (await client.post(server.url, json={"query": "{ hello }"})).status_code == 200


@contextmanager
def server_with_read_timeout(seconds):
    """A server that closes connections whose clients do not read for some seconds, and its limiter."""
    limiter = ConnectionLimiter(slow_clients=SlowClients(seconds))
    with serving(limiter=limiter) as server:
        yield server, limiter


async def test_client_that_does_not_read_answers_is_disconnected():
    large = request({**LARGE, "variables": {"x": "x" * 90_000}})
    with server_with_read_timeout(0.3) as (server, limiter):
        async with unreading_client(server, limiter, *[large] * 5):
            await until(lambda: not limiter.open)
            assert limiter.open.total() == 0


async def test_client_that_does_not_read_events_is_disconnected():
    ended = CONTEXTS.streams_ended
    with server_with_read_timeout(0.3) as (server, limiter):
        async with unreading_client(server, limiter, request({"query": ENDLESS}, "text/event-stream")):
            await until(lambda: CONTEXTS.streams_ended == ended + 1)
            await until(lambda: not limiter.open)
            assert limiter.open.total() == 0


async def test_websocket_client_that_does_not_read_is_disconnected():
    ended = CONTEXTS.streams_ended
    with server_with_read_timeout(0.3) as (server, limiter):
        async with unreading_client(server, limiter, message(INIT), message(SUBSCRIBE), first=UPGRADE):
            await until(lambda: CONTEXTS.streams_ended == ended + 1)
            await until(lambda: not limiter.open)
            assert limiter.open.total() == 0


async def test_client_that_reads_slowly_is_served():
    large = request({**LARGE, "variables": {"x": "x" * 90_000}})
    with server_with_read_timeout(1.0) as (server, limiter):
        async with unreading_client(server, limiter, *[large] * 5) as client:
            read = 0
            while read < 5 * 20 * 90_000:  # each answer has the variable 20 times
                received = await asyncio.get_running_loop().sock_recv(client, 65_536)
                assert received
                read += len(received)
                await asyncio.sleep(0.01)


async def test_too_many_pings_close_the_websocket(server):
    async with server.socket() as client:
        client.transport.write(Frame(Opcode.PING, b"").serialize(mask=True) * 250)  # in two seconds at most
        with pytest.raises(ConnectionClosedError) as closed:
            await client.recv()

    assert (closed.value.rcvd.code, closed.value.rcvd.reason) == (1008, "more than 100 pings a second")


async def test_too_many_fragments_close_the_websocket(server):
    async with server.socket() as client:
        first, rest = (Frame(opcode, b"", fin=False).serialize(mask=True) for opcode in (Opcode.TEXT, Opcode.CONT))
        client.transport.write(first + rest * 1_000)
        with pytest.raises(ConnectionClosedError) as closed:
            await client.recv()

    assert (closed.value.rcvd.code, closed.value.rcvd.reason) == (1008, "a message of more than 1000 fragments")


def test_connections_are_limited_per_address():
    limiter = ConnectionLimiter(max_connections=6, max_per_address=2, trusted_proxies=frozenset({"10.0.0.1"}))

    assert [limiter.admit("1.1.1.1") for _ in range(3)] == [True, True, False]
    assert [limiter.admit("10.0.0.1") for _ in range(3)] == [True, True, True]
    assert [limiter.admit("2.2.2.2"), limiter.admit("3.3.3.3")] == [True, False]
    limiter.release("1.1.1.1")
    assert limiter.admit("1.1.1.1")


def test_connections_of_an_ipv6_network_are_limited_together():
    limiter = ConnectionLimiter(max_per_address=2, trusted_proxies=TrustedProxies(["2001:db8::/64"]))

    assert [limiter.admit(f"2001:db8:0:1::{n}") for n in range(3)] == [True, True, False]
    assert [limiter.admit("2001:db8:0:2::1"), *(limiter.admit("2001:db8::1") for _ in range(3))] == [True] * 4
    limiter.release("2001:db8:0:1::1")
    assert limiter.admit("2001:db8:0:1::9")


def test_connections_per_address_may_be_unlimited():
    limiter = ConnectionLimiter(max_connections=300, max_per_address=None)

    assert all(limiter.admit("1.1.1.1") for _ in range(300))
