"""
Ended sessions, as clients of a whole server learn of them over each transport.

The fixture `live` is a running server with an article, which the tests share.
"""

import asyncio
import json

import httpx
import pytest
from websockets.asyncio.client import connect

from tests.server.conftest import REGISTER
from tests.servers import PATIENCE

PAGE = "{ articles(first: 3) { nodes { title viewerVote } } }"
ENDED = {"session": "ended"}


@pytest.fixture(scope="module")
def tokens(live):
    """The token of a session, and one of a session that has ended."""
    alive, dead = (live.ask(REGISTER.replace("alice", name))["data"]["register"]["token"] for name in ("alive", "dead"))
    live.ask("mutation { logOut { userErrors { code } } }", dead)
    return alive, dead


def test_ended_session_is_in_the_http_answer_which_is_not_cacheable(live, tokens):
    _, dead = tokens
    headers = {"Authorization": f"Bearer {dead}"}

    got = httpx.get(f"{live.url}/graphql", params={"query": PAGE}, headers=headers, timeout=PATIENCE)

    assert got.json()["extensions"] == live.ask(PAGE, dead)["extensions"] == ENDED
    assert (got.headers["cache-control"], got.headers["vary"]) == (
        "private, no-store",
        "Accept, Accept-Encoding, Authorization",
    )


async def test_equal_queries_at_once_are_answered_by_token(live, tokens):
    """They are coalesced by token, and share the JSON of articles: only those with the ended one may say so."""
    alive, dead = tokens
    async with httpx.AsyncClient(base_url=live.url, timeout=PATIENCE) as http:

        async def ask(token):
            headers = {"Authorization": f"Bearer {token}"} if token else {}
            return (await http.post("/graphql", json={"query": PAGE}, headers=headers)).json()

        asked = [None, dead, alive, dead, None, alive] * 8
        answers = await asyncio.gather(*map(ask, asked))

    assert [answer.get("extensions") for answer in answers] == [ENDED if token == dead else None for token in asked]
    assert {json.dumps(answer["data"]) for answer, token in zip(answers, asked, strict=True) if token != alive} == {
        json.dumps(answers[0]["data"])
    }


async def test_websocket_answers_and_refusals_report_the_ended_session(live, tokens):
    _, dead = tokens
    async with connect(f"{live.url.replace('http', 'ws')}/graphql", subprotocols=["graphql-transport-ws"]) as socket:

        async def ask(query):
            await socket.send(json.dumps({"type": "subscribe", "id": "1", "payload": {"query": query}}))
            return await receive()

        async def receive():
            return json.loads(await asyncio.wait_for(socket.recv(), PATIENCE))

        await socket.send(json.dumps({"type": "connection_init", "payload": {"Authorization": f"Bearer {dead}"}}))
        assert (await receive())["type"] == "connection_ack"
        page, complete = await ask(PAGE), await receive()
        event = await ask("subscription { rankingChanged(first: 1) { articles { viewerVote } } }")
        await socket.send(json.dumps({"type": "complete", "id": "1"}))
        refused = await ask("subscription { feedArticle { id } }")

    assert (page["payload"]["extensions"], complete["type"]) == (ENDED, "complete")
    assert event["payload"]["extensions"] == ENDED
    assert refused["type"] == "error"
    assert refused["payload"][0]["extensions"] == {"code": "UNAUTHENTICATED", "session": "ended"}


def test_refused_stream_reports_the_ended_session(live, tokens):
    _, dead = tokens

    def refusal(**headers):
        accept = {"accept": "text/event-stream"}
        request = {"query": "subscription { feedArticle { id } }"}
        text = httpx.post(f"{live.url}/graphql", json=request, headers=accept | headers, timeout=PATIENCE).text
        (data,) = [line.removeprefix("data: ") for line in text.splitlines() if line.startswith("data: {")]
        return json.loads(data)["errors"][0]["extensions"]

    assert refusal(authorization=f"Bearer {dead}") == {"code": "UNAUTHENTICATED", "session": "ended"}
    assert refusal() == {"code": "UNAUTHENTICATED"}
