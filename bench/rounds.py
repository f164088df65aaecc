"""
Measures all servers in turn with each query, in several rounds, so that disturbances affect all of them equally. The
servers are the project and its peers, with which it is compared.
"""

import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, ExitStack, contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path

import orjson

from bench import servers
from bench.comparing import ask, compare
from bench.load import Job, Load
from bench.queries import QUERIES, Ground, Query, Request, unequal
from bench.servers import Peer, Server

CONNECTIONS = 16  # of the load generator to the server that is measured


@dataclass(frozen=True, slots=True)
class BenchPlan:
    """
    What a run measures, and how. A round lasts `seconds` for each server, which has `workers` processes and this
    `environment`. If `unequal`, all requests differ. Otherwise the project executes only one of equal requests that
    arrive together.
    """

    peers: Sequence[Peer]
    rounds: int
    seconds: float
    workers: int
    environment: dict[str, str]
    folder: Path
    unequal: bool


@dataclass(frozen=True, slots=True)
class Sample:
    """
    One server in one round: `rate` in responses per second, percentiles in milliseconds, `cpu` in microseconds per
    response, `memory` in MiB, and how many requests failed.
    """

    rate: float
    p50: float
    p99: float
    cpu: float
    memory: float
    failed: int


Samples = dict[str, list[Sample]]  # by peer, one a round


def measure(plan: BenchPlan, queries: Sequence[Query], ground: Ground) -> Iterator[tuple[Query, Samples]]:
    """Compare the answers of all servers, then measure each server with each query in every round."""
    asked = {query.name: query.requests(ground) for query in queries}
    if plan.unequal:
        asked = {name: unequal(requests) for name, requests in asked.items()}
    with started(plan, QUERIES["page"].requests(ground)[0]) as all_servers:
        for query in queries:
            compare(query, asked[query.name], answering(query, all_servers))
        for query in queries:
            if not query.writes:
                yield query, together(plan, asked[query.name], answering(query, all_servers))
    for query in queries:
        if query.writes:
            yield query, alone(plan, asked[query.name], [peer for peer in plan.peers if query.name in peer.answers])


@contextmanager
def started(plan: BenchPlan, page: Request) -> Iterator[list[Server]]:
    """Start all servers, the project first; the peer `ready` sends the bytes of its response to every request."""
    with ExitStack() as stack:
        ours = stack.enter_context(running(plan, plan.peers[0]))
        (plan.folder / "ready").write_bytes(orjson.dumps(ask(ours, page)))
        yield [ours, *(stack.enter_context(running(plan, peer)) for peer in plan.peers[1:])]


def answering(query: Query, all_servers: list[Server]) -> list[Server]:
    return [server for server in all_servers if query.name in server.peer.answers]


def together(plan: BenchPlan, requests: list[Request], started: list[Server]) -> Samples:
    """Measure servers that all run, each in turn, after a first load that is not measured."""
    for server in started:
        load(server, requests, plan.seconds / 2)
    samples: Samples = {server.peer.name: [] for server in started}
    for server in turns(plan, started):
        samples[server.peer.name].append(sample(server, requests, plan.seconds))
    return samples


def turns(plan: BenchPlan, started: list[Server]) -> Iterator[Server]:
    """Yield every server once a round. Each round begins with another server."""
    for turn in range(plan.rounds):
        first = turn % len(started)
        yield from started[first:] + started[:first]


def alone(plan: BenchPlan, requests: list[Request], peers: list[Peer]) -> Samples:
    """Measure each server while no other runs: the project would receive the events of its peers' writes."""
    samples: Samples = {peer.name: [] for peer in peers}
    for _ in range(plan.rounds):
        for peer in peers:
            with running(plan, peer) as server:
                load(server, requests, plan.seconds / 2)
                samples[peer.name].append(sample(server, requests, plan.seconds))
    return samples


def running(plan: BenchPlan, peer: Peer) -> AbstractContextManager[Server]:
    return servers.running(peer, plan.workers, plan.environment, plan.folder / f"{peer.name}.log")


def sample(server: Server, requests: list[Request], seconds: float) -> Sample:
    before = server.cpu
    found = load(server, requests, seconds)
    # CPU time is counted in ticks: a server that has used less than one has used at most one.
    cpu = max(server.cpu - before, 1 / servers.TICKS) / found.answers * 1e6
    return Sample(found.answers / found.seconds, found.p50, found.p99, cpu, server.memory, found.failed)


def load(server: Server, requests: list[Request], seconds: float, connections: int = CONNECTIONS) -> Load:
    """Send requests to a server for `seconds`, from a process of its own (`bench.load`)."""
    job = Job(server.port, requests, connections, seconds)
    done = subprocess.run(
        [sys.executable, "-m", "bench.load"],
        cwd=servers.ROOT,
        input=orjson.dumps(asdict(job)),
        stdout=subprocess.PIPE,
        check=True,
    )
    return Load(**orjson.loads(done.stdout))
