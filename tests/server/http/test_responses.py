"""Responses on one connection: their order, where each of them ends, and when the connection closes."""

import asyncio
import json

import pytest

from server.http.connections import ConnectionLimiter
from tests.engine.sample import running, serving, until
from tests.support.raw_clients import connected

BODY = b'{"query": "{ hello }"}'
HEAD = b"POST /graphql HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n"
LENGTH = b"Content-Length: %d\r\n" % len(BODY)
REQUEST = HEAD + LENGTH + b"\r\n" + BODY
HELLO = {"data": {"hello": "hello world"}}


@pytest.fixture(scope="module")
def server():
    with serving(limiter=ConnectionLimiter(idle_seconds=1)) as running:
        yield running


@pytest.fixture
async def client(server):
    async with connected(server) as client:
        yield client


async def test_requests_follow_one_another(client):
    for _ in range(3):
        await client.send(REQUEST)

        assert await client.answer() == (200, HELLO)


UPGRADE = HEAD + b"Connection: Upgrade, HTTP2-Settings\r\nUpgrade: h2c\r\nHTTP2-Settings: AAMAAABkAAQCAAAAAAIAAAAA\r\n"
UPGRADE_IN_CHUNKS = UPGRADE + b"Transfer-Encoding: chunked\r\n\r\n%x\r\n%b\r\n0\r\n\r\n" % (len(BODY), BODY)


@pytest.mark.parametrize("upgrade", [UPGRADE + LENGTH + b"\r\n" + BODY, UPGRADE_IN_CHUNKS], ids=["whole", "in chunks"])
async def test_upgrade_to_http_2_is_ignored(client, upgrade):
    """Java's client and `curl --http2` send it with their first request."""
    for cut in range(0, len(upgrade), 10):
        await client.send(upgrade[:cut])
        await asyncio.sleep(0)
        await client.send(upgrade[cut:], REQUEST)

        assert [await client.answer(), await client.answer()] == [(200, HELLO)] * 2


async def test_many_upgrades_in_one_send_are_ignored(client):
    requests = 3_000  # 250 kB; each once took a frame of the stack
    upgrade = b"GET /graphql?query={hello} HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: h2c\r\n\r\n"
    await client.send(upgrade * requests + upgrade[:50])

    assert [await client.answer() for _ in range(requests)] == [(200, HELLO)] * requests
    await client.send(upgrade[50:])
    assert await client.answer() == (200, HELLO)


async def test_connect_is_refused(client):
    await client.send(b"CONNECT x:80 HTTP/1.1\r\nHost: x:80\r\n\r\n" + REQUEST)

    assert (await client.head())[0] == 400


async def test_pipelined_requests_are_answered_in_order(client):
    names = [f"n{number}" for number in range(30)]
    bodies = [json.dumps({"query": f'{{ hello(name: "{name}") }}'}).encode() for name in names]
    await client.send(b"".join(HEAD + b"Content-Length: %d\r\n\r\n%b" % (len(body), body) for body in bodies))

    answers = [await client.answer() for _ in names]

    assert [answer["data"]["hello"] for _, answer in answers] == [f"hello {name}" for name in names]


async def test_large_body_does_not_count_for_the_next_head(client):
    """The data exceeds the limit of a head, but most of it belongs to the previous body."""
    body = json.dumps({"query": "{ hello }", "extensions": {"padding": "x" * 90_000}}).encode()
    await client.send(HEAD + b"Content-Length: %d\r\n\r\n" % len(body), body + REQUEST[:30])
    first = await client.answer()
    await client.send(REQUEST[30:])

    assert [first, await client.answer()] == [(200, HELLO)] * 2


async def test_body_may_come_in_chunks(client):
    chunks = b"".join(b"%x\r\n%b\r\n" % (len(piece), piece) for piece in (BODY[:9], BODY[9:]))
    await client.send(HEAD + b"Transfer-Encoding: chunked\r\n\r\n", chunks[:12], chunks[12:] + b"0\r\n\r\n")

    assert await client.answer() == (200, HELLO)


async def test_client_may_wait_for_100_continue(client):
    await client.send(HEAD + LENGTH + b"Expect: 100-continue\r\n\r\n")
    status, _ = await client.head()
    await client.send(BODY)

    assert status == 100
    assert await client.answer() == (200, HELLO)


async def test_head_has_no_body(client):
    await client.send(b"HEAD /graphql?query={hello} HTTP/1.1\r\nHost: x\r\n\r\n", REQUEST)

    status, headers = await client.head()

    assert (status, int(headers["content-length"])) == (200, len(json.dumps(HELLO, separators=(",", ":"))))
    assert await client.answer() == (200, HELLO)


@pytest.mark.parametrize(
    "request_",
    [REQUEST.replace(b"HTTP/1.1", b"HTTP/1.0"), REQUEST.replace(b"Host: x", b"Host: x\r\nConnection: close")],
    ids=["HTTP/1.0", "close"],
)
async def test_last_response_has_connection_close(client, request_):
    await client.send(request_)
    status, headers = await client.head()

    assert (status, headers["connection"]) == (200, "close")
    assert json.loads(await client.rest()) == HELLO


@pytest.mark.parametrize("sent", [REQUEST, REQUEST + b"\r\n"], ids=["nothing", "an empty line"])
async def test_idle_connection_is_closed(client, sent):
    await client.send(sent)
    await client.answer()

    assert await client.rest() == b""


async def test_incomplete_head_is_not_closed_as_idle():
    with serving(limiter=ConnectionLimiter(idle_seconds=1)) as server:
        async with connected(server) as client:
            await client.send(REQUEST)
            await client.answer()
            await client.send(REQUEST[:10])
            await asyncio.sleep(1.2)
            await client.send(REQUEST[10:])

            assert await client.answer() == (200, HELLO)


def start(*headers, status=200):
    return {"type": "http.response.start", "status": status, "headers": list(headers)}


def body(content, more=False):
    return {"type": "http.response.body", "body": content, "more_body": more}


UNUSUAL = {  # by path, the ASGI messages of a response
    "/short": [start((b"content-length", b"5")), body(b"1234")],
    "/long": [start((b"content-length", b"3")), body(b"1234")],
    "/split": [start((b"content-length", b"4"), (b"x-a", b"b\r\nx-c: d")), body(b"1234")],
    "/without-length": [start(), body(b"1234")],
    "/parts": [start((b"content-length", b"4")), body(b"12", more=True), body(b"34")],
    "/last": [start((b"content-length", b"4"), (b"connection", b"close")), body(b"1234")],
    "/empty": [start(status=204)],
    "/unchanged": [start((b"etag", b'"x"'), status=304), body(b"")],
    "/large": [start((b"content-length", b"%d" % 65_536)), body(b"1" * 65_536)],
    "/silent": [],
    "/whole": [start((b"content-length", b"4"), (b"x-a", b"b")), body(b"1234")],
    "/twice": [start((b"content-length", b"4"), (b"vary", b"a"), (b"vary", b"b")), body(b"1234")],
    "/capitals": [start((b"Content-Length", b"4")), body(b"1234")],
    "/control": [start((b"content-length", b"4"), (b"x-a", b"b\x00")), body(b"1234")],
    "/spaced": [start((b"content-length", b"4"), (b"x a", b"b")), body(b"1234")],
    "/percent": [start((b"content-length", b"4"), (b"x%b", b"%b")), body(b"1234")],
    "/again": [start((b"content-length", b"4")), body(b"1234"), body(b"1234")],
}
WHOLE = b"GET /whole HTTP/1.1\r\nHost: x\r\n\r\n"


async def unusual(scope, receive, send):
    for message in UNUSUAL[scope["path"]]:
        await send(message)
    if scope["path"] == "/empty":
        await send({"type": "http.response.body"})


@pytest.fixture(scope="module")
def unusual_server():
    with running(unusual, ConnectionLimiter()) as server:
        yield server


@pytest.mark.parametrize(
    ("path", "status", "rest"),
    [
        ("/silent", 500, b"Internal Server Error"),
        ("/without-length", 200, b"4\r\n1234\r\n0\r\n\r\n"),
        ("/parts", 200, b"1234"),
        ("/last", 200, b"1234"),
        ("/empty", 204, b""),
        ("/unchanged", 304, b""),
        ("/large", 200, b"1" * 65_536),
        ("/short", 200, b"1234"),
        ("/long", 200, b""),
    ],
)
async def test_unusual_response_is_sent_up_to_its_end(unusual_server, path, status, rest):
    async with connected(unusual_server) as client:
        await client.send(f"GET {path} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n".encode())
        found, headers = await client.head()

        assert (found, await client.rest()) == (status, rest)
        assert headers["connection"] == "close"


async def test_response_without_a_body_ends_with_its_head(unusual_server):
    async with connected(unusual_server) as client:
        await client.send(b"GET /unchanged HTTP/1.1\r\nHost: x\r\n\r\nGET /parts HTTP/1.1\r\nHost: x\r\n\r\n")
        found, headers = await client.head()

        assert (found, headers["etag"], "content-length" in headers) == (304, '"x"', False)
        assert await client.answer() == (200, 1234)


@pytest.mark.parametrize("path", ["split", "control", "spaced"])
async def test_header_with_refused_characters_is_not_sent(unusual_server, path):
    async with connected(unusual_server) as client:
        await client.send(f"GET /{path} HTTP/1.1\r\nHost: x\r\n\r\n".encode())

        assert await client.rest() == b""


async def test_second_body_is_not_sent(unusual_server):
    async with connected(unusual_server) as client:
        await client.send(WHOLE.replace(b"whole", b"again"))

        assert await client.answer() == (200, 1234)
        assert await client.rest() == b""


@pytest.mark.parametrize("path", ["whole", "twice", "capitals", "without-length", "parts"])
async def test_whole_responses_beside_others_on_one_connection(unusual_server, path):
    other = f"{{}} /{path} HTTP/1.1\r\nHost: x\r\n\r\n"
    async with connected(unusual_server) as client:
        await client.send(WHOLE + other.format("GET").encode() + WHOLE + other.format("HEAD").encode() + WHOLE)
        assert await client.answer() == (200, 1234)
        _, headers = await client.head()
        length = 4 if "content-length" in headers else len(b"4\r\n1234\r\n0\r\n\r\n")
        assert b"1234" in await client.reader.readexactly(length)
        assert await client.answer() == (200, 1234)
        assert (await client.head())[1].get("content-length") == headers.get("content-length")
        assert await client.answer() == (200, 1234)


async def test_first_of_pipelined_requests_sees_a_disconnect_and_the_others_are_not_started():
    started, seen = [], []

    async def waiting(scope, receive, send):
        started.append(scope["path"])
        await receive()
        seen.append((await receive())["type"])

    with running(waiting, ConnectionLimiter()) as server:
        async with connected(server) as client:
            await client.send(REQUEST * 3)
            await asyncio.sleep(0.1)
        await until(lambda: seen)
        await asyncio.sleep(0.1)
    assert seen == ["http.disconnect"]
    assert started == ["/graphql"]


async def test_timeout_of_a_request_behind_a_slow_one_begins_after_that():
    """While the slow one is executed, nothing more is read from the connection."""

    async def slow(scope, receive, send):
        if scope["path"] == "/slow":
            await asyncio.sleep(0.6)
        while (await receive())["more_body"]:
            pass
        await send(start((b"content-length", b"4")))
        await send(body(b"1234"))

    with running(slow, ConnectionLimiter(request_seconds=0.4)) as server:
        async with connected(server) as client:
            await client.send(WHOLE.replace(b"whole", b"slow") + HEAD + LENGTH + b"\r\n")
            assert await client.answer() == (200, 1234)
            await client.send(BODY)
            assert await client.answer() == (200, 1234)
