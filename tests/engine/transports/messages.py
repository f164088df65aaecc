"""The client's side of a conversation on a socket."""

import json


async def say(socket, **message):
    await socket.send(json.dumps(message))


async def hear(socket):
    return json.loads(await socket.recv())


async def introduce(socket, payload=None):
    await say(socket, type="connection_init", payload=payload)
    assert await hear(socket) == {"type": "connection_ack"}


async def subscribe(socket, query, identifier="1", **rest):
    await say(socket, id=identifier, type="subscribe", payload={"query": query, **rest})
