"""
`verify` while the archiver runs, which moves old articles from Redis to the database: it reports none that is only on
its way, and repairs what is wrong or lost.

`mirrored` brings the database up to date with the log of the store. `on_both` runs a test with SQLite and with
PostgreSQL.
"""

import asyncio
import random
from collections.abc import AsyncIterator, Callable, Coroutine, Iterable, Sequence
from contextlib import asynccontextmanager, suppress
from functools import partial
from typing import Any

import pytest

from archive import maintenance, places, steps, write_back
from archive.mover import HotLimits, Mover
from archive.reads import ArchiveUnavailable
from archive.steps import Archivable
from database.database import Database
from database.mirror import Mirror
from store import keys, log, moving
from store.errors import NotFound
from store.maintenance import reindex, verify
from store.maintenance.import_stories import Story, import_batch
from store.maintenance.verify import Finding
from store.ranking.formulas import DAY, Order
from store.site import Site
from store.store import Store
from tests.conftest import Clock
from tests.database.conftest import mirrored, on_both

pytestmark = [pytest.mark.one_server, on_both]

PEOPLE = [f"poster{i}" for i in range(5)]
KEPT = 24  # articles that stay in Redis, which are called hot


@pytest.fixture
def slow_steps(monkeypatch: pytest.MonkeyPatch) -> None:
    """Articles stay for a moment in both Redis and the database, as under load."""
    remove = steps.remove

    async def slowly(site: Site, partition: int, articles: Sequence[Archivable], token: str) -> int:
        removed = 0
        for each in articles:
            await asyncio.sleep(0.001)
            removed += await remove(site, partition, [each], token)
        return removed

    monkeypatch.setattr(steps, "remove", slowly)


class ArchivingStore:
    """A store with the process that archives its articles, and the mirror that writes its log to the database."""

    def __init__(self, store: Store, database: Database, clock: Clock) -> None:
        self.store, self.database, self.clock, self.site = store, database, clock, store.site
        self.archiver = Mover(
            store.site, database, HotLimits(articles=KEPT, articles_per_user=1_000), notice=0, removal_delay=0.02
        )
        self.mirror = Mirror(store.site, database)
        self.posters: dict[int, str] = {}  # by the numbers of all articles that were imported

    async def begin(self, number: int) -> set[int]:
        """Import articles, and archive as many as there are partitions. Return the numbers of all."""
        stories = [
            Story(
                str(i),
                "A story",
                link="",
                poster=PEOPLE[i % 5],
                time=self.clock.now - (30 * DAY + 60 * i) * 1000,
                votes=i % 7 + 1,
                groups=("show",),
            )
            for i in range(number)
        ]
        await import_batch(self.store, stories)
        for each in await self.hot():
            hash = keys.article(self.site.partition_of_article(each), each)
            self.posters[each] = await self.site.redis.run(("HGET", hash, "poster"))
        await self.archive(number - self.site.partitions)
        return set(self.posters)

    async def archive(self, kept: int = KEPT) -> None:
        """Archive what is beyond a limit, and remove the places of what came back."""
        self.archiver.limits = HotLimits(articles=kept, articles_per_user=1_000)
        async with running(self.mirror.catch_up):
            for _ in range(3):
                await self.archiver.move()
                await asyncio.sleep(self.archiver.removal_delay)

    async def hot(self) -> set[int]:
        """The articles that Redis has."""
        commands = [
            ("ZRANGE", keys.index(partition, Order.TIME.value), 0, -1) for partition in range(self.site.partitions)
        ]
        return {int(member) for part in await self.site.redis.pipeline(commands) for member in part}

    async def archived(self) -> set[int]:
        found = maintenance.records_of(self.site, self.database, with_returned=False)
        return {record.number async for some in found for record in some}

    async def findings(self, *, repair: bool = False) -> list[Finding]:
        """What `verify` reports."""
        found: list[Finding] = []
        tally = await maintenance.verify(self.site, self.database, found.append, repair=repair)
        await verify.verify(self.site, found.append, repair=repair, archived=tally)
        return found

    async def delete(self, number: int) -> None:
        """Delete an article as its poster; an archived one is written back to Redis first."""
        poster = self.posters[number]
        command = partial(self.store.articles.delete, number, poster)
        waker = write_back.Waker(poster, is_bounded=False)
        while True:
            with suppress(ArchiveUnavailable):  # many of this poster's are being archived
                await write_back.run_change(self.store, self.database, number, command, waker)
                return

    async def lose(self, numbers: Iterable[int]) -> None:
        """Lose archived articles as earlier versions of `verify --repair` did: they marked what had left Redis."""
        for number in numbers:
            await self.site.redis.run(("SADD", moving.MOVING(self.site.partition_of_article(number)), number))
        await self.archive()


@asynccontextmanager
async def running(*work: Callable[[], Coroutine[Any, Any, object]]) -> AsyncIterator[None]:
    """Do each of these again and again, all at once."""

    async def again(each: Callable[[], Coroutine[Any, Any, object]]) -> None:
        while True:
            await each()
            await asyncio.sleep(0.002)

    tasks = [asyncio.create_task(again(each)) for each in work]
    try:
        yield
    finally:
        ended = [task for task in tasks if task.done()]
        for task in tasks:
            task.cancel()
        await asyncio.wait(tasks)
        for task in ended:
            task.result()


@pytest.fixture
def world(store: Store, each_database: Database, clock: Clock) -> ArchivingStore:
    return ArchivingStore(store, each_database, clock)


async def test_repairs_while_articles_move_lose_nothing_and_bring_no_deleted_article_back(world, slow_steps):
    posted = await world.begin(300)
    remaining, deleted = sorted(posted), []

    async def delete():
        deleted.append(remaining.pop(len(remaining) // 3))
        await world.delete(deleted[-1])

    repair = partial(world.findings, repair=True)
    async with running(world.mirror.catch_up, repair, repair, repair, delete):
        while len(await world.hot()) > KEPT + 10:
            world.archiver.limits = HotLimits(articles=KEPT, articles_per_user=1_000)
            await world.archiver.move()
    with suppress(NotFound):
        await world.delete(deleted[-1])  # which may have been interrupted
    await world.archive()

    assert await world.archived() | await world.hot() == posted.difference(deleted)
    assert await world.findings() == []


async def test_nothing_is_found_while_articles_move(world, slow_steps):
    posted, chance = sorted(await world.begin(300)), random.Random(1)
    found = []

    async def look():
        found.extend(await world.findings())

    async def bring_back():
        with suppress(ArchiveUnavailable):
            await write_back.bring_back(world.store, world.database, chance.choice(posted))

    async with running(world.mirror.catch_up, look, look, bring_back):
        while len(await world.hot()) > KEPT + 10:
            world.archiver.limits = HotLimits(articles=KEPT, articles_per_user=1_000)
            await world.archiver.move()

    assert found == []


@pytest.mark.parametrize("is_repaired", [False, True], ids=["", "counts were repaired since"])
async def test_articles_that_were_lost_come_back(world, is_repaired, monkeypatch):
    posted = await world.begin(120)
    await world.archive()
    before = await counts(world)
    lost = set(sorted(await world.archived())[::9])
    await world.lose(lost)
    assert await world.archived() | await world.hot() == posted - lost
    if is_repaired:
        with monkeypatch.context() as patched:
            patched.setattr(maintenance._Checks, "others", nothing)
            assert await world.findings(repair=True)

    found = await world.findings(repair=True)

    expected = {keys.article(world.site.partition_of_article(number), number) for number in lost}
    assert {each.where for each in found} >= expected
    assert all(each.repaired for each in found)
    assert await world.hot() >= lost
    assert await world.findings() == []
    await world.archive()
    assert await world.archived() | await world.hot() == posted
    assert await counts(world) == before
    assert await world.findings() == []


async def nothing(checks: object) -> None:
    """What a `verify` of earlier versions does not check."""


async def counts(world: ArchivingStore) -> list[object]:
    """How many archived articles Redis counts, and the karma of all."""
    site = world.site
    known = [await steps.known_counts(site, partition) for partition in range(site.partitions)]
    plain = [{name: text.split()[:2] for name, text in each.items()} for each in known]
    karma = [("HGET", keys.user(site.partition_of_user(name), name), "karma") for name in PEOPLE]
    return [plain, await site.redis.pipeline(karma)]


async def test_an_article_whose_deletion_the_database_has_still_to_apply_is_not_lost(world):
    await world.begin(40)
    await world.archive()
    plain, returned = max(await world.hot()), min(await world.archived())
    for number in plain, returned:
        await world.delete(number)
    world.archiver.limits = HotLimits(articles=KEPT, articles_per_user=1_000)
    for _ in range(2):
        await asyncio.sleep(world.archiver.removal_delay)
        await world.archiver.move()  # removes the places, and the mark, of the one that came back to be deleted
    marks = moving.MOVING(world.site.partition_of_article(returned))
    assert not await world.site.redis.run(("SISMEMBER", marks, returned))

    assert await world.findings(repair=True) == []
    await mirrored(world.store, world.database)
    assert not {plain, returned} & {*await world.archived(), *await world.hot()}


async def test_nothing_is_written_back_while_the_database_cannot_follow_the_log(world):
    """The database is then built anew, and until then nobody knows what was deleted meanwhile."""
    await world.begin(40)
    number = max(await world.hot())
    await world.site.redis.run(("HSET", keys.store(), log.IDENTITY_FIELD, "another"))
    await world.store.articles.delete(number, world.posters[number])
    await world.site.redis.run(("DEL", keys.log(world.site.partition_of_article(number))))

    found = await world.findings(repair=True)

    assert keys.article(world.site.partition_of_article(number), number) not in [each.where for each in found]
    assert number not in await world.hot()


async def test_a_deletion_that_the_log_no_longer_has_is_in_a_rebuilt_database(world):
    """An archived article came back to be deleted, and the log lost the entry before the database had read it."""
    await world.begin(40)
    await world.archive()
    number = min(await world.archived())
    await world.delete(number)
    await world.site.redis.run(("DEL", keys.log(world.site.partition_of_article(number))))

    await mirrored(world.store, world.database)
    await world.archive()

    assert not await world.site.redis.run(("SISMEMBER", moving.MOVING(world.site.partition_of_article(number)), number))
    assert await world.findings(repair=True) == []
    assert number not in {*await world.archived(), *await world.hot()}


async def test_an_article_that_leaves_while_a_listing_is_renewed_is_not_above_its_greatest_value(world, monkeypatch):
    """Redis has the greatest value that an archived article has in a listing, and asks the database below it only."""
    await world.begin(40)
    await reindex.set_weights(world.site, "show", {"vote_score": 9_000.0}, progress=lambda count: None)
    set_greatest, calls = steps.set_greatest, []

    async def after_another(*arguments):
        calls.append(arguments)
        if len(calls) == 1:
            await world.archive()
        return await set_greatest(*arguments)

    monkeypatch.setattr(steps, "set_greatest", after_another)
    await maintenance.verify(world.site, world.database, print, repair=True)

    (greatest,) = await world.database.run(places.greatest, ["group:show:score"])
    field = "top:group:show:score"
    noted = [
        await world.site.redis.run(("HGET", keys.archived(partition), field))
        for partition in range(world.site.partitions)
    ]
    assert len(calls) > 1
    assert max(float(value) for value in noted if value) == greatest


async def test_an_article_that_could_not_have_been_archived_is_not_written_back(world):
    """It is still open to votes, so that no archiver has moved it: Redis has lost it in another way."""
    await world.begin(40)
    await world.archive()
    number = min(await world.hot())
    world.clock.now -= 40 * DAY * 1000
    await world.site.redis.run(("DEL", keys.article(world.site.partition_of_article(number), number)))

    await maintenance.verify(world.site, world.database, print, repair=True)

    assert not await world.site.redis.run(("EXISTS", keys.article(world.site.partition_of_article(number), number)))


async def test_a_count_that_changes_while_it_is_repaired_is_found_again(world, monkeypatch):
    """The script that repairs it sees that articles have moved since they were counted."""
    await world.begin(40)
    await world.archive()
    number = min(await world.archived())
    partition = world.site.partition_of_article(number)
    await world.site.redis.run(("HINCRBY", keys.archived(partition), "count", 7))
    sums_of, calls = maintenance._sums_of, []

    async def slowly(*arguments):
        sums = await sums_of(*arguments)
        calls.append(sums)
        if len(calls) == 1:
            assert await write_back.bring_back(world.store, world.database, number)
        return sums

    monkeypatch.setattr(maintenance, "_sums_of", slowly)
    found = await world.findings(repair=True)

    stored = await world.site.redis.run(("HGET", keys.archived(partition), "count"))
    assert len(calls) == 2
    assert [each.where for each in found] == [f"{keys.archived(partition)} count"]
    assert int(stored or 0) == len(
        [each for each in await world.archived() if world.site.partition_of_article(each) == partition]
    )
    assert await world.findings() == []


async def test_an_article_that_came_back_while_it_was_looked_at_is_not_marked_again(world, monkeypatch):
    """It was archived when the database was read, and is an article like any other when Redis is."""
    await world.begin(40)
    await world.archive()
    number = min(await world.archived())
    find_moving = maintenance._find_moving

    async def after_its_return(site, numbers, *, repair):
        if number in numbers and await write_back.bring_back(world.store, world.database, number):
            await world.archive(40)
        return await find_moving(site, numbers, repair=repair)

    monkeypatch.setattr(maintenance, "_find_moving", after_its_return)
    assert await world.findings(repair=True) == []
    assert number in await world.hot()
