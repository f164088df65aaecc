"""
Subscribes many sockets with one query, in a process of its own that does little for a message: it counts what arrives,
without asyncio and without parsing.

    python -m bench.listeners PORT COUNT QUERY

It is controlled by lines on standard input, and answers with lines on standard output:

- at the start it writes `open` once the server has acknowledged all sockets;
- to `subscribe` it subscribes all sockets, and writes nothing;
- to `expect` it writes `expecting` and then, once each socket has one more message, when the last one came: seconds of
  `perf_counter`, which all processes of a machine share.

A socket that the server closes, or that receives an error, ends the process with a message; one for which the store did
not answer in time subscribes again.
"""

import os
import select
import socket
import sys
from contextlib import suppress
from time import perf_counter

import orjson

ERROR, NEXT = b'"type":"error"', b'"type":"next"'
UNAVAILABLE = b'"UNAVAILABLE"'  # the store did not answer in time on a busy machine
PING, PONG = b"\x89\x04", 0x8A  # the first bytes of frames: a ping has four bytes, which its pong repeats
HANDSHAKE = (
    b"GET /graphql HTTP/1.1\r\nHost: bench\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
    b"Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\n"
    b"Sec-WebSocket-Protocol: graphql-transport-ws\r\n\r\n"
)
OPENED_AT_ONCE = 100
PAUSE = 0.2  # seconds: a server refuses subscriptions when too many of them wait for the store


class Listeners:
    """The sockets of this process, and which of them wait for a message."""

    def __init__(self, port: int, query: str) -> None:
        self._port = port
        self._subscription = frame({"type": "subscribe", "id": "1", "payload": {"query": query}})
        self._sockets: dict[int, socket.socket] = {}
        self._unsubscribed: list[socket.socket] = []  # that are to be subscribed
        self._poll = select.epoll()
        self._expecting: set[int] = set()  # file numbers of the sockets that wait for a message
        self._poll.register(sys.stdin.fileno(), select.EPOLLIN)

    def open(self, count: int) -> None:
        for first in range(0, count, OPENED_AT_ONCE):
            some = [self._connected() for _ in range(min(OPENED_AT_ONCE, count - first))]
            for each in some:
                self._read_until(each, b"\r\n\r\n")
                each.sendall(frame({"type": "connection_init"}))
            for each in some:
                self._read_until(each, b"connection_ack")
                each.setblocking(False)
                self._sockets[each.fileno()] = each
                self._poll.register(each.fileno(), select.EPOLLIN)
            self._take(0)  # answers the pings that have come meanwhile
        print("open", flush=True)

    def run(self) -> None:
        """Do what the lines of standard input say, and receive messages, until it ends."""
        while self._take(PAUSE):
            for each in self._unsubscribed[:OPENED_AT_ONCE]:
                each.sendall(self._subscription)
            del self._unsubscribed[:OPENED_AT_ONCE]

    def _take(self, seconds: float) -> bool:
        """Read the messages and lines that have come, or come in this time. Returns whether standard input goes on."""
        for file, _ in self._poll.poll(seconds):
            if file in self._sockets:
                self._receive(file)
            elif lines := os.read(file, 4_096).decode().splitlines():
                for line in lines:
                    self._obey(line)
            else:
                return False
        return True

    def _obey(self, line: str) -> None:
        if line == "subscribe":
            self._unsubscribed = list(self._sockets.values())
        elif line == "expect":
            self._expecting = set(self._sockets)
            print("expecting", flush=True)

    def _receive(self, file: int) -> None:
        received = b""
        with suppress(BlockingIOError):
            received = self._sockets[file].recv(65_536)
            if ERROR in received and UNAVAILABLE in received:
                self._sockets[file].sendall(self._subscription)  # as clients do
            elif not received or ERROR in received:
                sys.exit(f"a subscription has ended: {received.decode(errors='replace') or 'connection lost'}")
        if (ping := received.find(PING)) >= 0:
            self._sockets[file].sendall(pong(received[ping + 2 : ping + 2 + PING[1]]))
        if NEXT in received and file in self._expecting:
            self._expecting.remove(file)
            if not self._expecting:
                print(perf_counter(), flush=True)

    def _connected(self) -> socket.socket:
        connection = socket.create_connection(("127.0.0.1", self._port))
        connection.sendall(HANDSHAKE)
        return connection

    def _read_until(self, connection: socket.socket, end: bytes) -> None:
        received = b""
        while end not in received:
            if not (some := connection.recv(4_096)):
                sys.exit(f"a connection was refused: {received.decode(errors='replace')}")
            received += some


def frame(message: object) -> bytes:
    """A WebSocket message of a client (RFC 6455): 128 says that there is a mask. One of zeros changes nothing."""
    payload, mask = orjson.dumps(message), bytes(4)
    length = bytes([128 + 126, *len(payload).to_bytes(2, "big")]) if len(payload) > 125 else bytes([128 + len(payload)])
    return b"\x81" + length + mask + payload


def pong(payload: bytes) -> bytes:
    """The answer to a ping, without which the server would close the connection."""
    return bytes([PONG, 128 + len(payload), *bytes(4)]) + payload


if __name__ == "__main__":
    listeners = Listeners(int(sys.argv[1]), sys.argv[3])
    listeners.open(int(sys.argv[2]))
    listeners.run()
