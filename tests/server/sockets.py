"""WebSockets of users who are logged in, which subscribe to new articles."""

import asyncio
import json

import pytest
from websockets.asyncio.client import connect
from websockets.exceptions import ConnectionClosed

from tests.servers import PATIENCE

SUBSCRIPTION = "subscription { articlePosted { id } }"


async def opened_socket(live, token):
    socket = await connect(f"{live.url.replace('http', 'ws')}/graphql", subprotocols=["graphql-transport-ws"])
    await socket.send(json.dumps({"type": "connection_init", "payload": {"Authorization": f"Bearer {token}"}}))
    assert json.loads(await asyncio.wait_for(socket.recv(), PATIENCE))["type"] == "connection_ack"
    await socket.send(json.dumps({"type": "subscribe", "id": "1", "payload": {"query": SUBSCRIPTION}}))
    viewer = await asked(socket, "{ viewer { username isBanned } }")
    return socket, viewer


async def asked(socket, query):
    """The data of the answer to a query over a socket, which comes after the subscription has begun."""
    await socket.send(json.dumps({"type": "subscribe", "id": "2", "payload": {"query": query}}))
    answer, complete = [json.loads(await asyncio.wait_for(socket.recv(), PATIENCE)) for _ in range(2)]
    assert (answer["id"], complete["type"]) == ("2", "complete")
    return answer["payload"]["data"]


async def close_code(socket):
    with pytest.raises(ConnectionClosed) as closed:
        await asyncio.wait_for(socket.recv(), PATIENCE)
    return closed.value.rcvd.code
