"""The client's side of the graphql-transport-ws protocol."""

import json


async def send(socket, **message):
    await socket.send(json.dumps(message))


async def receive(socket):
    return json.loads(await socket.recv())


async def initialise(socket, payload=None):
    await send(socket, type="connection_init", payload=payload)
    assert await receive(socket) == {"type": "connection_ack"}


async def subscribe(socket, query, identifier="1", **rest):
    await send(socket, id=identifier, type="subscribe", payload={"query": query, **rest})
