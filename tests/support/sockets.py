"""WebSockets and streams of a running server, and how they end."""

import asyncio
import json
from typing import Any

import httpx
import pytest
from websockets.asyncio.client import ClientConnection, connect
from websockets.exceptions import ConnectionClosed

from tests.servers import PATIENCE

SUBSCRIPTION = "subscription { articlePosted { id } }"
# the extensions of the error with which a socket or a stream of a session that has ended is closed
ENDED = {"code": "UNAUTHENTICATED", "session": "ended"}


async def opened_socket(url: str, token: str) -> tuple[ClientConnection, Any]:
    """A socket that has subscribed, and what it answers to a query for the viewer."""
    socket = await connect(f"{url.replace('http', 'ws')}/graphql", subprotocols=["graphql-transport-ws"])
    await socket.send(json.dumps({"type": "connection_init", "payload": {"Authorization": f"Bearer {token}"}}))
    assert json.loads(await asyncio.wait_for(socket.recv(), PATIENCE))["type"] == "connection_ack"
    await socket.send(json.dumps({"type": "subscribe", "id": "1", "payload": {"query": SUBSCRIPTION}}))
    viewer = await asked(socket, "{ viewer { username isBanned } }")
    return socket, viewer


async def asked(socket: ClientConnection, query: str) -> Any:
    """The data of the answer to a query over a socket, which comes after the subscription has begun."""
    await socket.send(json.dumps({"type": "subscribe", "id": "2", "payload": {"query": query}}))
    answer, complete = [json.loads(await asyncio.wait_for(socket.recv(), PATIENCE)) for _ in range(2)]
    assert (answer["id"], complete["type"]) == ("2", "complete")
    return answer["payload"]["data"]


async def close_code(socket: ClientConnection) -> int:
    """Read until the server closes a socket, and return its close code."""
    with pytest.raises(ConnectionClosed) as closed:
        while True:
            await asyncio.wait_for(socket.recv(), PATIENCE)
    assert closed.value.rcvd is not None
    return closed.value.rcvd.code


async def last_event(response: httpx.Response) -> list[str]:
    """What a stream of events ends with."""
    lines = [line async for line in response.aiter_lines() if line.startswith(("event: ", "data: {"))]
    return lines[-2:]
