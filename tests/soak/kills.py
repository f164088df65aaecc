"""
Kills workers of the server, the whole server, Valkey, PostgreSQL and the process that archives at random moments, while
simulated people write and old conversations leave Redis for the database. The database ends up with every acknowledged
change, once and in order, and `upvote verify` finds nothing.

Run it alone with `make soak PART=kills KILLS=300 SEED=1`, with PostgreSQL with `POSTGRES=1`; 1,000 kills if not said.
"""

import argparse
import asyncio
import os
import random
import signal
import sys
import tempfile
import time
from collections import Counter, defaultdict
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from pathlib import Path
from typing import Any, NamedTuple

import sqlalchemy
from sqlalchemy import Connection, NullPool, text

from archive.steps import GRACE
from tests.servers import Postgres, running_postgres
from tests.soak.archiving import EagerArchiver, RedisLimits
from tests.soak.serve_process import PATIENCE, ROOT, ServeProcess, WrongAnswer
from tests.soak.server import Clock, clock_environment
from tests.soak.writers import Writers

WEIGHTS = {"worker": 4, "valkey": 4, "postgres": 4, "archiver": 3, "server": 1}  # how often each is killed
KILLS_BETWEEN_COMPARISONS = 7
WINDOW = 3_600  # seconds of voting: nothing closes by itself while this runs, as the clock only moves in steps
STAYING = (0, 0, 3, 20)  # articles that may stay in Redis, of which one number is chosen for each pass
PAUSE = 0.1  # seconds between two passes of the process that archives


class Rows(NamedTuple):
    """
    The rows that a database has, or should have. Keys are the numbers in ids, such as 12 for article:12, or a number
    and the name of a voter. A vote is 1 or -1.
    """

    articles: dict[int, tuple[str, str, int, int]]  # title, poster, up, down
    votes: dict[tuple[int, str], int]
    follows: set[tuple[str, str]]  # follower, followee
    edits: dict[int, list[str]]  # contents, in their order
    comments: dict[int, tuple[Any, ...]]  # article, parent, poster, content, state; up and down unless it is deleted
    comment_votes: dict[tuple[int, str], int]
    comment_edits: dict[int, list[str]]

    def difference(self, other: "Rows") -> str:
        """What these rows have and `other` has not, and the reverse; "" if they are equal."""
        for name, mine, others in zip(self._fields, self, other, strict=True):
            if mine != others:
                one, two = (set(map(repr, each.items() if isinstance(each, dict) else each)) for each in (mine, others))
                return f"{name}: {sorted(one - two)[:5]}, and should be {sorted(two - one)[:5]}"
        return ""


class Kills:
    """People who write to a server, processes of it that are killed meanwhile, and comparisons of the database."""

    def __init__(self, folder: Path, postgres: Postgres | None, seed: int) -> None:
        self._clock = Clock(folder)
        self._clock.set(time.time_ns() // 1_000_000)
        environment = {"UPVOTE_VOTING_WINDOW": str(WINDOW), **clock_environment(ROOT, self._clock)}
        server = ServeProcess(folder / "data", postgres.url() if postgres else None, environment)
        self.server, self._log = server, folder / "archiver.log"
        self._archiver = EagerArchiver(ROOT, server.environment(), self._log)
        self._gone: set[int] = set()  # numbers of articles with comments that have left Redis
        self._archiving = asyncio.Lock()  # no pass begins while the server is down: it would start a Valkey of its own
        self.postgres = postgres
        self.random = random.Random(seed)
        self.writers = Writers(server, seed)
        self.counts: Counter[str] = Counter()
        url = server.database_url.replace("postgresql:", "postgresql+psycopg:")
        # a pooled connection would break when PostgreSQL is killed
        self._engine = sqlalchemy.create_engine(url, poolclass=NullPool)

    async def run(self, kills: int) -> None:
        await self.server.start()
        await self.writers.register()
        archiving = asyncio.create_task(self._archive())
        try:
            await self._kill_often(kills)
            await self._verify()
        finally:
            archiving.cancel()
            await asyncio.wait([archiving])
            await self._archiver.kill()
        code = await self.server.end(signal.SIGTERM)
        if code != 0:
            raise WrongAnswer(f"SIGTERM ended the server with {code}")

    async def _kill_often(self, kills: int) -> None:
        began, done = time.monotonic(), 0
        while done < kills:
            print(f"{time.monotonic() - began:6.1f} s  {done} kills, {len(self._gone)} conversations left", flush=True)
            self._close()
            writing = asyncio.create_task(self.writers.write())
            try:
                for _ in range(KILLS_BETWEEN_COMPARISONS):
                    await asyncio.sleep(self.random.uniform(0.05, 1.0))
                    await self._kill()
                done = self.kills()
                await self.server.until_ready()
            finally:
                self.writers.stop()
            await asyncio.wait_for(writing, PATIENCE)
            await self.writers.compare()
            await self._compare()
            await self._complete_pass()

    def kills(self) -> int:
        return sum(self.counts[victim] for victim in WEIGHTS)

    def _close(self) -> None:
        """Let so much time pass that all voting is closed and all conversations were quiet."""
        self._clock.set(self._clock.now + WINDOW * 1000 + GRACE + 1_000)
        self.writers.close_votes()

    async def _archive(self) -> None:
        """Let articles leave Redis again and again, also while a process restarts that this needs."""
        while True:
            await self._pass()
            await asyncio.sleep(PAUSE)

    async def _complete_pass(self) -> None:
        """Let articles leave Redis while nothing is killed: most passes beside kills are interrupted."""
        deadline = time.monotonic() + PATIENCE
        while outcome := await self._pass():
            if time.monotonic() > deadline:
                logged = self._log.read_text()[-2_000:]
                raise WrongAnswer(f"articles cannot leave Redis though nothing is killed: {outcome}; logged: {logged}")

    async def _pass(self) -> str:
        """Let articles leave Redis once. Returns why none could leave; "" if they could."""
        articles, at_once = self.random.choice(STAYING), self.random.choice((1, 10))
        limits = RedisLimits(articles, articles_per_user=1_000, at_once=at_once, days=0)
        async with self._archiving:
            await self._archiver.start()
            outcome = await self._archiver.archive(limits)
            if isinstance(outcome, str):
                self.counts["passes that were interrupted"] += 1
                await self._archiver.kill()
                return outcome
            found = {number_of(each.article) for each in self.writers.comments.values()} & set(outcome)
            self.counts["conversations that have left"] += len(found - self._gone)
            self.counts["conversations that came back"] += len(self._gone - found)
            self._gone = found
            return ""

    async def _verify(self) -> None:
        """
        Raises:
            WrongAnswer: `upvote verify` finds something that is wrong.
        """
        verify = await asyncio.create_subprocess_exec(
            sys.executable, "-m", "server", "verify", cwd=ROOT, env=self.server.environment(),
            stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.STDOUT,
        )  # fmt: skip
        printed, _ = await verify.communicate()
        # What Redis lets expire by its own clock is there for longer than the site's clock says.
        found = [line for line in printed.decode().splitlines() if " TTL: " not in line and "should be" in line]
        if found or verify.returncode not in (0, 1):
            raise WrongAnswer(f"verify finds {found[:20]}, and ends with {printed.decode()[-500:]}")

    async def _kill(self) -> None:
        victims = [victim for victim in WEIGHTS if victim != "postgres" or self.postgres]
        (victim,) = self.random.choices(victims, [WEIGHTS[victim] for victim in victims])
        if victim == "server":
            await self._archiver.kill()  # which ends the pass, if its process has begun
            async with self._archiving:
                await self._archiver.kill()
                await self.server.end(signal.SIGKILL)
                await self.server.start()
        elif victim == "postgres":
            assert self.postgres is not None
            self.postgres.kill()
            await asyncio.sleep(self.random.uniform(0.0, 1.0))
            await asyncio.to_thread(self.postgres.start)
        elif victim == "archiver":
            await self._archiver.kill()
        elif victim == "valkey":
            await self.server.until_ready()
            os.kill(self.server.valkey_pid(), signal.SIGKILL)
        elif workers := self.server.workers():
            os.kill(self.random.choice(workers).pid, signal.SIGKILL)
        else:
            return
        self.counts[victim] += 1

    async def _compare(self) -> None:
        """Wait until the database has what was acknowledged, and nothing else."""
        expected = self._expected()
        deadline = time.monotonic() + PATIENCE
        while difference := (await asyncio.to_thread(self._stored)).difference(expected):
            if time.monotonic() > deadline:
                raise WrongAnswer(f"the database has {difference}")
            await asyncio.sleep(0.1)

    def _stored(self) -> Rows:
        with self._engine.connect() as connection:
            return stored(connection)

    def _expected(self) -> Rows:
        posters = {id: (title, person.name) for person in self.writers.people for title, id in person.posts.items()}
        votes = {(number_of(id), name): 1 for id, (_, name) in posters.items()}
        for person in self.writers.people:
            for id, value in person.votes.items():
                if value != "NONE":
                    votes[number_of(id), person.name] = 1 if value == "UP" else -1
        up, down = (Counter(number for (number, _), value in votes.items() if value == sign) for sign in (1, -1))
        articles = {
            (number := number_of(id)): (title, name, up[number], down[number]) for id, (title, name) in posters.items()
        }
        follows = {(person.name, id.removeprefix("user:")) for person in self.writers.people for id in person.following}
        edits = {number_of(id): texts for person in self.writers.people for id, texts in person.edits.items() if texts}
        return Rows(articles, votes, follows, edits, *self._expected_comments())

    def _expected_comments(self) -> tuple[dict[int, tuple[Any, ...]], dict[tuple[int, str], int], dict[int, list[str]]]:
        """The last three fields of `Rows`: comments, and the votes on them and their edits."""
        writers, stubs = self.writers, self.writers.stubs()  # deleted comments that stay for their replies
        live = {id: each for id, each in writers.comments.items() if not each.is_deleted}
        votes = {(number_of(id), each.poster): 1 for id, each in live.items()}
        for person in writers.people:
            for id, value in person.comment_votes.items():
                if value != "NONE" and id in live:
                    votes[number_of(id), person.name] = 1 if value == "UP" else -1
        up, down = (Counter(number for (number, _), value in votes.items() if value == sign) for sign in (1, -1))
        rows: dict[int, tuple[Any, ...]] = {}
        for id, each in writers.comments.items():
            number, above = number_of(id), (number_of(each.article), each.parent and number_of(each.parent))
            if id in live:
                content = (each.edits or [each.content])[-1]
                rows[number] = (*above, each.poster, content, "VISIBLE", up[number], down[number])
            elif id in stubs:
                rows[number] = (*above, None, None, "DELETED")
        return rows, votes, {number_of(id): each.edits for id, each in live.items() if each.edits}


def stored(connection: Connection) -> Rows:
    """The rows of a database. An edit that was sent twice, because its response was lost, counts once."""
    rows = connection.execute(text("SELECT number, title, poster, up, down FROM articles"))
    articles = {number: (title, poster, up, down) for number, title, poster, up, down in rows}
    follows = {
        (follower, followee)
        for follower, followee in connection.execute(text("SELECT follower, followee FROM follows"))
    }
    columns = "number, article, parent, poster, content, state, up, down"
    comments = {
        number: (*values, state, up, down) if state == "VISIBLE" else (*values, state)
        for number, *values, state, up, down in connection.execute(text(f"SELECT {columns} FROM comments"))
    }
    return Rows(
        articles, votes_of(connection, "votes"), follows, edits_of(connection, "edits"),
        comments, votes_of(connection, "comment_votes"), edits_of(connection, "comment_edits"),
    )  # fmt: skip


def votes_of(connection: Connection, table: str) -> dict[tuple[int, str], int]:
    rows = connection.execute(text(f"SELECT number, voter, value FROM {table}"))
    return {(number, voter): value for number, voter, value in rows}


def edits_of(connection: Connection, table: str) -> dict[int, list[str]]:
    edits: defaultdict[int, list[str]] = defaultdict(list)
    rows = connection.execute(text(f"SELECT entry, number, content FROM {table}")).all()
    for _, number, content in sorted(rows, key=lambda row: tuple(map(int, row.entry.split("-")))):
        if edits[number][-1:] != [content]:
            edits[number].append(content)
    return dict(edits)


def number_of(id: str) -> int:
    return int(id.partition(":")[2])


@contextmanager
def postgres_if(is_postgres: bool) -> Iterator[Postgres | None]:
    with running_postgres() if is_postgres else nullcontext() as postgres:
        yield postgres


def run(kills: int, seed: int, is_postgres: bool) -> Counter[str]:
    """
    Kill so many processes. Returns how often each was killed, and what was written.

    Raises:
        WrongAnswer: something acknowledged is lost, doubled or out of order, or the server does not recover.
    """
    with postgres_if(is_postgres) as postgres, tempfile.TemporaryDirectory() as folder:
        run_of_kills = Kills(Path(folder), postgres, seed)
        try:
            asyncio.run(run_of_kills.run(kills))
        finally:
            run_of_kills.server.terminate()
        return run_of_kills.counts + run_of_kills.writers.counts


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--kills", type=int, default=1000)
    parser.add_argument("--postgres", action="store_true")
    parser.add_argument("--seed", type=int, default=random.SystemRandom().randrange(2**32))
    chosen = parser.parse_args()
    signal.signal(signal.SIGTERM, lambda number, frame: sys.exit(1))  # so that its server ends, too
    print(f"seed {chosen.seed}", flush=True)
    for name, number in sorted(run(chosen.kills, chosen.seed, chosen.postgres).items()):
        print(f"{number:>9,}  {name}")


if __name__ == "__main__":
    main()
