"""Answers that nobody reads: how much of them waits, for a connection and for an address, and what is said beyond."""

import asyncio
import json
from contextlib import AsyncExitStack

import httpx
import pytest

from server.http_limits.connections import ConnectionLimiter
from server.http_limits.unread_answers import UnreadAnswers
from tests.engine.sample import CONTEXTS, serving, until
from tests.server.http_limits.test_protocols import INIT, LARGE, UPGRADE, deaf, message, request

HERE = "127.0.0.1"
ANSWER = 20 * 90_000  # bytes
VARIABLES = {"x": "x" * 90_000}
OTHERS = [{**LARGE, "variables": {"x": letter * 90_000}} for letter in "abcdefghijklmnopqr"]


@pytest.fixture
def limiter():
    return ConnectionLimiter(unread_answers=UnreadAnswers(max_per_connection=2_000_000, max_per_address=5_000_000))


@pytest.fixture
def server(limiter):
    with serving(limiter=limiter, max_message=100_000) as running:
        yield running


async def deaf_clients(stack, server, limiter, *pieces, **options):
    """Clients that do not read, until the answers of their address are at its bound."""
    count = 0
    while limiter.unread_answers.waiting(HERE) <= 5_000_000 - ANSWER:
        count += 1
        assert count < 20
        before = limiter.unread_answers.waiting(HERE)
        await stack.enter_async_context(deaf(server, limiter, *pieces, connections=count, **options))
        await until(lambda before=before: limiter.unread_answers.waiting(HERE) > before)


async def test_answers_that_wait_count_against_their_address(server, limiter):
    async with httpx.AsyncClient(base_url=server.url) as client:
        async with AsyncExitStack() as deaf_ones:
            await deaf_clients(deaf_ones, server, limiter, *map(request, OTHERS))

            refused = await client.post("", json={**LARGE, "variables": VARIABLES})
            assert refused.status_code == 429
            assert refused.json()["errors"] == [
                {
                    "message": "more than 5000000 bytes of answers to this address wait to be read",
                    "extensions": {"code": "TOO_MUCH_UNREAD"},
                }
            ]
            assert (await client.post("", json={"query": "{ hello }"})).json() == {"data": {"hello": "hello world"}}
            assert limiter.unread_answers.waiting(HERE) <= 5_000_000
        await until(lambda: limiter.unread_answers.waiting(HERE) == 0)

        assert (await client.post("", json={**LARGE, "variables": VARIABLES})).status_code == 200


async def test_answers_that_wait_count_against_their_socket(server, limiter):
    """Operations that are answered at once on a socket that is not read: what does not fit is refused in its turn."""
    CONTEXTS.opened.clear()
    asked = [{"id": str(number), "type": "subscribe", "payload": each} for number, each in enumerate(OTHERS)]
    async with deaf(server, limiter, message(INIT), *map(message, asked), told_first=UPGRADE) as client:
        await until(lambda: len(CONTEXTS.opened) == len(OTHERS))
        assert limiter.unread_answers.waiting(HERE) <= 2_000_000
        ended = [each async for each in messages(client, until=len(OTHERS))]

    refused = [each["payload"][0] for each in ended if each["type"] == "error"]
    assert refused and len(refused) < len(OTHERS)
    assert {each["extensions"]["code"] for each in refused} == {"TOO_MUCH_UNREAD"}
    assert refused[0]["message"] == "more than 2000000 bytes of answers to this connection wait to be read"


async def messages(client, until):
    """The messages that end operations, until there were so many; all others are left out."""
    loop, said = asyncio.get_running_loop(), b""
    while until:
        while len(said) < 10 or len(said) < size_of(said):
            received = await loop.sock_recv(client, 1_000_000)
            assert received, "the server hung up"
            said += received
        frame, said = said[: size_of(said)], said[size_of(said) :]
        heard = json.loads(frame[frame.index(b"{") :])
        if heard["type"] in ("complete", "error"):
            until -= 1
            yield heard


def size_of(said):
    """How many bytes the first of these WebSocket frames has."""
    short = said[1]
    if short < 126:
        return 2 + short
    return 4 + int.from_bytes(said[2:4]) if short == 126 else 10 + int.from_bytes(said[2:10])


async def test_stream_that_is_not_read_ends_at_the_bound():
    """An event larger than what may wait beside another; a reader that takes it in time hears all of them."""
    limiter = ConnectionLimiter(unread_answers=UnreadAnswers(max_per_connection=1_000_000))
    with serving(limiter=limiter) as server:
        subscription = request({"query": "subscription { forever(size: 900000) }"}, "text/event-stream")
        async with deaf(server, limiter, subscription) as client:
            await until(lambda: limiter.unread_answers.waiting(HERE) > 0)
            said = b""
            while b"event: complete" not in said:
                said = said[-1_000:] + await asyncio.get_running_loop().sock_recv(client, 1_000_000)

    assert b"TOO_MUCH_UNREAD" in said


async def test_answers_are_counted_no_more_when_they_were_read(server, limiter):
    async with httpx.AsyncClient(base_url=server.url) as client:
        for each in OTHERS:
            assert (await client.post("", json=each)).status_code == 200

    await until(lambda: limiter.unread_answers.waiting(HERE) == 0 and not limiter.open)
    assert not limiter.unread_answers._connections
