"""
Counts what requests cost, without a clock: bytecodes, evictions of caches, and executions for an event of many equal
subscriptions.

    python -m bench.counts [--write]

Fails if a request takes more than a tenth more bytecodes than `counts.json` says, or if there are more evictions or
executions than there may be. `--write` renews `counts.json`. The numbers of bytecodes depend on the version of Python:
on another one they are not compared.
"""

import argparse
import asyncio
import json
import re
import socket
import sys
import tempfile
from collections.abc import AsyncIterator, Callable, Coroutine, Sequence
from contextlib import asynccontextmanager
from dataclasses import asdict, dataclass, field
from pathlib import Path
from types import CodeType, FrameType
from typing import Any, NamedTuple, Self

import orjson
import uvicorn
import uvloop

from bench import filling
from bench.load import encoded, is_complete
from bench.queries import QUERIES, Ground, Request, ground, unequal
from bench.tables import markdown
from server.app import Contexts
from server.http_server import configuration
from server.managed_valkey import server
from server.observability import logs
from server.observability.metrics import CACHE_SECONDS
from server.settings import Settings
from store.records import Vote
from store.store import Store

FIGURES = Path(__file__).with_suffix(".json")  # the committed `Figures`
TOLERANCE = 1.1  # times the committed bytecodes
LIMITS = {"evictions a page": 0.0, "executions an event": 1.0}  # the pages fit into the caches
PYTHON = f"{sys.version_info.major}.{sys.version_info.minor}"
ARTICLES = 2_000
REQUESTS = 20  # counted for each query
ROUNDS = 3  # of which the least is taken: background tasks disturb some
EQUAL = 16  # requests at once
SUBSCRIBERS = 50
CHANGED = 'subscription { articleChanged(id: "article:%d") { id votes score } }'
SCRAPE = b"GET /metrics HTTP/1.1\r\nHost: bench\r\n\r\n"
EVICTIONS = re.compile(r'^upvote_cache_evictions\{cache="\w+"\} ([0-9.e+]+)$', re.MULTILINE)

Counts = dict[str, float]  # by what is counted


@dataclass(frozen=True, slots=True)
class Figures:
    """Bytecodes of a request by query, of one version of Python."""

    python: str
    bytecodes: Counts

    @classmethod
    def read(cls) -> Self:
        return cls(**json.loads(FIGURES.read_text()))

    def write(self) -> None:
        FIGURES.write_text(json.dumps(asdict(self), indent=2) + "\n")


class Compared(NamedTuple):
    """A count and the most that it may be."""

    name: str
    count: float
    limit: float

    @property
    def is_exceeded(self) -> bool:
        return self.count > self.limit


@dataclass
class Tracer:
    """While it is entered, counts bytecodes in this thread, and calls of `function`."""

    function: CodeType | None = None
    bytecodes: int = 0
    calls: int = 0

    def __enter__(self) -> Self:
        sys.settrace(self._on_call)
        return self

    def __exit__(self, *error: object) -> None:
        sys.settrace(None)

    def _on_call(self, frame: FrameType, event: str, argument: object) -> Callable[..., Any]:
        frame.f_trace_opcodes, frame.f_trace_lines = True, False
        self.calls += frame.f_code is self.function
        return self._on_opcode

    def _on_opcode(self, frame: FrameType, event: str, argument: object) -> Callable[..., Any]:
        self.bytecodes += event == "opcode"
        return self._on_opcode


@dataclass
class Client:
    """Connections to a server that runs in this process. Their functions block: they are called in another thread."""

    port: int
    opened: list[socket.socket] = field(default_factory=list)

    def connect(self, count: int = 1) -> list[socket.socket]:
        made = [socket.create_connection(("127.0.0.1", self.port), 60) for _ in range(count)]
        self.opened += made
        return made

    def close(self) -> None:
        for each in self.opened:
            each.close()


def ask(connection: socket.socket, requests: Sequence[bytes]) -> bytes:
    """Send requests one after the other, and return the last response."""
    response = b""
    for each in requests:
        connection.sendall(each)
        response = received(connection, is_complete)
        assert response.startswith(b"HTTP/1.1 200") and b'"errors"' not in response, response.decode()
    return response


def received(connection: socket.socket, is_enough: Callable[[bytes], bool]) -> bytes:
    data = b""
    while not is_enough(data):
        data += connection.recv(1_000_000) or lost()
    return data


def lost() -> bytes:
    raise ConnectionError("the server closed a connection")


async def counted() -> tuple[Figures, Counts]:
    """Bytecodes and other counts, of a new store and a server in this process and its event loop."""
    with tempfile.TemporaryDirectory() as folder, server.running(Path(folder)) as url:
        store = await Store.open(url, partitions=1)
        prepared = await ground(store, await filling.fill(store, ARTICLES))
        await store.close()  # else it would get invalidations, in the same thread
        settings = Settings(redis_url=url, database_url="none", rate_limits="off", log_level="warning")
        async with serving(settings) as client:
            bytecodes = await of_queries(client, prepared)
            bytecodes["equal page"] = await of_equal_pages(client, QUERIES["page"].requests(prepared)[0])
            evicted = await evictions(client, QUERIES["varied"].requests(prepared))
            others = {"evictions a page": evicted, "executions an event": await executions(client, url, prepared)}
    return Figures(PYTHON, {name: round(count) for name, count in bytecodes.items()}), others


@asynccontextmanager
async def serving(settings: Settings) -> AsyncIterator[Client]:
    """Run the server in this process and event loop. Yields a client of it."""
    logs.configure(settings)
    listener = socket.create_server(("127.0.0.1", 0))
    running = uvicorn.Server(configuration(settings))
    task = asyncio.create_task(running.serve(sockets=[listener]))
    while not running.started:  # noqa: ASYNC110 - uvicorn has no event for it
        await asyncio.sleep(0.01)
    client = Client(listener.getsockname()[1])
    try:
        yield client
    finally:
        client.close()
        running.should_exit = True
        await task


async def of_queries(client: Client, prepared: Ground) -> Counts:
    """Bytecodes of a request of each query. `prepared` are the data from which requests are made."""
    counts = Counts()
    for name in ("page", "group", "nested", "feed", "article"):
        counts[name] = await of_requests(client, unequal(QUERIES[name].requests(prepared))[:REQUESTS])
    # its requests are unequal already
    counts["varied"] = await of_requests(client, QUERIES["varied"].requests(prepared)[:REQUESTS])
    for name in ("vote", "vote-on-comment"):
        votes = QUERIES[name].requests(prepared)
        half = len(votes) // 2  # the second half takes back the votes of the first
        counts[name] = await of_requests(client, [*votes[: REQUESTS // 2], *votes[half : half + REQUESTS // 2]])
    return counts


async def of_requests(client: Client, requests: Sequence[Request]) -> float:
    """Bytecodes of each of these requests, one at a time, after all of them were sent before."""
    texts, (connection,) = [encoded(*each) for each in requests], client.connect()

    async def send() -> None:
        await asyncio.to_thread(ask, connection, texts)

    for _ in range(3):  # the second time operations are compiled, the third time the JSON of records is cached
        await send()
    return await least(send) / len(requests)


async def of_equal_pages(client: Client, request: Request) -> float:
    """Bytecodes of each of `EQUAL` equal requests that arrive at once. They are sent in the thread of the server."""
    text, connections = encoded(*request), client.connect(EQUAL)
    await asyncio.to_thread(lambda: [ask(each, [text]) for each in connections])

    async def send() -> None:
        for each in connections:
            each.send(text)
        await asyncio.to_thread(lambda: [received(each, is_complete) for each in connections])

    return await least(send) / EQUAL


async def least(send: Callable[[], Coroutine[Any, Any, None]]) -> int:
    """The bytecodes of the cheapest of some rounds."""
    found = []
    for _ in range(ROUNDS):
        with Tracer() as tracer:
            await send()
        found.append(tracer.bytecodes)
    return min(found)


async def evictions(client: Client, requests: Sequence[Request]) -> float:
    """Evictions of all caches for each of these pages, once all of them were sent before."""
    texts = [encoded(*each) for each in requests]
    totals = []
    for _ in range(4):  # the last round is counted: the caches have all pages then
        (connection,) = client.connect()
        await asyncio.to_thread(ask, connection, texts)
        await asyncio.sleep(2 * CACHE_SECONDS)  # so that the metrics are counted anew
        scraped = await asyncio.to_thread(ask, connection, [SCRAPE])
        found = EVICTIONS.findall(scraped.decode())
        assert found, "the metrics have evictions"
        totals.append(sum(map(float, found)))
    return (totals[-1] - totals[-2]) / len(requests)


async def executions(client: Client, url: str, prepared: Ground) -> float:
    """Executions of one event for `SUBSCRIBERS` equal subscriptions: each execution opens a context."""
    number, connections = prepared.places["score"][0].number, client.connect(SUBSCRIBERS)
    body = orjson.dumps({"query": CHANGED % number})
    head = b"POST /graphql HTTP/1.1\r\nHost: bench\r\nContent-Type: application/json\r\nAccept: text/event-stream\r\n"
    for each in connections:
        each.send(head + b"Content-Length: %d\r\n\r\n%b" % (len(body), body))
    await until_subscribed(client)
    store = await Store.open(url, partitions=1)
    with Tracer(Contexts.open.__code__) as tracer:
        await store.articles.vote(number, "newcomer", Vote.UP)
        await asyncio.to_thread(lambda: [received(each, has_event) for each in connections])
    await store.close()
    return tracer.calls


async def until_subscribed(client: Client) -> None:
    """Wait until all subscriptions are open, and have read their article."""
    (connection,) = client.connect()
    opened = b"upvote_open_subscriptions %d.0" % SUBSCRIBERS
    while opened not in await asyncio.to_thread(ask, connection, [SCRAPE]):  # noqa: ASYNC110 - no event tells it
        await asyncio.sleep(0.05)
    await asyncio.sleep(0.5)  # for the reads of the articles, of which no metric tells


def has_event(data: bytes) -> bool:
    return b"event: next" in data


def compared(found: Figures, committed: Figures, others: Counts) -> list[Compared]:
    """What is compared: the other counts, and bytecodes if they are of the same version of Python."""
    rest = [Compared(name, count, LIMITS[name]) for name, count in others.items()]
    if found.python != committed.python:
        return rest
    figures = committed.bytecodes
    return [
        # a query without a committed figure has the limit 0
        *(Compared(name, count, TOLERANCE * figures.get(name, 0)) for name, count in found.bytecodes.items()),
        *rest,
    ]


def judged(found: Figures, committed: Figures, others: Counts) -> str:
    """A Markdown table of what is compared; below it, what exceeds its limit and what is not compared."""
    rows = compared(found, committed, others)
    head = ["what", "counted", "at most", ""]
    cells = [[each.name, f"{each.count:,.1f}", f"{each.limit:,.1f}", "EXCEEDED" * each.is_exceeded] for each in rows]
    notes = [
        f"EXCEEDED: {each.name} is {each.count:,.1f}, at most {each.limit:,.1f}" for each in rows if each.is_exceeded
    ]
    if found.python != committed.python:
        notes.append(f"bytecodes are not compared: the figures are of Python {committed.python}, not {found.python}")
    return "\n\n".join([markdown(head, cells), *notes])


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m bench.counts", description="Counts what requests cost.")
    parser.add_argument("--write", action="store_true", help="renew the committed figures")
    chosen = parser.parse_args()
    found, others = uvloop.run(counted())
    if chosen.write:
        found.write()
    committed = Figures.read()
    print(judged(found, committed, others))
    sys.exit(any(each.is_exceeded for each in compared(found, committed, others)))


if __name__ == "__main__":
    main()
