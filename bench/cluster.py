"""
What votes and pages cost a cluster of 1, 2 and 3 primaries under the same load, and what a large site would need.

    python -m bench.cluster

All servers and the one client run on this machine, so answers per second depend on its cores. The relevant figures are
the CPU time of an answer, of all servers and of the busiest one, as the servers report it.
"""

import asyncio
import math
import tempfile
from collections.abc import Awaitable, Callable, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from pathlib import Path
from time import perf_counter

from redis import Redis

from bench.tables import markdown
from resolvers.dataloader import Reads
from server.managed_valkey import server as valkey
from store import keys, listings
from store.articles import Draft
from store.listings import Window
from store.ranking.formulas import Order
from store.records import Vote
from store.store import Store
from tests.servers import running_cluster

SERVERS = (1, 2, 3)  # primaries
PARTITIONS = 16  # shares of the data
POSTERS = 2_000
ARTICLES = 10_000
VOTES = 20_000  # that are measured
PAGES = 1_000  # that are measured
AT_ONCE = 64  # tasks of the client
HASH = "$argon2id$v=19$m=19456,t=2,p=1$" + "x" * 22 + "$" + "x" * 43  # as long as the hash of a password

MILLION = 1_000_000
LARGE_USERS = 100 * MILLION
LARGE_VOTES = 10_000  # a second, all day
LARGE_POSTS = 1 * MILLION  # a day
LARGE_PAGES = 10_000  # of the whole site, a second
LARGE_VOTERS = LARGE_VOTES * 86_400 // LARGE_POSTS  # of an article, on average
FOLLOWS = 20  # of a user
BUSY = 0.5  # share of a core that a primary may take
HELD = 32  # GiB of data that a primary may hold


@dataclass(frozen=True, slots=True)
class Cost:
    """Answers per second, CPU microseconds per answer of all servers, and the share of the busiest one."""

    rate: float
    cpu: float
    share: float


@dataclass(frozen=True, slots=True)
class Memory:
    """Bytes of a user, a follow, an article in one group with its first vote, and a vote with its voter."""

    user: float
    follow: float
    article: float
    vote: float


async def measured(url: str, servers: Sequence["Redis"], partitions: int) -> tuple[Cost, Cost, Memory]:
    """The cost of a vote and that of a page, and the memory of what is stored, with all partitions on these servers."""
    store = await Store.open(url, partitions=partitions, cached_keys=0)
    load = Load(store)
    sizes = [used(servers)]
    counts = (POSTERS, FOLLOWS * POSTERS, ARTICLES)
    for times, doing in zip(counts, (load.register, load.follow, load.post), strict=True):
        await all_of(times, doing)
        delete_posted(servers)
        sizes.append(used(servers))
    voting = await cost(servers, VOTES, load.vote)
    reading = await cost(servers, PAGES, load.page)
    await store.close()
    bytes_each = [(after - before) / count for before, after, count in zip(sizes, sizes[1:], counts, strict=False)]
    return voting, reading, Memory(*bytes_each, vote=0)  # that of a vote is measured apart: see `of_a_vote`


class Load:
    """What the users of a store do. Each method takes the number of its call."""

    def __init__(self, store: Store) -> None:
        self.store = store
        self.names = [f"person-{number}" for number in range(POSTERS)]
        self.numbers: list[int] = []  # of the articles posted so far

    async def register(self, turn: int) -> None:
        partition = self.store.site.partition_of_user(self.names[turn])
        fields = ("name", self.names[turn], "password", HASH, "joined", self.store.site.clock(), "karma", 0)
        await self.store.site.redis.run(("HSET", keys.user(partition, self.names[turn]), *fields))

    async def follow(self, turn: int) -> None:
        followee = self.names[(turn + turn // POSTERS * 37 + 1) % POSTERS]  # another one each time for a follower
        await self.store.follows.follow(self.names[turn % POSTERS], followee)

    async def post(self, turn: int) -> None:
        draft = Draft(f"a title of usual length, number {turn}", f"https://example.com/{turn}", groups=("show",))
        posted = (await self.store.articles.post(self.names[turn % POSTERS], draft)).article
        assert posted is not None
        self.numbers.append(posted.number)

    async def vote(self, turn: int) -> None:
        await self.store.articles.vote(self.numbers[turn % ARTICLES], f"voter-{turn}", Vote.UP)

    async def page(self, turn: int) -> None:
        """The first page by score, with the votes of a different reader each time."""
        found = Reads(self.store, login=None)
        (shown,) = await found.pages([(listings.whole(self.store.site, Order.SCORE), Window(25))])
        numbers = [position.number for position in shown.positions]
        await asyncio.gather(found.articles(numbers), found.votes(numbers, f"voter-{turn}"))


def delete_posted(servers: Sequence["Redis"]) -> None:
    """Delete the keys that recognize repeated posts: they expire after a minute and are not counted for an article."""
    for server in servers:
        for key in server.scan_iter("posted:*", 1000):
            server.delete(key)


def of_a_vote(server: "Redis", voters: int) -> float:
    """Bytes of each of `voters` in a set. Sets of more than 128 have another encoding, three times as large."""
    key = keys.voted(0, 0)
    server.sadd(key, *(f"voter-{number:06d}" for number in range(voters)))
    size = server.memory_usage(key, samples=0)  # type: ignore[no-untyped-call]
    server.delete(key)
    return float(size) / voters


async def cost(servers: Sequence["Redis"], times: int, doing: Callable[[int], Awaitable[None]]) -> Cost:
    """What it costs to do something this number of times, as `all_of` does."""
    await all_of(AT_ONCE, doing)  # loads the scripts
    before, started_at = spent(servers), perf_counter()
    await all_of(times, doing)
    seconds = perf_counter() - started_at
    cpu = [after - earlier for after, earlier in zip(spent(servers), before, strict=True)]
    return Cost(rate=times / seconds, cpu=1e6 * sum(cpu) / times, share=max(cpu) / sum(cpu))


async def all_of(times: int, doing: Callable[[int], Awaitable[None]]) -> None:
    """Do something this number of times, each with the number of its turn, `AT_ONCE` at a time."""
    turns = iter(range(times))  # each of the tasks takes the next one

    async def some() -> None:
        for turn in turns:
            await doing(turn)

    await asyncio.gather(*(some() for _ in range(AT_ONCE)))


def spent(servers: Sequence["Redis"]) -> list[float]:
    """CPU seconds that each server has used."""
    return [info["used_cpu_user"] + info["used_cpu_sys"] for info in (server.info("cpu") for server in servers)]


def used(servers: Sequence["Redis"]) -> int:
    """The bytes of data of all servers."""
    return sum(server.info("memory")["used_memory_dataset"] for server in servers)


def large(alone: Cost, vote: Cost, page: Cost, memory: Memory) -> list[list[str]]:
    """
    The needs of a site with 100 million users, computed from measured costs. `alone` is the cost of a page where there
    is one partition, `page` that with `PARTITIONS`: a page reads every partition.
    """
    held = [
        (f"users, each with {FOLLOWS} follows", LARGE_USERS, memory.user + FOLLOWS * memory.follow),
        ("articles of a year, a million a day", 365 * LARGE_POSTS, memory.article),
        (f"votes of a week, {LARGE_VOTES:,} a second", 7 * 86_400 * LARGE_VOTES, memory.vote),
    ]
    gib = sum(count * each for _, count, each in held) / 2**30
    partitions = 2 ** math.ceil(math.log2(gib / HELD))
    of_partition = (page.cpu - alone.cpu) / (PARTITIONS - 1)
    done = [
        ("votes a second", LARGE_VOTES, vote.cpu),
        (f"pages a second, of {partitions} partitions", LARGE_PAGES, alone.cpu + (partitions - 1) * of_partition),
    ]
    cores = sum(count * each for _, count, each in done) / 1e6
    primaries = math.ceil(max(gib / HELD, cores / BUSY))
    return [
        *([what, f"{count:,}", f"{each:.0f} B", f"{count * each / 2**30:,.0f} GiB"] for what, count, each in held),
        *([what, f"{count:,}", f"{each:.0f} µs", f"{count * each / 1e6:.1f} cores"] for what, count, each in done),
        [f"primaries of {HELD} GiB that are {BUSY:.0%} busy", "", "", f"{primaries}, and as many replicas"],
    ]


def main() -> None:
    rows, last = [], None
    with (
        tempfile.TemporaryDirectory() as folder,
        valkey.running(Path(folder)) as url,
        Redis.from_url(url, decode_responses=True) as server,
    ):
        alone = asyncio.run(measured(url, [server], partitions=1))
        vote_bytes = of_a_vote(server, LARGE_VOTERS)
    rows.append(row("a server alone, 1 partition", alone))
    for count in SERVERS:
        with (
            tempfile.TemporaryDirectory() as folder,
            running_cluster(Path(folder), primaries=count, replicas=0) as cluster,
            ExitStack() as stack,
        ):
            servers = [stack.enter_context(server.client()) for server in cluster.servers]
            last = asyncio.run(measured(cluster.url, servers, partitions=PARTITIONS))
        rows.append(row(f"{count} of a cluster, {PARTITIONS} partitions", last))
    head = ["primaries", "votes/s", "µs a vote", "busiest", "pages/s", "µs a page", "busiest"]
    print(markdown(head, rows))
    assert last is not None
    (_, page_alone, _), (vote, page, memory) = alone, last
    needs = large(page_alone, vote, page, replace(memory, vote=vote_bytes))
    print()
    print(markdown(["what", "how many", "each", "in all"], needs))


def row(what: str, found: tuple[Cost, Cost, Memory]) -> list[str]:
    costs = [
        text for cost in found[:2] for text in (f"{cost.rate:,.0f}", f"{cost.cpu:.0f}", f"{100 * cost.share:.0f} %")
    ]
    return [what, *costs]


if __name__ == "__main__":
    main()
