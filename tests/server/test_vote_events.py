"""A server receives votes from other processes only while it has sockets or streams of subscriptions."""

import asyncio
import json

import httpx
import pytest

from store import keys
from tests.server.conftest import POST, REGISTER, redis_of, serving
from tests.servers import PATIENCE
from tests.support.sockets import asked, opened_socket

CHANGED = "subscription($id: ID!) { articleChanged(id: $id) { votes } }"
VOTE = """mutation($id: ID!, $value: VoteValue) {
  vote(input: {articleId: $id, value: $value}) { userErrors { code } } }"""


@pytest.fixture(scope="module")
def served(tmp_path_factory):
    """A server, a client of its Valkey, the token of alice, and the id of her article."""
    folder = tmp_path_factory.mktemp("votes")
    with serving(folder) as live:
        token = live.ask(REGISTER)["data"]["register"]["token"]
        yield live, redis_of(folder), token, live.ask(POST, token)["data"]["post"]["article"]["id"]


def receivers(redis):
    """How many processes receive the votes of the only partition."""
    ((_, count),) = redis.pubsub_numsub(keys.vote_events(0))
    return count


async def test_votes_are_received_while_there_is_a_socket(served):
    live, redis, token, article = served
    other = (await asyncio.to_thread(live.ask, REGISTER.replace("alice", "bob")))["data"]["register"]["token"]
    assert receivers(redis) == 0

    socket, _ = await opened_socket(live.url, token)
    assert receivers(redis) == 1
    payload = {"query": CHANGED, "variables": {"id": article}}
    await socket.send(json.dumps({"type": "subscribe", "id": "3", "payload": payload}))
    await asked(socket, "{ viewer { username } }")
    for value, votes in (("UP", 2), ("DOWN", 0)):
        await asyncio.to_thread(live.ask, VOTE, other, id=article, value=value)
        message = json.loads(await asyncio.wait_for(socket.recv(), PATIENCE))
        assert (message["id"], message["payload"]["data"]) == ("3", {"articleChanged": {"votes": votes}})
    await socket.close()


async def test_votes_are_received_while_there_is_a_stream(served):
    live, redis, token, article = served
    headers = {"accept": "text/event-stream", "authorization": f"Bearer {token}"}
    body = {"query": CHANGED, "variables": {"id": article}}
    async with (
        httpx.AsyncClient(timeout=PATIENCE) as http,
        http.stream("POST", f"{live.url}/graphql", json=body, headers=headers),
        asyncio.timeout(PATIENCE),
    ):
        while receivers(redis) == 0:  # noqa: ASYNC110 - no event says when it changes
            await asyncio.sleep(0.01)
        assert receivers(redis) == 1
