"""
Generates load in a separate process: each connection sends its next request as soon as it has a response.

Reads a `Job` as JSON from standard input and writes a `Load` as JSON. Responses are searched for errors but not parsed,
so that the load takes little CPU time.
"""

import asyncio
import sys
from dataclasses import asdict, dataclass, field
from time import perf_counter
from typing import Any

import orjson
import uvloop


@dataclass(frozen=True, slots=True)
class Job:
    """What to send: `requests`, pairs of a body and a token, in turn by this number of `connections` to `port`."""

    port: int
    requests: list[tuple[str, str]]
    connections: int
    seconds: float


@dataclass(frozen=True, slots=True)
class Load:
    """
    How many responses came, with percentiles of their times in milliseconds. `failed` counts those with errors or
    another status than 200.
    """

    answers: int
    failed: int
    seconds: float
    p50: float
    p99: float


@dataclass(slots=True)
class LoadTally:
    """Shared by all connections: requests, the end of the run, and results."""

    requests: list[bytes]
    until: float  # by `perf_counter`
    taken: int = 0
    failed: int = 0
    latencies: list[float] = field(default_factory=list)


class NoAnswers(Exception):
    """The server has closed all connections before it answered."""


class Client(asyncio.Protocol):
    """A connection that sends the next request when it has a response. `done` is resolved when it is closed."""

    def __init__(self, tally: LoadTally) -> None:
        self._tally = tally
        self._answer = b""
        self.done = asyncio.get_running_loop().create_future()

    def connection_made(self, transport: Any) -> None:
        self._transport = transport
        self._send()

    def data_received(self, data: bytes) -> None:
        self._answer += data
        if not is_complete(self._answer):
            return
        now, tally = perf_counter(), self._tally
        tally.latencies.append(now - self._sent)
        tally.failed += not self._answer.startswith(b"HTTP/1.1 200") or b'"errors"' in self._answer
        self._answer = b""
        if now < tally.until:
            self._send()
        else:
            self._transport.close()

    def connection_lost(self, error: Exception | None) -> None:
        self.done.set_result(None)

    def _send(self) -> None:
        tally = self._tally
        request = tally.requests[tally.taken % len(tally.requests)]
        tally.taken += 1
        self._sent = perf_counter()
        self._transport.write(request)


def is_complete(answer: bytes) -> bool:
    """Whether a response is complete: by its length, or by its last chunk."""
    end = answer.find(b"\r\n\r\n")
    if end < 0:
        return False
    head = answer[:end].lower()
    _, found, rest = head.partition(b"content-length:")
    if found:
        return len(answer) >= end + 4 + int(rest.split(b"\r\n", 1)[0])
    return answer.endswith(b"0\r\n\r\n")


def encoded(body: str, token: str) -> bytes:
    head = (
        "POST /graphql HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\nAccept: application/json\r\n"
        f"Authorization: Bearer {token}\r\nContent-Length: {len(body.encode())}\r\n\r\n"
    )
    return (head + body).encode()


async def run(job: Job) -> Load:
    started = perf_counter()
    tally = LoadTally([encoded(body, token) for body, token in job.requests], started + job.seconds)
    loop = asyncio.get_running_loop()
    opened = [loop.create_connection(lambda: Client(tally), "127.0.0.1", job.port) for _ in range(job.connections)]
    clients = [client for _, client in await asyncio.gather(*opened)]
    await asyncio.gather(*(client.done for client in clients))
    seconds, latencies = perf_counter() - started, sorted(tally.latencies)
    if not latencies:
        raise NoAnswers(f"all {job.connections} connections to port {job.port} were closed before any answer")
    p50, p99 = (latencies[int(len(latencies) * share)] * 1000 for share in (0.5, 0.99))
    return Load(len(latencies), tally.failed, seconds, p50, p99)


if __name__ == "__main__":
    load = uvloop.run(run(Job(**orjson.loads(sys.stdin.buffer.read()))))
    sys.stdout.buffer.write(orjson.dumps(asdict(load)))
