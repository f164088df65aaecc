"""
Measures how long it takes to annul the votes of a user, which then count no more, and how long requests wait meanwhile.

    python -m bench.annulments [URL] [--votes 100000]

Without the URL of an empty database, an SQLite file is used. Two users vote on as many articles as `--votes` says, by
1,000 others in 20 groups. The votes of the first are annulled while all articles are in Valkey, those of the second
when all are archived, which means in the database only. Each annulment is reverted before the next step, so that the
votes count again.

One process does everything: it also writes the database, and the request that is sent meanwhile, an article by id every
5 milliseconds, waits for all of that. Garbage is collected, and threads take turns, as in a server. On a machine that
has other work, compare with what the request waits while nothing is annulled, which is printed first, and see the
processor time of this process and of Valkey.
"""

import argparse
import asyncio
import os
import tempfile
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable
from contextlib import asynccontextmanager, suppress
from pathlib import Path

from archive import annulments
from archive.mover import HotLimits, Mover
from archive.stepwise import Delayed
from database.database import Database, mirroring
from server.app import collect_garbage_less_often, shorten_thread_switches
from server.managed_valkey import server
from store import annulments as actions
from store import keys, reverts
from store.articles import Draft
from store.moderation_records import AnnulmentState
from store.records import Vote
from store.roles import OPERATOR
from store.store import Store

POSTERS, GROUPS = 1_000, 20
AT_ONCE = 200  # articles that are posted, and voted on, at the same time
PAUSE = 0.005  # seconds between two measured requests, and between two looks at whether something is done
IDLE = 5.0  # seconds in which the request is sent while nothing is annulled
VOTING_CLOSED = 8 * 86_400_000  # milliseconds after a post, a day more than votes are open
FIRST, SECOND = "mallory", "trudy"  # the users whose votes are annulled


class Clock:
    """The clock of the store, which can be set `ahead` (milliseconds)."""

    def __init__(self) -> None:
        self.ahead = 0

    def __call__(self) -> int:
        return time.time_ns() // 1_000_000 + self.ahead


async def main(url: str | None, votes: int) -> None:
    clock = Clock()
    collect_garbage_less_often()
    shorten_thread_switches()
    with tempfile.TemporaryDirectory() as folder, server.running(Path(folder)) as redis_url:
        store = await Store.open(redis_url, clock=clock)
        database = Database(url or f"sqlite:///{folder}/upvote.db")
        await database.open()
        async with mirroring(database, store.site):
            numbers = await fill(store, votes)
            await caught_up(store)
            await measure_idle(store, numbers[0])
            await annul_and_revert(store, database, FIRST, numbers[0], "in Valkey")
            clock.ahead += VOTING_CLOSED
            # archives all articles at once
            mover = Mover(store.site, database, HotLimits(articles=0, articles_per_user=0), notice=0, removal_delay=0)
            await mover.move()
            await mover.close()
            print(f"archived: {await store.site.redis.run(('HGET', keys.archived(0), 'count'))} articles", flush=True)
            await annul_and_revert(store, database, SECOND, numbers[0], "archived")
        await database.close()
        await store.close()


async def fill(store: Store, votes: int) -> list[int]:
    """Post articles on which both users vote, and return their numbers."""
    people = [FIRST, SECOND, *(f"poster-{n}" for n in range(POSTERS))]
    await store.site.redis.pipeline(
        [("HSET", keys.user(0, name), "name", name, "joined", store.site.clock()) for name in people]
    )
    numbers: list[int] = []
    for start in range(0, votes, AT_ONCE):
        some = range(start, min(start + AT_ONCE, votes))
        posted = await asyncio.gather(*(_post(store, n) for n in some))
        await asyncio.gather(*(store.articles.vote(each, who, Vote.UP) for each in posted for who in (FIRST, SECOND)))
        numbers += posted
    return numbers


async def _post(store: Store, n: int) -> int:
    draft = Draft(f"article {n}", content=f"the text of article {n}", groups=(f"group-{n % GROUPS}",))
    return (await store.articles.post(f"poster-{n % POSTERS}", draft, idempotency_key=str(n))).number


async def annul_and_revert(store: Store, database: Database, voter: str, read: int, where: str) -> None:
    """Annul all votes of a voter, and revert that. `read` is the number of the article that is read meanwhile."""
    done = await actions.annul(store.site, OPERATOR, voter, since=None, until=None, reason="a ring")
    assert done.action
    number = done.action.number
    await measure(f"annulled, {where}", store, database, number, read, AnnulmentState.DONE)
    await reverts.revert(store.site, OPERATOR, number, "a mistake")
    await measure(f"restored, {where}", store, database, number, read, AnnulmentState.RESTORED)


async def measure_idle(store: Store, article: int) -> None:
    async with requests_beside(store, article) as waits:
        await asyncio.sleep(IDLE)
    print(f"nothing annulled: a request waits {shown(waits)}; {load()}", flush=True)


async def measure(title: str, store: Store, database: Database, number: int, read: int, end: AnnulmentState) -> None:
    """Print how long it takes until the annulment of the action `number` has reached the state `end`."""
    started, used, of_valkey = time.perf_counter(), time.process_time(), await valkey_seconds(store)
    async with requests_beside(store, read) as waits:
        while True:
            with suppress(Delayed):
                await annulments.settle(store, database, number)
            found = await reverts.read_action(store.site, number)
            if found and found.annulment and found.annulment.state is end:
                break
            await asyncio.sleep(PAUSE)
        seconds = time.perf_counter() - started
        await caught_up(store)
        mirrored = time.perf_counter() - started
    here, there = time.process_time() - used, await valkey_seconds(store) - of_valkey
    processor = f"processor: {here:.1f} s here, {there:.1f} s in Valkey"
    print(
        f"{title}: {seconds:.1f} s, in the database after {mirrored:.1f} s; {processor}; "
        f"a request beside waits {shown(waits)}; {load()}",
        flush=True,
    )


@asynccontextmanager
async def requests_beside(store: Store, article: int) -> AsyncIterator[list[float]]:
    """Send a request again and again while the context is open. The list gets how long each waits, in milliseconds."""
    waits: list[float] = []
    key = keys.article(0, article)
    task = asyncio.create_task(_beside(lambda: store.site.redis.run(("HGETALL", key)), waits))
    yield waits
    task.cancel()


async def valkey_seconds(store: Store) -> float:
    """The processor time of the thread of Valkey that runs commands."""
    text = str(await store.site.redis.run(("INFO", "cpu")))
    found = dict(line.split(":") for line in text.split() if ":" in line)
    return float(found["used_cpu_sys_main_thread"]) + float(found["used_cpu_user_main_thread"])


def load() -> str:
    return f"load {os.getloadavg()[0]:.0f}"


async def _beside(request: Callable[[], Awaitable[object]], waits: list[float]) -> None:
    while True:
        started = time.perf_counter()
        await request()
        waits.append((time.perf_counter() - started) * 1000)
        await asyncio.sleep(PAUSE)


def shown(waits: Iterable[float]) -> str:
    """Milliseconds: half of the requests, 99 %, 99.9 %, and the longest."""
    ordered = sorted(waits)
    at = [ordered[min(int(len(ordered) * share), len(ordered) - 1)] for share in (0.5, 0.99, 0.999, 1)]
    return " / ".join(f"{each:.1f}" for each in at) + f" ms (p50 / p99 / p99.9 / longest of {len(ordered)})"


async def caught_up(store: Store) -> None:
    """Wait until the database has all entries."""
    while True:
        with suppress(Delayed):
            await annulments.wait_for_database(store.site)
            return
        await asyncio.sleep(PAUSE)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(prog="python -m bench.annulments", description=(__doc__ or "").split("\n\n")[0])
    parser.add_argument("url", nargs="?", metavar="URL")
    parser.add_argument("--votes", type=int, default=100_000)
    arguments = parser.parse_args()
    asyncio.run(main(arguments.url, arguments.votes))
