"""
Measures subscriptions: the time from a vote until the last subscriber of the article has a message, the memory of a
subscriber, and the number of messages of rankings that change constantly.

    python -m bench.subscriptions [SUBSCRIBERS] [--workers 2] [--without-rankings]

The server runs on one core, or with several processes on all. The subscribers of the article are in two processes of
their own (`bench.listeners`); the subscribers of rankings, and the voters, are in this one.
"""

import argparse
import asyncio
import os
import random
import subprocess
import sys
import tempfile
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path
from statistics import median
from time import perf_counter
from typing import Any

import uvloop

from bench import servers
from bench.filling import PATIENCE
from bench.listeners import HANDSHAKE, NEXT, frame
from bench.servers import PEERS, Server
from server.managed_valkey import server as valkey
from store.articles import Draft
from store.client import connection
from store.records import Vote
from store.store import Store

ROUNDS = 30
ARTICLES = 50
RANKING_SUBSCRIBERS = 100
VOTES_A_SECOND = 1_000
SECONDS = 5  # of votes on the articles of rankings
CHANGED = 'subscription { articleChanged(id: "%s") { id votes score } }'
RANKING = """subscription { rankingChanged(order: %s, first: %d) {
  at articles { id votes } moves { articleId from to } } }"""
# a query for each subscriber: all of one ranking, or each of another one
SAME = [RANKING % ("SCORE", 25)] * RANKING_SUBSCRIBERS
DIFFERENT = [
    RANKING % (order, first) for order in ("SCORE", "VOTES", "HOT", "BEST") for first in range(1, len(SAME) // 4 + 1)
]
LISTENERS = 2  # processes of `bench.listeners`
ERROR = b'"type":"error"'


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
        self._tail = seen[1 - len(NEXT) :]  # the beginning of a message may be at the end of the data

    def connection_lost(self, error: Exception | None) -> None:
        if not self._is_closing:
            self.failure = self.failure or f"connection lost: {error}"

    def subscribe(self, query: str) -> None:
        self._send({"type": "subscribe", "id": "1", "payload": {"query": query}})

    def close(self) -> None:
        self._is_closing = True
        self._transport.close()

    def _send(self, message: object) -> None:
        self._transport.write(frame(message))


async def run(count: int, workers: int, has_rankings: bool) -> None:
    os.sched_setaffinity(0, {servers.OTHER_CORE} if workers == 1 else set(servers.CORES))
    limits = {"UPVOTE_MAX_CONNECTIONS": str(count + 2 * RANKING_SUBSCRIBERS)}
    with tempfile.TemporaryDirectory() as folder, valkey.running(Path(folder) / "data") as url:
        connection.TIMEOUT = PATIENCE
        store = await Store.open(url)
        await store.users.register("alice", "correct horse")
        drafts = [Draft(f"article {number}", content="text") for number in range(ARTICLES)]
        numbers = [(await store.articles.post("alice", draft)).article.number for draft in drafts]  # type: ignore[union-attr]  # a new post has its article
        with servers.running(
            PEERS["upvote"], workers, {"UPVOTE_REDIS_URL": url} | limits, Path(folder) / "log"
        ) as server:
            await watch_article(store, numbers[0], server, count)
            if has_rankings:
                await watch_rankings(store, numbers, server, "subscribers of one ranking", SAME)
                await watch_rankings(store, numbers, server, "different rankings, with a subscriber each", DIFFERENT)
        await store.close()


async def watch_article(store: Store, number: int, server: Server, count: int) -> None:
    """Print what `count` subscribers of one article cost."""
    servers.settle(server)
    before = server.memory
    async with AsyncExitStack() as stack:
        shares = [count // LISTENERS + (each < count % LISTENERS) for each in range(LISTENERS)]
        opening = [
            stack.enter_async_context(listening(server.port, share, CHANGED % f"article:{number}")) for share in shares
        ]
        listeners = [await each for each in opening]
        open_sockets, vote = server.memory, voting(store, number)
        for each in listeners:
            each.say("subscribe")
        await until_subscribed(vote, listeners)
        subscribed, spent_before = server.memory, server.cpu
        times = sorted([await time_to_last(vote, listeners) for _ in range(ROUNDS)])
        spent = (server.cpu - spent_before) / ROUNDS
    print(f"| subscribers of one article | {count} |")
    print(f"| from a vote to the last of them, median of {ROUNDS} | {times[ROUNDS // 2]:.0f} ms |")
    print(f"| the worst of {ROUNDS} | {times[-1]:.0f} ms |")
    print(f"| processor time of the server for a vote and all of them | {1000 * spent:.0f} ms |")
    print(f"| memory of a subscriber | {1024 * (subscribed - open_sockets) / count:.1f} KiB |")
    print(f"| memory of its socket | {1024 * (open_sockets - before) / count:.1f} KiB |", flush=True)


class Listeners:
    """A process of `bench.listeners`, which subscribes many sockets and says when messages have arrived."""

    def __init__(self, process: "asyncio.subprocess.Process") -> None:
        assert process.stdin and process.stdout
        self._input, self._output = process.stdin, process.stdout

    def say(self, line: str) -> None:
        self._input.write(f"{line}\n".encode())

    async def answer(self) -> str:
        """
        Raises:
            SubscriptionLost: the process has ended, because a connection was refused or lost.
        """
        if not (line := await self._output.readline()):
            raise SubscriptionLost("the listeners have ended")
        return line.decode().strip()


@asynccontextmanager
async def listening(port: int, count: int, query: str) -> AsyncIterator[Listeners]:
    """A process with `count` open sockets, which are not subscribed yet."""
    arguments = ("-m", "bench.listeners", str(port), str(count), query)
    process = await asyncio.create_subprocess_exec(
        sys.executable, *arguments, cwd=servers.ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE
    )
    listeners = Listeners(process)
    try:
        await listeners.answer()  # `open`
        yield listeners
    finally:
        if process.returncode is None:
            process.terminate()
        await process.wait()


async def until_subscribed(vote: Callable[[], Awaitable[object]], listeners: list[Listeners]) -> None:
    """Vote until all have a message: nothing else says that a subscription has begun."""
    waiting = asyncio.gather(*(arrivals(each) for each in listeners))
    while not waiting.done():
        await vote()
        await asyncio.wait([waiting], timeout=0.5)
    await waiting


async def arrivals(listeners: Listeners) -> float:
    """When the last of the next messages has come."""
    listeners.say("expect")
    await listeners.answer()  # `expecting`, and then the time
    return float(await listeners.answer())


def voting(store: Store, number: int) -> Callable[[], Awaitable[object]]:
    voters = iter(range(sys.maxsize))
    return lambda: store.articles.vote(number, f"voter-{next(voters)}", Vote.UP)


async def time_to_last(vote: Callable[[], Awaitable[object]], listeners: list[Listeners]) -> float:
    """Milliseconds from a vote until all subscribers have its message."""
    await asyncio.sleep(0.1)  # until nothing is sent any more
    for each in listeners:
        each.say("expect")
    for each in listeners:
        await each.answer()  # `expecting`
    started_at = perf_counter()
    await vote()
    return 1000 * (max([float(await each.answer()) for each in listeners]) - started_at)


async def watch_rankings(store: Store, numbers: list[int], server: Server, what: str, queries: list[str]) -> None:
    """Print how many messages each of some subscriptions receives while many votes a second change them."""
    subscribers = await connected(server.port, len(queries))
    for each, query in zip(subscribers, queries, strict=True):
        each.subscribe(query)
    await until(lambda: all_have(subscribers, [1] * len(subscribers)))
    before, cpu = [each.messages for each in subscribers], server.cpu
    votes = await send_votes(store, numbers, what[0])
    sent = sorted(each.messages - was for each, was in zip(subscribers, before, strict=True))
    least, most, spent = sent[0] / SECONDS, sent[-1] / SECONDS, (server.cpu - cpu) / SECONDS
    print(f"| {what} | {len(queries)} |")
    print(f"| votes on them | {votes / SECONDS:.0f} a second |")
    print(f"| messages to each | {median(sent) / SECONDS:.1f} a second, {least:.1f} to {most:.1f} |")
    print(f"| processor time of the server in a second | {1000 * spent:.0f} ms |", flush=True)
    for each in subscribers:
        each.close()


async def send_votes(store: Store, numbers: list[int], prefix: str) -> int:
    """Send `VOTES_A_SECOND`, and return how many. The names of the voters begin with `prefix`."""
    chance, started_at, votes = random.Random(1), perf_counter(), 0
    while (now := perf_counter() - started_at) < SECONDS:
        due = int(now * VOTES_A_SECOND) - votes
        await asyncio.gather(
            *(store.articles.vote(chance.choice(numbers), f"{prefix}-{votes + each}", Vote.UP) for each in range(due))
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


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m bench.subscriptions", description="Measures subscriptions.")
    parser.add_argument("subscribers", nargs="?", type=int, default=1_000)
    parser.add_argument("--workers", type=int, default=1, help="processes of the server")
    parser.add_argument("--without-rankings", action="store_true", help="measure subscribers of an article only")
    return parser


if __name__ == "__main__":
    chosen = _parser().parse_args()
    print("| what | figure |\n|---|---|")
    uvloop.run(run(chosen.subscribers, chosen.workers, not chosen.without_rankings))
