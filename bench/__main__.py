"""
Compares the project with its peers on equal data and equal answers: other GraphQL servers, and handlers without GraphQL
that show what a request costs at least (`bench.servers`). The load generator and Valkey have another core.

    python -m bench [QUERY ...] [--peers all] [--articles 1000,20000] [--workers 1,2] [--unequal]

Prints one Markdown table for each query, and one of the targets (`bench.targets`), with a line for each that is missed.
The status is 1 if a target is missed by CPU time: answers per second depend on what else the machine does. A peer that
cannot be installed is left out, with a message.
"""

import argparse
import asyncio
import os
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import orjson

from bench import filling, servers
from bench.queries import QUERIES, Ground, Query, ground
from bench.rounds import BenchPlan, Samples, measure
from bench.servers import PEERS, Peer
from bench.tables import table
from bench.targets import growth, judged, judgements
from server.managed_valkey import server
from store import followed, keys
from store.articles import VOTE
from store.client import connection
from store.comments import VOTE_ON_COMMENT
from store.ranking.formulas import Policy
from store.store import Store
from store.threads import PLACE_LIFETIME


def main(arguments: Sequence[str] | None = None) -> None:
    chosen = _parser().parse_args(arguments)
    names = list(PEERS) if chosen.peers == "all" else [name.strip() for name in chosen.peers.split(",")]
    peers = list(installed([PEERS["upvote"], *(PEERS[name] for name in names if name != "upvote")]))
    if chosen.before:
        peers.append(servers.before(chosen.before.resolve()))
    queries = [QUERIES[name] for name in chosen.queries or QUERIES]
    is_missed = False
    for workers in chosen.workers:
        # inherited by Valkey and the load generator
        os.sched_setaffinity(0, {servers.OTHER_CORE} if workers == 1 else set(servers.CORES))
        sizes = {articles: run(chosen, peers, queries, workers, articles) for articles in chosen.articles}
        if len(sizes) > 1:
            print(f"\nby size: {workers} worker(s)\n\n{growth(sizes)}", flush=True)
        is_missed |= any(target.is_missed_by_cpu for found in sizes.values() for target in judgements(found))
    sys.exit(is_missed)


def run(
    chosen: argparse.Namespace, peers: list[Peer], queries: list[Query], workers: int, articles: int
) -> dict[str, Samples]:
    """Fill a store, measure all servers on it, and print the results."""
    requests = "unequal requests" if chosen.unequal else "requests as they are"
    setting = f"{articles} articles, {workers} worker(s), {requests}, {chosen.rounds} rounds of {chosen.seconds:g} s"
    found: dict[str, Samples] = {}
    with filled(articles) as (environment, data, folder):
        plan = BenchPlan(peers, chosen.rounds, chosen.seconds, workers, environment, folder, chosen.unequal)
        for query, samples in measure(plan, queries, data):
            found[query.name] = samples
            print(f"\n{query.name}: {setting}\n\n{table(samples)}", flush=True)
    print(f"\ntargets: {setting}\n\n{judged(found)}", flush=True)
    return found


def installed(peers: list[Peer]) -> Iterator[Peer]:
    for peer in peers:
        if reason := servers.install(peer):
            print(f"{peer.name} is left out: {reason}")
        else:
            yield peer


@contextmanager
def filled(articles: int) -> Iterator[tuple[dict[str, str], Ground, Path]]:
    """
    Start a Valkey with this number of articles. Yields the environment variables of the servers, the data from which
    requests are made, and a temporary folder.
    """
    with tempfile.TemporaryDirectory() as name, server.running(Path(name) / "data") as url:
        folder, started = Path(name), time.perf_counter()
        data = asyncio.run(_fill(url, articles))
        print(f"{articles} articles written in {time.perf_counter() - started:.1f} s", flush=True)
        (folder / "config.json").write_bytes(orjson.dumps(_config(url)))
        files = {"BENCH_CONFIG": str(folder / "config.json"), "BENCH_READY": str(folder / "ready")}
        yield {"UPVOTE_REDIS_URL": url, **files}, data, folder


async def _fill(url: str, articles: int) -> Ground:
    connection.TIMEOUT = filling.PATIENCE  # pipelines of thousands of commands take longer than those of requests
    store = await Store.open(url, partitions=1)
    try:
        return await ground(store, await filling.fill(store, articles))
    finally:
        await store.close()


def _config(url: str) -> dict[str, object]:
    """
    The configuration of the peers, which they read as JSON: the address of Valkey, the formats of keys, in which `%s`
    stands for a name or a number, and the scripts of votes with their keys. `policy` has arguments of both scripts;
    `partitions` and `placeLifetime` are further arguments of votes on comments. A vote is worth `voteWorth`
    milliseconds, and voting is open for `votingWindow` milliseconds.
    """
    policy = Policy()
    named = (keys.article, keys.voted, keys.downvoted, keys.timeline, followed.following, keys.session)
    texts = {key.name: key(0, "%s") for key in named}  # 0: the one partition (share of the data)
    return {
        "url": url,
        "redis": url.removeprefix("unix://"),
        "keys": {**texts, "score": keys.index(0, "score"), "group": keys.group(0, "%s", "score")},
        "scripts": {
            name: {"keys": script.beginning(0)[3:], "text": script.body}  # after EVALSHA, the digest, and how many keys
            for name, script in (("vote", VOTE), ("voteOnComment", VOTE_ON_COMMENT))
        },
        "policy": policy.script_arguments,
        "partitions": 1,
        "placeLifetime": PLACE_LIFETIME,
        "voteWorth": policy.vote_score * 1000,
        "votingWindow": policy.voting_window * 1000,
    }


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m bench", description="Compares the project with its peers.")
    parser.add_argument("queries", nargs="*", metavar="QUERY", help=f"some of {', '.join(QUERIES)} (default: all)")
    parser.add_argument("--peers", default="all", help=f"some of: {'; '.join(PEERS)}; separated by commas")
    parser.add_argument("--before", type=Path, metavar="FOLDER", help="another checkout, to compare versions")
    parser.add_argument("--seconds", type=float, default=5.0, help="duration of a round for each server")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--unequal", action="store_true", help="make all requests different, so that each is executed")
    parser.add_argument("--articles", type=counts, default="20000", help="numbers of articles, separated by commas")
    parser.add_argument(
        "--workers", type=counts, default="1", help="numbers of processes of each server, separated by commas"
    )
    return parser


def counts(text: str) -> list[int]:
    return [int(part) for part in text.split(",")]


if __name__ == "__main__":
    main()
