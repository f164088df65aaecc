"""
WebSockets and streams whose client loses its session while they are open.

M6 is a row of `docs/behaviours.md`, which these tests prove.
"""

import asyncio
import json
from contextlib import contextmanager
from functools import partial

import httpx
import pytest
from websockets.exceptions import ConnectionClosed

from tests.engine.messages import initialise, receive, subscribe
from tests.engine.sample import serving, until

SILENCE = "subscription { silence }"
ENDED = [{"message": "the session has ended", "extensions": {"code": "UNAUTHENTICATED", "session": "ended"}}]


class Sessions:
    """The sessions of open connections. `ends` has a function by token, which a test calls to end that session."""

    def __init__(self):
        self.ends = {}

    @contextmanager
    def watch(self, client, on_end):
        self.ends[client.token] = partial(asyncio.get_running_loop().call_soon_threadsafe, on_end)
        yield
        del self.ends[client.token]


@pytest.fixture
def sessions():
    return Sessions()


@pytest.fixture
def watched(sessions):
    with serving(watch_session=sessions.watch) as running:
        yield running


async def test_socket_of_an_ended_session_is_closed_and_others_stay_open(watched, sessions, contexts):  # M6
    async with watched.socket() as ended, watched.socket() as other:
        for token, socket in (("a", ended), ("b", other)):
            await initialise(socket, {"token": token})
            await subscribe(socket, SILENCE)
        await until(lambda: contexts.streams_started == 2)
        sessions.ends["a"]()
        with pytest.raises(ConnectionClosed) as closed:
            await ended.recv()
        await subscribe(other, "{ whoami }", "2")

        assert (closed.value.rcvd.code, closed.value.rcvd.reason) == (4403, "the session has ended")
        assert (await receive(other))["payload"] == {"data": {"whoami": "b"}}
        assert list(sessions.ends) == ["b"]
        await until(lambda: contexts.streams_ended == 1)
    await until(lambda: not sessions.ends)


@pytest.mark.parametrize(
    ("accept", "last"),
    [
        ("text/event-stream", "event: next\ndata: %s\n\nevent: complete\ndata: \n\n"),
        (
            'multipart/mixed;boundary="graphql";subscriptionSpec=1.0',
            '\r\nContent-Type: application/json\r\n\r\n{"payload":%s}\r\n--graphql--\r\n',
        ),
    ],
)
async def test_stream_of_an_ended_session_ends_with_a_refusal(watched, sessions, contexts, accept, last):  # M6
    headers = {"accept": accept, "authorization": "Bearer a"}
    async with httpx.AsyncClient(base_url=watched.url) as http:
        asked = asyncio.create_task(http.post("", json={"query": SILENCE}, headers=headers))
        await until(lambda: contexts.streams_started == 1)
        sessions.ends["a"]()
        response = await asked

    refusal = json.dumps({"errors": ENDED}, separators=(",", ":"))
    assert response.text.endswith(last % refusal)
    assert not sessions.ends
    assert contexts.streams_ended == 1
