"""Requests on a connection that is used again: each means the same as the first request of a connection."""

import json
from itertools import product

import pytest

from server.http.connections import ConnectionLimiter
from tests.engine.sample import running
from tests.support.raw_clients import connected

POST = b"POST /a%%62?c=d HTTP/1.1\r\nHost: x\r\nContent-Length: %d\r\nX-Y: z\r\n\r\n%b"
REQUESTS = {
    "body": POST % (3, b"one"),
    "longer body": POST % (12, b"one\r\n\r\nthree"),
    "no body": POST % (0, b""),
    "body like a request": POST % (len(POST), POST),
    "large body": POST % (90_000, b"x" * 90_000),
    "length last": b"POST /ab HTTP/1.1\r\nHost: x\r\ncontent-length:3\r\n\r\ntwo",
    "empty line": b"\r\n" + POST % (3, b"one"),
    "other header": b"POST /a%62?c=d HTTP/1.1\r\nHost: x\r\nContent-Length: 3\r\nX-Y: y\r\n\r\none",
    "another header": b"POST /a%62?c=d HTTP/1.1\r\nHost: x\r\nContent-Length: 3\r\nX-Y: z\r\nX-Z: z\r\n\r\none",
    "no length": b"GET /ab HTTP/1.1\r\nHost: x\r\n\r\n",
    "chunks": b"POST /a%62?c=d HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n3\r\none\r\n0\r\n\r\n",
    "other upgrade": b"POST /ab HTTP/1.1\r\nConnection: Upgrade\r\nUpgrade: h2c\r\nContent-Length: 3\r\n\r\none",
}
WRONG = {
    "two lengths": b"POST /ab HTTP/1.1\r\nHost: x\r\nContent-Length: 3\r\nContent-Length: 3\r\n\r\none",
    "length and chunks": b"POST /ab HTTP/1.1\r\nContent-Length: 3\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
    "no number": POST.replace(b"%d", b"+3") % b"one",
    "number in two lines": POST.replace(b"%d", b"\r\n 3") % b"one",
}
LAST = b"POST /ab HTTP/1.1\r\nHost: x\r\nConnection: close\r\nContent-Length: 3\r\n\r\nend"


async def echo(scope, receive, send):
    """Answer with the request as the application sees it, then modify what the application was given."""
    message = await receive()
    body = message["body"]
    while message["more_body"]:
        message = await receive()
        body += message["body"]
    names = ("method", "http_version", "path", "raw_path", "query_string", "headers", "state")
    answer = json.dumps({name: str(scope[name]) for name in names} | {"body": body.decode()}).encode()
    scope["state"]["seen"] = True
    scope["headers"].append((b"seen", b"1"))
    scope["path"] = "/seen"
    await send({"type": "http.response.start", "status": 200, "headers": [(b"content-length", b"%d" % len(answer))]})
    await send({"type": "http.response.body", "body": answer})


@pytest.fixture(scope="module")
def server():
    with running(echo, ConnectionLimiter()) as server:
        yield server


async def answers_to(server, *requests):
    """The status and the JSON of the answers to requests sent one after another on one connection."""
    async with connected(server) as client:
        answers = []
        for request in requests:
            await client.send(request)
            answers.append(await client.answer())
        return answers


@pytest.fixture
async def first(server):
    """The answers to each request as the first of a connection."""
    return {name: (await answers_to(server, request))[0] for name, request in REQUESTS.items()}


async def test_request_means_the_same_after_any_other(server, first):
    for before, name in product(REQUESTS, REQUESTS):
        names = [before, before, name, name, before]

        assert await answers_to(server, *(REQUESTS[one] for one in names)) == [first[one] for one in names]


async def test_request_may_arrive_in_any_pieces(server, first):
    usual = REQUESTS["body"]
    for end in range(1, len(usual)):
        async with connected(server) as client:
            begin, rest = usual[:end], usual[end:]
            for piece in (usual, begin, rest + begin, rest, usual):
                await client.send(piece)
                if piece != begin:  # else no request is complete
                    assert await client.answer() == first["body"]


async def test_pipelined_requests_mean_the_same(server, first):
    async with connected(server) as client:
        await client.send(REQUESTS["body"])
        await client.answer()
        names = ["body", "body", "longer body", "no body", "body"]
        await client.send(b"".join(REQUESTS[name] for name in names))

        assert [await client.answer() for _ in names] == [first[name] for name in names]


@pytest.mark.parametrize("wrong", WRONG.values(), ids=WRONG)
async def test_ambiguous_request_is_refused_after_any_other(server, wrong):
    async with connected(server) as client:
        for _ in range(2):
            await client.send(REQUESTS["body"])
            await client.answer()
        await client.send(wrong)

        assert (await client.answer())[0] == 400
        assert await client.rest() == b""


async def test_connection_close_is_honoured_after_other_requests(server):
    async with connected(server) as client:
        for _ in range(2):
            await client.send(REQUESTS["body"])
            await client.answer()
        await client.send(LAST)
        status, headers = await client.head()

        assert (status, headers["connection"]) == (200, "close")
        assert json.loads(await client.rest())["body"] == "end"


async def test_client_may_wait_for_100_continue_again(server):
    head, body = POST.replace(b"X-Y", b"Expect: 100-continue\r\nX-Y") % (3, b"one"), b"one"
    async with connected(server) as client:
        for _ in range(3):
            await client.send(REQUESTS["body"])
            await client.answer()
            await client.send(head.removesuffix(body))
            assert (await client.head())[0] == 100
            await client.send(body)
            assert (await client.answer())[0] == 200


@pytest.mark.parametrize(
    ("url", "path", "raw_path", "query"),
    [
        (b"/graphql", "/graphql", b"/graphql", b""),
        (b"/graph%71l?query=%7Bx%7D", "/graphql", b"/graph%71l", b"query=%7Bx%7D"),
        (b"/%C3%A9?a?b", "/\u00e9", b"/%C3%A9", b"a?b"),
        (b"http://host:1/a?b", "/a", b"/a", b"b"),
        (b"/a?" + b"x" * 1_000, "/a", b"/a", b"x" * 1_000),
    ],
)
async def test_url_is_split_into_path_and_query(server, url, path, raw_path, query):
    request = b"POST %b HTTP/1.1\r\nHost: x\r\nContent-Length: 0\r\n\r\n" % url
    for _, seen in await answers_to(server, request, request):
        assert (seen["path"], seen["raw_path"], seen["query_string"]) == (path, str(raw_path), str(query))


async def test_url_without_a_path_is_refused(server):
    async with connected(server) as client:
        await client.send(b"CONNECT host:1 HTTP/1.1\r\nHost: x\r\n\r\n")

        assert (await client.answer())[0] == 400
