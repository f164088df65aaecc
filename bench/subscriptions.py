"""
Measures subscriptions of one process: the time from a vote until the last subscriber of the article has a message, the
memory of a subscriber, and the number of messages of a ranking that changes constantly.

    python -m bench.subscriptions [SUBSCRIBERS]

The server is a process of its own; this process votes and subscribes.
"""

import asyncio
import os
import random
import subprocess
import sys
import tempfile
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from statistics import median
from time import perf_counter
from typing import Any

import orjson
import uvloop

from server.managed_valkey import server
from store.articles import Draft
from store.records import Vote
from store.store import Store

ROUNDS = 30
ARTICLES = 50
RANKING_SUBSCRIBERS = 100
VOTES_A_SECOND = 1_000
SECONDS = 5
CHANGED = 'subscription { articleChanged(id: "%s") { id votes score } }'
RANKING = "subscription { rankingChanged { at articles { id votes } moves { articleId from to } } }"
HANDSHAKE = (
    b"GET /graphql HTTP/1.1\r\nHost: bench\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
    b"Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\n"
    b"Sec-WebSocket-Protocol: graphql-transport-ws\r\n\r\n"
)
NEXT, ERROR = b'"type":"next"', b'"type":"error"'


class SubscriptionLost(Exception):
    """The server refused a connection or a subscription, or ended it: the measurement would wait for ever."""


class Subscriber(asyncio.Protocol):
    """A socket that counts messages without parsing them, so that it takes little CPU time."""

    def __init__(self) -> None:
        self.messages = 0
        self.is_ready = False
        self.failure: str | None = None
        self._tail = b""
        self._is_closing = False

    def connection_made(self, transport: Any) -> None:
        self._transport = transport
        transport.write(HANDSHAKE)

    def data_received(self, data: bytes) -> None:
        seen = self._tail + data
        if seen.startswith(b"HTTP/1.1 101"):
            self._send({"type": "connection_init"})
        self.is_ready = self.is_ready or b"connection_ack" in seen
        self.messages += seen.count(NEXT)
        if ERROR in seen or seen.startswith((b"HTTP/1.1 4", b"HTTP/1.1 5")):
            self.failure = seen.decode(errors="replace")
        self._tail = seen[1 - len(NEXT) :]

    def connection_lost(self, error: Exception | None) -> None:
        if not self._is_closing:
            self.failure = self.failure or f"connection lost: {error}"

    def subscribe(self, query: str) -> None:
        self._send({"type": "subscribe", "id": "1", "payload": {"query": query}})

    def close(self) -> None:
        self._is_closing = True
        self._transport.close()

    def _send(self, message: object) -> None:
        payload, mask = orjson.dumps(message), bytes(4)  # a mask of zeros changes nothing
        length = bytes([254, *len(payload).to_bytes(2, "big")]) if len(payload) > 125 else bytes([128 + len(payload)])
        self._transport.write(b"\x81" + length + mask + payload)


async def run(count: int) -> None:
    with tempfile.TemporaryDirectory() as folder, server.running(Path(folder)) as redis_url:
        store = await Store.open(redis_url)
        await store.users.register("alice", "correct horse")
        drafts = [Draft(f"article {number}", content="text") for number in range(ARTICLES)]
        numbers = [(await store.articles.post("alice", draft)).article.number for draft in drafts]  # type: ignore[union-attr]  # a new post has its article
        with serving(redis_url, count + RANKING_SUBSCRIBERS) as (process, port):
            await watch_article(store, numbers[0], process, port, count)
            await watch_ranking(store, numbers, port)
        await store.close()


async def watch_article(store: Store, number: int, process: int, port: int, count: int) -> None:
    before = memory(process)
    subscribers = await connected(port, count)
    open_sockets = memory(process)
    for each in subscribers:
        each.subscribe(CHANGED % f"article:{number}")
    vote = voting(store, number)
    while not all_have(subscribers, [1] * count):
        await vote()
        await asyncio.sleep(0.5)
    subscribed = memory(process)
    spent_before = cpu_seconds(process)
    times = sorted([await time_to_last(vote, subscribers) for _ in range(ROUNDS)])
    spent = (cpu_seconds(process) - spent_before) / ROUNDS
    print(f"| subscribers of one article | {count} |")
    print(f"| from a vote to the last of them, median of {ROUNDS} | {times[ROUNDS // 2]:.0f} ms |")
    print(f"| the worst of {ROUNDS} | {times[-1]:.0f} ms |")
    print(f"| processor time of the server for a vote and all of them | {1000 * spent:.0f} ms |")
    print(f"| memory of a subscriber | {(subscribed - open_sockets) / count:.1f} KiB |")
    print(f"| memory of its socket | {(open_sockets - before) / count:.1f} KiB |")
    for each in subscribers:
        each.close()


def voting(store: Store, number: int) -> Callable[[], Awaitable[object]]:
    voters = iter(range(sys.maxsize))
    return lambda: store.articles.vote(number, f"voter-{next(voters)}", Vote.UP)


async def time_to_last(vote: Callable[[], Awaitable[object]], subscribers: list[Subscriber]) -> float:
    """Milliseconds from a vote until all subscribers have its message."""
    expected, started_at = [each.messages + 1 for each in subscribers], perf_counter()
    await vote()
    await until(lambda: all_have(subscribers, expected))
    took = 1000 * (perf_counter() - started_at)
    await asyncio.sleep(0.05)
    return took


async def watch_ranking(store: Store, numbers: list[int], port: int) -> None:
    subscribers = await connected(port, RANKING_SUBSCRIBERS)
    for each in subscribers:
        each.subscribe(RANKING)
    await until(lambda: all_have(subscribers, [1] * len(subscribers)))
    before = [each.messages for each in subscribers]
    votes = await send_votes(store, numbers)
    sent = [each.messages - was for each, was in zip(subscribers, before, strict=True)]
    print(f"| subscribers of the ranking | {RANKING_SUBSCRIBERS} |")
    print(f"| votes on it | {votes / SECONDS:.0f} a second |")
    print(f"| messages to each, median and most | {median(sent) / SECONDS:.1f}, {max(sent) / SECONDS:.1f} a second |")


async def send_votes(store: Store, numbers: list[int]) -> int:
    chance, started_at, votes = random.Random(1), perf_counter(), 0
    while (now := perf_counter() - started_at) < SECONDS:
        due = int(now * VOTES_A_SECOND) - votes
        await asyncio.gather(
            *(store.articles.vote(chance.choice(numbers), f"voter-{votes + each}", Vote.UP) for each in range(due))
        )
        votes += due
        await asyncio.sleep(0.002)
    return votes


async def connected(port: int, count: int) -> list[Subscriber]:
    loop = asyncio.get_running_loop()
    subscribers = [(await loop.create_connection(Subscriber, "127.0.0.1", port))[1] for _ in range(count)]
    await until(lambda: all(each.is_ready for each in not_lost(subscribers)))
    return subscribers


def all_have(subscribers: list[Subscriber], messages: list[int]) -> bool:
    """
    Whether each subscriber has received its number of messages.

    Raises:
        SubscriptionLost: one of them receives no more.
    """
    return all(each.messages >= wanted for each, wanted in zip(not_lost(subscribers), messages, strict=True))


def not_lost(subscribers: list[Subscriber]) -> list[Subscriber]:
    for each in subscribers:
        if each.failure is not None:
            raise SubscriptionLost(each.failure)
    return subscribers


async def until(condition: Callable[[], bool]) -> None:
    while not condition():  # noqa: ASYNC110 - what is waited for comes from another process
        await asyncio.sleep(0.001)


@contextmanager
def serving(redis_url: str, connections: int) -> Iterator[tuple[int, int]]:
    """A server of one process, which admits so many connections of one address: its id and its port."""
    limits = {"UPVOTE_RATE_LIMITS": "off", "UPVOTE_MAX_CONNECTIONS": str(connections)}
    settings = {"UPVOTE_PORT": "0", "UPVOTE_REDIS_URL": redis_url, **limits}
    command = [sys.executable, "-m", "server", "serve"]
    pipes: Any = {"stdout": subprocess.PIPE, "stderr": subprocess.DEVNULL}
    with subprocess.Popen(command, env=os.environ | settings, text=True, **pipes) as process:
        assert process.stdout is not None
        port = process.stdout.readline().rstrip("/\n").rpartition(":")[2]
        try:
            yield process.pid, int(port)
        finally:
            process.terminate()


def cpu_seconds(process: int) -> float:
    """CPU time of a process so far."""
    fields = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def memory(process: int) -> int:
    """Memory of a process in KiB."""
    status = Path(f"/proc/{process}/status").read_text()
    return int(status.partition("VmRSS:")[2].split()[0])


if __name__ == "__main__":
    print("| what | figure |\n|---|---|")
    uvloop.run(run(int(sys.argv[1]) if len(sys.argv) > 1 else 1_000))
