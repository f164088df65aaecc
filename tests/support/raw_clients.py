"""Clients that send and read bytes: of HTTP requests, and of messages over a WebSocket."""

import asyncio
import json
import socket
from contextlib import asynccontextmanager

from websockets.frames import Frame, Opcode

from tests.engine.sample import until

POST = b"POST /graphql HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n"
# a query with a large answer, and a subscription without an end, of the schema in tests/engine/sample.py
LARGE = {"query": "query ($x: ID!) {" + "".join(f" a{n}: echo(id: $x)" for n in range(20)) + "}"}
ENDLESS = "subscription { forever(size: 100000) }"
UPGRADE = (
    b"GET /graphql HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\n"
    b"Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Protocol: graphql-transport-ws\r\n\r\n"
)
INIT = {"type": "connection_init"}
SUBSCRIBE = {"id": "1", "type": "subscribe", "payload": {"query": ENDLESS}}


def message(content):
    return Frame(Opcode.TEXT, json.dumps(content).encode()).serialize(mask=True)


def request(content, accept="application/json"):
    body = json.dumps(content).encode()
    return POST + f"Accept: {accept}\r\nContent-Length: {len(body)}\r\n\r\n".encode() + body


@asynccontextmanager
async def unreading_client(server, limiter, *pieces, first=b"", connections=1):
    """
    A client that sends pieces of bytes and does not read the answers, which exceed its small receive buffer. `first` is
    sent before them, and its answer is read. `connections` is how many the `limiter` of the server counts then.
    """
    with socket.socket() as client:
        client.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 32_768)
        client.setblocking(False)
        loop = asyncio.get_running_loop()
        await loop.sock_connect(client, ("127.0.0.1", server.port))
        await until(lambda: limiter.open.total() == connections)
        if first:
            await loop.sock_sendall(client, first)
            await loop.sock_recv(client, 4096)
        for piece in pieces:
            await loop.sock_sendall(client, piece)
        yield client


class RawClient:
    """A client that reads one response after another."""

    def __init__(self, reader, writer):
        self.reader, self.writer = reader, writer

    async def send(self, *pieces):
        for piece in pieces:
            self.writer.write(piece)
            await self.writer.drain()

    async def head(self):
        """Status, and headers by their names in small letters."""
        status, *lines = (await self.reader.readuntil(b"\r\n\r\n")).decode().split("\r\n")[:-2]
        return int(status.split()[1]), dict(line.lower().split(": ", 1) for line in lines)

    async def answer(self):
        status, headers = await self.head()
        return status, json.loads(await self.reader.readexactly(int(headers["content-length"])))

    async def rest(self):
        return await self.reader.read()


@asynccontextmanager
async def connected(server):
    reader, writer = await asyncio.open_connection("127.0.0.1", server.port)
    yield RawClient(reader, writer)
    writer.close()
    await writer.wait_closed()
