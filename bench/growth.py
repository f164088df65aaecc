"""
What requests cost while a site grows: the CPU time of a page, a vote, a feed, a home and a thread with more articles,
most of them archived, with more partitions, longer threads, and one or two processes. A partition is a share of the
data in Valkey; archived articles are in the SQL database only.

    python -m bench.growth [--articles 20000,1000,250000] [--partitions 1,8] [--threads 100,10000] [--workers 1,2]

Each option lists sizes. Only one of them differs at a time: the others have the first size of their list. For each the
store and an SQLite file are filled anew, and measured with each number of processes in turn. No two requests are equal,
so each is executed. The last table says what a site with 100 million users would need, as `bench.cluster` describes it.

A figure is the CPU time of an answer, in all processes of the server and in Valkey, and the median time until an
answer. The CPU time is measured with 16 connections. It includes SQLite and the mirror, which follows the log, but not
what the processes take when idle. The time until an answer is measured with one connection.
"""

import argparse
import asyncio
import os
import random
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from redis import Redis

from bench import archived, filling, queries, rounds, servers, threads
from bench.__main__ import counts
from bench.cluster import BUSY, LARGE_PAGES, LARGE_VOTES, spent
from bench.conversations import like_hacker_news
from bench.queries import FEED, FIELDS, PAGE, VOTE, Request, request, unequal
from bench.servers import PEERS, Server
from bench.tables import markdown
from resolvers import pagination
from server.managed_valkey import server as valkey
from store.client import connection
from store.records import Position
from store.store import Store

HOT = 5_000  # articles that are not archived, at most
FOLLOWED = 10  # groups that a viewer follows: the home has their articles
MOST_FAILED = 0.1  # share of the answers: on a busy machine some are too late
MIN_ANSWERS = 1_000  # of each query, before it is measured and while it is
LARGE_PARTITIONS = 32  # of a site with 100 million users
LISTED_HOME = f"edges {{ cursor node {{ {FIELDS} }} }}"
HOME = f"query Home {{ home {{ articles(first: 25) {{ {LISTED_HOME} pageInfo {{ hasNextPage endCursor }} }} }} }}"
THREAD = """query Thread($id: ID!) { article(id: $id) { thread(first: 100) { edges { cursor
  node { id depth content votes viewerVote postedAt poster { id username } } } totalCount } } }"""


class Size(NamedTuple):
    """How many articles a site has, in how many partitions, and how many comments its longest thread."""

    articles: int
    partitions: int
    comments: int


class Figure(NamedTuple):
    """CPU microseconds of a request in the server and in Valkey, and the milliseconds until its answer, the median."""

    server: float
    valkey: float
    answer: float

    def __str__(self) -> str:
        return f"{self.server:.0f} + {self.valkey:.0f}, {self.answer:.1f}"


class Case(NamedTuple):
    """A size and the number of processes that serve it."""

    size: Size
    workers: int


Figures = Mapping[str, Figure]  # by query


@dataclass(frozen=True, slots=True)
class Filled:
    """A filled store: its URL, that of its database, and the requests of each query, by its name."""

    url: str
    database: str
    requests: Mapping[str, list[Request]]


def main(arguments: Sequence[str] | None = None) -> None:
    chosen = _parser().parse_args(arguments)
    connection.TIMEOUT = filling.PATIENCE
    cores, found = os.sched_getaffinity(0), dict[Case, Figures]()
    for size in sizes(chosen.articles, chosen.partitions, chosen.threads):
        for case, figures in measured(size, chosen):
            found[case] = figures
            load, *_ = os.getloadavg()
            print(f"{case}: {', '.join(f'{name} {each}' for name, each in figures.items())}; load {load:.1f}")
            sys.stdout.flush()
    os.sched_setaffinity(0, cores)
    print(f"\n{table(found)}\n\n{plan(found)}")


def sizes(articles: Sequence[int], partitions: Sequence[int], comments: Sequence[int]) -> list[Size]:
    """The first sizes of all lists together, then each further size of a list with the first ones of the others."""
    first = Size(articles[0], partitions[0], comments[0])
    return [
        *(first._replace(articles=each) for each in articles),
        *(first._replace(partitions=each) for each in partitions[1:]),
        *(first._replace(comments=each) for each in comments[1:]),
    ]


def measured(size: Size, chosen: argparse.Namespace) -> Iterator[tuple[Case, Figures]]:
    """Fill a store once, and measure all queries with each number of processes."""
    with tempfile.TemporaryDirectory(dir=chosen.folder) as name, valkey.running(Path(name) / "data") as url:
        started = time.perf_counter()
        filled = asyncio.run(fill(size, url, f"sqlite:///{name}/upvote.db"))
        print(f"{size}: filled in {time.perf_counter() - started:.0f} s", flush=True)
        environment = {
            "UPVOTE_REDIS_URL": url,
            "UPVOTE_DATABASE_URL": filled.database,
            "UPVOTE_PARTITIONS": str(size.partitions),
        }
        for workers in chosen.workers:
            os.sched_setaffinity(0, {servers.OTHER_CORE} if workers == 1 else set(servers.CORES))
            log = Path(name) / "server.log"
            with (
                servers.running(PEERS["upvote"], workers, environment, log) as server,
                Redis.from_url(url, decode_responses=True) as redis,
            ):
                servers.settle(server)
                yield (
                    Case(size, workers),
                    {
                        query: figure(server, redis, requests, chosen.seconds)
                        for query, requests in filled.requests.items()
                    },
                )


async def fill(size: Size, url: str, database: str) -> Filled:
    store = await Store.open(url, partitions=size.partitions)
    try:
        hot = min(size.articles, HOT)
        old = size.articles - hot
        tokens = await filling.fill(store, hot, before=old)
        chance = random.Random(7)
        for viewer in filling.VIEWERS:
            for group in chance.sample(filling.GROUPS, FOLLOWED):
                await store.follows.follow_group(viewer, group)
        discussed, _ = await threads.fill(store, like_hacker_news(size.comments, chance), chance)
        places = await archived.archive(store, database, old)
        first = await queries.first_places(store, "score")
        return Filled(url, database, requests_of(tokens, first, places, discussed))
    finally:
        await store.close()


def requests_of(
    tokens: Sequence[str], first: Sequence[Position], old: Sequence[Position], discussed: int
) -> dict[str, list[Request]]:
    """The requests of each query, by all viewers in turn. `old` are places of archived articles."""
    after = [pagination.encode_cursor("score", place) for place in old]
    thread = f"article:{discussed}"
    reads = {
        "page": [request(PAGE, token) for token in tokens],
        "archived page": [request(PAGE, tokens[i % len(tokens)], after=each) for i, each in enumerate(after)],
        "feed": [request(FEED, token) for token in tokens],
        "home": [request(HOME, token) for token in tokens],
        "thread": [request(THREAD, token, id=thread) for token in tokens],
    }
    ids = [f"article:{place.number}" for place in first]
    votes = queries.votes(VOTE, "articleId", list(tokens), ids)
    return {name: unequal(some) for name, some in reads.items() if some} | {"vote": votes}


def figure(server: Server, redis: "Redis", requests: list[Request], seconds: float) -> Figure:
    """Measure a query: `redis` is the client of the server's Valkey."""
    ask(server, requests, seconds / 2)  # not measured
    idle = servers.settle(server)  # CPU seconds that it takes each second
    cpu_before, valkey_before, started = server.cpu, sum(spent([redis])), time.perf_counter()
    answers = ask(server, requests, seconds)
    servers.settle(server)
    of_server = server.cpu - cpu_before - idle * (time.perf_counter() - started)
    of_valkey = sum(spent([redis])) - valkey_before
    alone = rounds.load(server, requests, seconds / 2, connections=1)
    return Figure(of_server / answers * 1e6, of_valkey / answers * 1e6, answer=alone.p50)


def ask(server: Server, requests: list[Request], seconds: float) -> int:
    """Send requests for `seconds`, and again until there are `MIN_ANSWERS`. Returns how many answers came."""
    answers = 0
    while answers < MIN_ANSWERS:
        found = rounds.load(server, requests, seconds)
        if found.failed > found.answers * MOST_FAILED:
            raise RuntimeError(f"{found.failed} of {found.answers} requests failed: {requests[0][0][:300]}")
        answers += found.answers
    return answers


def table(found: Mapping[Case, Figures]) -> str:
    """
    A row for each case: "server + Valkey µs, answer ms" of each query; that of archived pages is empty where nothing is
    archived.
    """
    names = list(dict.fromkeys(name for figures in found.values() for name in figures))
    head = ["articles", "archived", "partitions", "comments", "processes", *names]
    return markdown(
        head,
        [
            [
                *(f"{count:,}".replace(",", " ") for count in (size.articles, max(size.articles - HOT, 0))),
                str(size.partitions),
                f"{size.comments:,}".replace(",", " "),
                str(workers),
                *(str(figures.get(name, "")) for name in names),
            ]
            for (size, workers), figures in found.items()
        ],
    )


def plan(found: Mapping[Case, Figures]) -> str:
    """
    The cores of a site with 100 million users, computed from the cases with the most processes: of those the one with
    the most partitions, and the one with the fewest. It assumes that a vote costs the same with any number of
    partitions, and that each further partition adds the same to the cost of a page.
    """
    most, figures = max(found.items(), key=_processes_and_partitions)
    fewest = min(found, key=_most_processes_fewest_partitions)
    further = max(most.size.partitions - fewest.size.partitions, 1)
    # a page of `LARGE_PARTITIONS`, on the straight line through the costs of these two cases
    share = (LARGE_PARTITIONS - fewest.size.partitions) / further
    page = [low + (high - low) * share for low, high in zip(found[fewest]["page"], figures["page"], strict=True)]
    vote = figures["vote"]
    rows = [
        ("votes a second", LARGE_VOTES, vote.server, vote.valkey),
        (f"pages a second, of {LARGE_PARTITIONS} partitions", LARGE_PAGES, page[0], page[1]),
    ]
    server_cores = sum(count * of_server for _, count, of_server, _ in rows) / 1e6
    valkey_cores = sum(count * of_valkey for _, count, _, of_valkey in rows) / 1e6
    head = ["what", "how many", "server, µs", "cores", "Valkey, µs", "cores"]
    cells = [
        [what, f"{count:,}", *(text for each in costs for text in (f"{each:.0f}", f"{count * each / 1e6:.1f}"))]
        for what, count, *costs in rows
    ]
    last_row = [
        f"cores that are {BUSY:.0%} busy",
        "",
        "",
        f"{server_cores / BUSY:.0f}",
        "",
        f"{valkey_cores / BUSY:.0f}",
    ]
    return markdown(head, [*cells, last_row])


def _processes_and_partitions(entry: tuple[Case, Figures]) -> tuple[int, int]:
    (size, workers), _ = entry
    return workers, size.partitions


def _most_processes_fewest_partitions(case: Case) -> tuple[int, int]:
    """A sort key: the first are the cases with the most processes, and of these the one with the fewest partitions."""
    return -case.workers, case.size.partitions


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m bench.growth", description="What requests cost as a site grows.")
    parser.add_argument("--articles", type=counts, default="20000,1000,250000,1000000", help="numbers of articles")
    parser.add_argument("--partitions", type=counts, default="1,8,64", help="numbers of partitions")
    parser.add_argument("--threads", type=counts, default="100,10000,100000", help="numbers of comments of a thread")
    parser.add_argument("--workers", type=counts, default="1,2", help="numbers of processes of the server")
    parser.add_argument("--seconds", type=float, default=3.0, help="how long each query is asked")
    parser.add_argument("--folder", help="where the store and the database are kept meanwhile")
    return parser


if __name__ == "__main__":
    main()
