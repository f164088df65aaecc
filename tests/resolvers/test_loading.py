"""A dataloader for reads: who asks, who sends, and what becomes of the others when one of them goes."""

import asyncio

import pytest

from resolvers.dataloader import Loader
from store.client import client
from store.client.client import RedisUsage
from store.errors import StoreUnavailable
from store.queries import Read

pytestmark = pytest.mark.routed

ONE, TWO, THREE = (Read(("ECHO", text), str) for text in ("one", "two", "three"))
WRONG = Read(("LPUSH", "store"), str)
UNREADABLE = Read(("ECHO", "four"), int)


@pytest.fixture
def loader(store) -> Loader:
    return Loader(store.site.redis)


async def test_all_of_a_tick_leaves_as_one_pipeline_and_each_read_once(loader):
    client.current_usage.set(cost := RedisUsage())
    asked = loader.load([ONE, TWO]), loader.load([TWO, THREE, TWO], ONE), loader.load([])

    assert await asyncio.gather(*asked) == [["one", "two"], ["two", "three", "two"], []]
    assert (cost.round_trips, cost.commands) == (1, 3)
    assert await loader.load([ONE, THREE], TWO) == ["one", "three"]
    assert cost.round_trips == 1


async def test_what_is_beside_is_read_with_the_first(loader):
    client.current_usage.set(cost := RedisUsage())
    assert await loader.load([ONE, TWO], THREE) == ["one", "two"]
    assert await loader.load([THREE]) == ["three"]
    assert (cost.round_trips, cost.commands) == (1, 3)


@pytest.mark.parametrize("ticks", range(5))
async def test_others_are_answered_when_the_first_goes(loader, ticks):
    first = asyncio.create_task(loader.load([ONE]))
    second = asyncio.create_task(loader.load([ONE, TWO]))
    for _ in range(ticks):
        await asyncio.sleep(0)
    first.cancel()

    async with asyncio.timeout(5):
        assert await second == ["one", "two"]
        assert await loader.load([ONE, THREE]) == ["one", "three"]
    assert first.cancelled()


@pytest.mark.parametrize("ticks", range(5))
async def test_what_the_only_one_who_asked_left_is_asked_anew(loader, ticks):
    first = asyncio.create_task(loader.load([ONE]))
    for _ in range(ticks):
        await asyncio.sleep(0)
    first.cancel()

    async with asyncio.timeout(5):
        assert await loader.load([ONE]) == ["one"]


async def test_fault_is_for_everyone_who_asked_or_asks(loader):
    asked = [loader.load([WRONG]), loader.load([WRONG, ONE])]
    answers = await asyncio.gather(*asked, return_exceptions=True)

    assert [type(answer) for answer in answers] == [StoreUnavailable] * 2
    with pytest.raises(StoreUnavailable):
        await loader.load([WRONG])
    assert await loader.load([ONE]) == ["one"]


async def test_fault_of_a_command_is_for_its_own_read_only(loader):
    asked = loader.load([ONE]), loader.load([TWO, WRONG]), loader.load([THREE]), loader.load([UNREADABLE])
    one, failed, three, unreadable = await asyncio.gather(*asked, return_exceptions=True)

    assert (one, type(failed), three, type(unreadable)) == (["one"], StoreUnavailable, ["three"], ValueError)
    assert await loader.load([TWO]) == ["two"]
    with pytest.raises(ValueError, match="four"):
        await loader.load([ONE, UNREADABLE])


async def test_fault_of_what_is_beside_is_for_those_who_want_it(loader):
    assert await loader.load([ONE], WRONG) == ["one"]
    with pytest.raises(StoreUnavailable):
        await loader.load([WRONG])
