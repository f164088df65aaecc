"""
Sockets and streams with the token of an identity provider: they end with the token, and go on with a newer one.

Codes such as U1 name rows of docs/behaviours.md.
"""

import asyncio
import json
import time
from contextlib import AsyncExitStack

import httpx
import pytest
from websockets.asyncio.client import connect

from tests.server.conftest import serving
from tests.server.issuers import issuing
from tests.server.issuers.issuing import EC, OTHER_RSA, RSA, Tokens
from tests.servers import PATIENCE
from tests.support.sockets import ENDED, SUBSCRIPTION, asked, close_code, last_event, opened_socket

CONNECTIONS = 4  # some to each process
BAN = 'mutation($id: ID!) { banUser(input: {userId: $id, reason: "noise"}) { userErrors { code } } }'
DELETE = "mutation { deleteUser(input: {}) { deletedUserId userErrors { code } } }"
VIEWER = {"viewer": {"username": "Ada", "isBanned": False}}


def tokens(key=RSA):
    return Tokens(key=key, now=time.time())


@pytest.fixture
def live(tmp_path):
    """A server of two processes, and the file with the keys of its issuer."""
    table = {**issuing.TABLE, "claims": {"name": "name", "roles": "roles"}, "roles": {"admin": ["boss"]}, "admin": True}
    file = issuing.written(tmp_path, table)
    with serving(tmp_path / "data", workers=2, partitions=4, issuers=file) as live:
        live.keys = tmp_path / "keys.json"
        yield live


async def ask(live, query, token, **variables):
    return (await asyncio.to_thread(live.ask, query, token, **variables))["data"]


async def opened(live, token, stack):
    """Sockets and streams of a token."""
    sockets = []
    for _ in range(CONNECTIONS):
        socket, viewer = await opened_socket(live.url, token)
        assert viewer["viewer"]["username"]
        sockets.append(socket)
    http = await stack.enter_async_context(httpx.AsyncClient(timeout=PATIENCE))
    headers = {"accept": "text/event-stream", "authorization": f"Bearer {token}"}
    given = {"json": {"query": SUBSCRIPTION}, "headers": headers}
    streams = [await stack.enter_async_context(http.stream("POST", f"{live.url}/graphql", **given)) for _ in range(2)]
    return sockets, streams


async def ended(sockets, streams):
    """Wait until all of them have ended, and say that the session has."""
    assert await asyncio.gather(*map(close_code, sockets)) == [4403] * len(sockets)
    for data, complete in await asyncio.gather(*map(last_event, streams)):
        assert json.loads(data.removeprefix("data: "))["errors"][0]["extensions"] == ENDED
        assert complete == "event: complete"


@pytest.mark.slow
async def test_sockets_and_streams_end_at_the_end_of_the_token(live):  # U1
    ends = int(time.time()) + 6
    async with AsyncExitStack() as stack:
        await ended(*await opened(live, tokens().token(name="Ada", exp=ends), stack))

    assert -0.5 < time.time() - ends < PATIENCE


@pytest.mark.slow
async def test_sockets_and_streams_end_with_a_ban_a_deletion_and_a_key(live):  # U1, U3

    async def ban(token, name):
        boss = tokens().token("boss", name="Boss", roles=["boss"])
        assert (await ask(live, BAN, boss, id=f"user:{name}"))["banUser"]["userErrors"] == []

    async def delete(token, name):
        assert (await ask(live, DELETE, token))["deleteUser"]["userErrors"] == []

    async def revoke(token, name):
        live.keys.write_text(issuing.key_set(EC, OTHER_RSA))

    for number, end in enumerate((ban, delete, revoke)):
        token = tokens().token(f"of {end.__name__}", name=f"ada{number}", auth_time=int(time.time()))
        async with AsyncExitStack() as stack:
            opened_before = await opened(live, token, stack)
            await end(token, f"ada{number}")
            await ended(*opened_before)

    assert (await asyncio.to_thread(live.post, {"query": "{ viewer { id } }"}, bearer(token))).status_code == 401


@pytest.mark.slow
async def test_ping_goes_on_with_a_newer_token_of_the_same_user(live):  # U1
    async def ping(socket, token):
        await socket.send(json.dumps({"type": "ping", "payload": {"Authorization": f"Bearer {token}"}}))

    ends = int(time.time()) + 5
    socket, viewer = await opened_socket(live.url, tokens().token(name="Ada", exp=ends))
    others = [(await opened_socket(live.url, tokens().token(name="Ada")))[0] for _ in range(3)]
    assert viewer == VIEWER

    await ping(socket, tokens().token(name="Ada", jti="newer"))
    assert json.loads(await socket.recv()) == {"type": "pong"}
    await asyncio.sleep(max(0, ends + 2 - time.time()))
    assert await asked(socket, "{ viewer { username isBanned } }") == VIEWER

    wrong = [tokens().token("2", name="Bob"), tokens().token(aud="other"), tokens().token(exp=1)]
    for other, token in zip(others, wrong, strict=True):
        await ping(other, token)
        assert await close_code(other) == 4403
    await socket.close()


async def test_socket_with_a_forged_token_is_closed_with_the_reason(live):  # U2
    socket = await connect(f"{live.url.replace('http', 'ws')}/graphql", subprotocols=["graphql-transport-ws"])
    payload = {"Authorization": f"Bearer {tokens().token(aud='other')}"}
    await socket.send(json.dumps({"type": "connection_init", "payload": payload}))

    assert await close_code(socket) == 4403
    assert socket.close_reason == "the token is not accepted: audience"


def bearer(token):
    return {"authorization": f"Bearer {token}"}
