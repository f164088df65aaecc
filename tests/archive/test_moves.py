"""
Old articles leave Redis for the archive in the database, and come back, while others read or change them (D2, D3): no
answer shows it at any moment.

A `world` is a store of which some articles are archived, with the answers of all reads. A schedule runs the steps of a
move at chosen points of a read: before its commands or queries.

`on_both` runs a test with SQLite and with PostgreSQL. `examples` is how many examples Hypothesis tries: fewer in `make
test`.

Codes such as D2 after the names of tests are rows of `docs/behaviours.md`, which these tests prove.
"""

import asyncio
import random
from collections.abc import AsyncIterator, Coroutine, Iterator
from contextlib import AsyncExitStack
from dataclasses import replace
from typing import Any, NamedTuple

import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from archive import moments, reads, write_back
from archive.reads import ArchiveUnavailable
from resolvers.dataloader import Reads
from store import keys, listings
from store.client import client
from store.client.client import RedisUsage
from store.errors import StoreUnavailable
from store.listings import Listing, Window
from store.ranking.formulas import Order
from tests.archive.moves import Archive, BringBack, Move, Schedule, SeparateQueries, World, separate
from tests.database.conftest import on_both
from tests.examples import examples

pytestmark = pytest.mark.one_server
SIZE, HOT = 60, 30  # articles, and those that stay in Redis
READERS = 4  # that read at once

# any move: a pass of the archiver with its limits, or articles that come back, by their places among the archived ones
moves = st.one_of(
    st.builds(Archive, st.integers(0, HOT), st.integers(0, 9)),
    st.builds(BringBack, st.tuples(st.integers(0, SIZE), st.integers(0, SIZE))),
)


class Loop:
    """A world and its event loop, for tests that are no coroutines: Hypothesis calls none."""

    def __init__(self, runner: asyncio.Runner, world: World) -> None:
        self.runner, self.world = runner, world

    def run(self, work: Coroutine[Any, Any, None]) -> None:
        self.runner.run(work)


@pytest.fixture
def loop(redis_url: str, database_url: str, partitions: int) -> Iterator[Loop]:
    with asyncio.Runner() as runner:
        stack = AsyncExitStack()
        world = World.opened(redis_url, database_url, partitions, SIZE, HOT)
        try:
            yield Loop(runner, runner.run(stack.enter_async_context(world)))
        finally:
            runner.run(stack.aclose())


@pytest.fixture
async def world(redis_url: str, database_url: str, partitions: int) -> AsyncIterator[World]:
    async with World.opened(redis_url, database_url, partitions, SIZE, HOT) as world:
        yield world


@pytest.fixture(autouse=True)
def few_skipped(monkeypatch: pytest.MonkeyPatch) -> None:
    """So that both ways to read a page by its number are tested."""
    monkeypatch.setattr(reads, "SKIPPED_ENTRIES", 5)


@on_both
@settings(
    max_examples=examples(24),
    deadline=None,
    phases=[Phase.generate],  # as each example takes half a second
    suppress_health_check=list(HealthCheck),
)
@given(
    pauses=st.lists(st.integers(0, 30), min_size=1, max_size=40).filter(any),
    plan=st.lists(moves, min_size=1, max_size=3),
    seed=st.integers(0, 1_000),
)
def test_answers_stay_while_articles_move_during_reads(
    loop: Loop, monkeypatch: pytest.MonkeyPatch, pauses: list[int], plan: list[Move], seed: int
) -> None:  # D2 D3
    monkeypatch.setattr(moments, "TRIES", 1_000)  # unlike in a server, a step may run before each command of a read
    loop.run(loop.world.reset())
    loop.run(loop.world.check(pauses, plan, random.Random(seed)))


@on_both
async def test_answers_stay_while_an_archiver_runs_beside_readers(world: World) -> None:  # D2 D3
    plan: list[Move] = [Archive(articles=0, articles_per_user=0), BringBack(tuple(range(20)))] * examples(8)
    moving = asyncio.create_task(world.move(_nothing, plan))
    reading = [asyncio.create_task(world.compare_during(moving, random.Random(seed))) for seed in range(READERS)]
    await asyncio.gather(moving, *reading)

    assert world.compared.total() > 10 * len(plan)


@on_both
@pytest.mark.parametrize("change", ["delete", "regroup"])
async def test_an_archived_article_is_changed_though_it_is_archived_again_meanwhile(world: World, change: str) -> None:
    """The change is made again and again. Each time a whole pass of the archiver runs at its next point."""
    number, points = world.archived[3], 0
    while await _change(world, Schedule([points, *[0] * 1_000]), number, change):
        await world.reset()
        points += 1

    assert points > 8


async def _change(world: World, schedule: Schedule, number: int, change: str) -> bool:
    """Change an archived article, and check that it is changed; False if no article has moved meanwhile."""
    store = replace(world.store, site=separate(world.store, schedule.point))
    database: Any = SeparateQueries(world.database, schedule.point)
    poster = next(each.poster for each in world.articles if each.number == number)

    async def command() -> object:
        await schedule.point()
        if change == "delete":
            return await world.store.articles.delete(number, poster)
        return await world.store.articles.regroup(number, poster, add=["news"], remove=[])

    moving = asyncio.create_task(schedule.run(world.move(schedule.step, [Archive(articles=0, articles_per_user=0)])))
    await schedule.stopped()
    await write_back.run_change(store, database, number, command, write_back.Waker(poster, is_bounded=False))
    has_moved = schedule.has_ended
    moving.cancel()
    (found,) = await Reads(world.store, login=None, database=world.database).articles([number])
    assert (found is None) if change == "delete" else (found and "news" in found.groups)
    return has_moved


@pytest.mark.parametrize(("database_url", "partitions"), [("sqlite", 1)], indirect=True)
async def test_a_page_takes_one_round_trip_unless_archived_articles_are_on_it(world: World) -> None:
    hot, deep = Window(5), Window(5, upwards=True)
    listing = listings.whole(world.store.site, Order.TIME)
    await _cost(world, listing, hot)  # which reads the serial for the first time

    assert await _cost(world, listing, hot) == Cost(round_trips=1, commands=2, queries=0)
    assert await _cost(world, listing, deep) == Cost(round_trips=3, commands=2 + 5 + 1, queries=1)  # by round trip
    await world.move(_nothing, [BringBack((0, 1))])
    once = Cost(round_trips=2, commands=2 + 3, queries=0)  # as articles have moved since the last read
    assert await _cost(world, listing, hot) == once
    assert await _cost(world, listing, hot) == Cost(round_trips=1, commands=2, queries=0)


@pytest.mark.parametrize(("database_url", "partitions"), [("sqlite", 8)], indirect=True)
async def test_a_timeline_is_read_in_the_partition_of_its_user(world: World) -> None:
    listing = listings.timeline(world.store.site, "alice")
    await _cost(world, listing, Window(1))

    cost = await _cost(world, listing, Window(5, upwards=True))
    assert cost == Cost(round_trips=3, commands=2 + 5 + 1, queries=1)  # commands by round trip


class Cost(NamedTuple):
    """
    The round trips to Redis and the commands in them (tests write a sum, with a number for each trip), and the queries
    of the database.
    """

    round_trips: int
    commands: int
    queries: int


async def _cost(world: World, listing: Listing, window: Window) -> Cost:
    """The cost of a page."""
    cost, queries = RedisUsage(), []

    async def counted() -> None:
        queries.append(None)

    client.current_usage.set(cost)
    await Reads(world.store, login=None, database=SeparateQueries(world.database, counted)).pages([(listing, window)])
    return Cost(cost.round_trips, cost.commands, len(queries))


@pytest.mark.parametrize(("database_url", "partitions"), [("sqlite", 1)], indirect=True)
async def test_a_read_during_which_articles_move_again_and_again_is_unavailable(world: World) -> None:
    """It ends after `TRIES` tries, and the next one is answered."""
    site, queries = world.store.site, []

    async def mark() -> None:
        queries.append(None)
        await site.redis.run(("HINCRBY", keys.archived(0), "marks", 1))

    name = f"time {Window(500)}"
    with pytest.raises(ArchiveUnavailable, match="try again"):
        await world.asked[name](Reads(world.store, login=None, database=SeparateQueries(world.database, mark)))
    assert len(queries) == moments.TRIES
    assert await world.asked[name](Reads(world.store, login=None, database=world.database)) == world.expected[name]

    async def move() -> None:
        await world.moving.site.redis.run(("HINCRBY", keys.archived(0), "serial", 1))

    moved = replace(world.store, site=separate(world.store, move))
    with pytest.raises(StoreUnavailable, match="try again"):
        await world.asked[f"time {Window(3)}"](Reads(moved, login=None, database=world.database))


async def _nothing() -> None:
    """Is awaited before each step of moves that nothing delays."""
