"""
A moderator may annul all votes of a user, so that they count no more, and restore them. The server does that in steps.
It and all its processes, also Valkey, are killed with SIGKILL when some steps are done. The next server finishes them:
counts, karma and rows of the database are those of votes that are all annulled, or all restored.

M8 is a row of `docs/behaviours.md`, which this test proves.
"""

import asyncio
import signal
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager
from pathlib import Path
from time import monotonic
from typing import NamedTuple

import pytest
import sqlalchemy

from database.database import Database
from store import annulments, keys, reverts
from store.articles import Draft
from store.moderation_records import AnnulmentState, ModerationAction
from store.records import Vote
from store.roles import OPERATOR
from store.store import Store
from tests.conftest import registered
from tests.servers import running_postgres
from tests.soak.processes import processes_below
from tests.soak.serve_process import ServeProcess

PARTITIONS, POSTERS, ARTICLES, AT_ONCE = 4, 10, 2_400, 100  # the last: articles that are posted at the same time
VOTER, OTHER = "Mallory", "alice"
TRIES = 6  # as a kill may come too late
PATIENCE = 120.0  # seconds

COUNTS = "SELECT number, up, down FROM articles"
COUNTED = "SELECT count(*) FROM votes JOIN articles USING (number) WHERE voter = 'Mallory' AND counts"


class Shown(NamedTuple):
    """What the votes of a user change. Counts are upvotes and downvotes, by the numbers of articles."""

    counts: dict[int, tuple[int, int]]
    karma: int  # of all posters
    in_database: dict[int, tuple[int, int]]
    counted: int  # votes of the user, in the database


@pytest.fixture(params=["sqlite", "postgresql"])
def database_url(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[str]:
    if request.param == "sqlite":
        yield f"sqlite:///{tmp_path}/upvote.db"
        return
    with running_postgres() as postgres:
        postgres.execute("CREATE DATABASE upvote_kills")
        yield postgres.url("upvote_kills")


class Site:
    """A server on a data folder, which may be killed and started again."""

    def __init__(self, folder: Path, database_url: str) -> None:
        self.server = ServeProcess(folder, database_url, {"UPVOTE_PARTITIONS": str(PARTITIONS)})
        self.articles: list[int] = []

    @asynccontextmanager
    async def store(self) -> AsyncIterator[Store]:
        address = (self.server.data_dir / "address").read_text()
        store = await Store.open(f"unix://{address}", partitions=PARTITIONS)
        yield store
        await store.close()

    async def fill(self) -> None:
        """Articles of some posters, all with a vote of one user, every third of them down, and half with one more."""
        async with self.store() as store:
            for name in (VOTER, OTHER, *(f"poster-{n}" for n in range(POSTERS))):
                await registered(store, name)
            for start in range(0, ARTICLES, AT_ONCE):
                posted = await asyncio.gather(*(self._post(store, n) for n in range(start, start + AT_ONCE)))
                self.articles += posted
                await asyncio.gather(
                    *(
                        store.articles.vote(each, VOTER, Vote.UP if n % 3 else Vote.DOWN)
                        for n, each in enumerate(posted)
                    ),
                    *(store.articles.vote(each, OTHER, Vote.UP) for each in posted[::2]),
                )

    async def _post(self, store: Store, n: int) -> int:
        draft = Draft(f"article {n}", content="a text", groups=(f"group-{n % 3}",))
        return (await store.articles.post(f"poster-{n % POSTERS}", draft, str(n))).number

    async def killed_when(self, number: int, is_between: Callable[[int], bool]) -> bool:
        """
        Kill the server and all its processes when it has done a part of the action with this number, and start it
        again. `is_between` tells by the count of annulled votes whether only a part is done. Returns whether that was
        so. When this is read, the new server has not gone on yet: it waits until the lease of the killed one ends.
        """
        assert self.server.process
        family = processes_below(self.server.process.pid)
        async with self.store() as store:
            async with asyncio.timeout(PATIENCE):
                while not await self._is_begun(store, number, is_between):
                    pass
            for each in family:
                each.send(signal.SIGSTOP)
        for each in family:
            each.send(signal.SIGKILL)
        await asyncio.to_thread(self.server.process.wait)
        await self.server.close_log()
        await self.server.start()
        async with self.store() as store:
            return is_between(await annulments.held(store.site, number))

    async def _is_begun(self, store: Store, number: int, is_between: Callable[[int], bool]) -> bool:
        found = await reverts.read_action(store.site, number)
        is_done = found and found.annulment and found.annulment.state in (AnnulmentState.DONE, AnnulmentState.RESTORED)
        return bool(is_done) or is_between(await annulments.held(store.site, number))

    async def until(self, number: int, state: AnnulmentState) -> ModerationAction:
        async with self.store() as store, asyncio.timeout(PATIENCE):
            while True:
                found = await reverts.read_action(store.site, number)
                if found and found.annulment and found.annulment.state is state:
                    return found
                await asyncio.sleep(0.05)

    async def shown(self, database: Database, *, is_annulled: bool) -> Shown:
        """What is shown once it is as expected, as the database follows later; or after `PATIENCE` in any case."""
        expected, deadline = _expected(self.articles, is_annulled=is_annulled), monotonic() + PATIENCE
        while True:
            found = await self._shown(database)
            if found == expected or monotonic() > deadline:
                return found
            await asyncio.sleep(0.5)

    async def _shown(self, database: Database) -> Shown:
        async with self.store() as store:
            site, of_articles = store.site, dict[int, tuple[int, int]]()
            for number in self.articles:
                key = keys.article(site.partition_of_article(number), number)
                up, down = await site.redis.run(("HMGET", key, "up", "down"))
                of_articles[number] = int(up), int(down)
            karma = 0
            for n in range(POSTERS):
                name = f"poster-{n}"
                karma += int(
                    await site.redis.run(("HGET", keys.user(site.partition_of_user(name), name), "karma")) or 0
                )
        rows, counted = await database.run(_rows)
        return Shown(of_articles, karma, rows, counted)


def _rows(connection: sqlalchemy.Connection) -> tuple[dict[int, tuple[int, int]], int]:
    counts = {number: (up, down) for number, up, down in connection.execute(sqlalchemy.text(COUNTS))}
    return counts, int(connection.execute(sqlalchemy.text(COUNTED)).scalar_one())


@pytest.mark.timeout(900)
async def test_votes_are_annulled_and_restored_though_the_server_is_killed_half_way(  # M8
    tmp_path: Path, database_url: str
) -> None:
    site, database = Site(tmp_path / "data", database_url), Database(database_url)
    await site.server.start()
    try:
        await site.fill()
        await database.open()
        # kills that have come half way
        proven = {AnnulmentState.DONE: 0, AnnulmentState.RESTORED: 0}
        before: Shown | None = None
        for _ in range(TRIES):
            async with site.store() as store:
                done = await annulments.annul(store.site, OPERATOR, VOTER, since=None, until=None, reason="a ring")
            assert done.action
            number = done.action.number
            proven[AnnulmentState.DONE] += await site.killed_when(number, lambda held: 0 < held < ARTICLES)
            action = await site.until(number, AnnulmentState.DONE)
            assert action.annulment and (action.annulment.held, action.annulment.total) == (ARTICLES, ARTICLES)
            annulled = await site.shown(database, is_annulled=True)
            assert annulled == _expected(site.articles, is_annulled=True)

            async with site.store() as store:
                await reverts.revert(store.site, OPERATOR, number, "a mistake")
            proven[AnnulmentState.RESTORED] += await site.killed_when(number, lambda held: 0 < held < ARTICLES)
            action = await site.until(number, AnnulmentState.RESTORED)
            assert action.annulment and action.annulment.held == 0
            restored = await site.shown(database, is_annulled=False)
            assert restored == _expected(site.articles, is_annulled=False) == (before or restored)
            before = restored
            if all(proven.values()):
                break
        assert all(proven.values()), proven
    finally:
        site.server.terminate()
        await database.close()


def _expected(articles: list[int], *, is_annulled: bool) -> Shown:
    """What follows from the votes of `Site.fill`."""
    counts = {}
    for index, number in enumerate(articles):
        of_part = index % AT_ONCE
        up, down = 1 + (of_part % 2 == 0), 0
        if not is_annulled:
            up, down = up + (of_part % 3 > 0), down + (of_part % 3 == 0)
        counts[number] = up, down
    karma = sum(up - down - 1 for up, down in counts.values())
    return Shown(counts, karma, counts, 0 if is_annulled else len(articles))
