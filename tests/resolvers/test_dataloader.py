"""A request's reads from Redis: they are gathered into pipelines, also with cancelled and failing ones."""

import asyncio

import pytest

from resolvers.dataloader import Reads
from store.client import client
from store.client.client import RedisUsage
from store.errors import StoreUnavailable
from store.queries import Read
from store.records import Vote
from store.sessions import parse_token
from tests.servers import PATIENCE
from tests.store.reading import post

# a Read is a command of Redis, and the function that reads its reply
ONE, TWO, THREE = (Read(("ECHO", text), str) for text in ("one", "two", "three"))
WRONG = Read(("LPUSH", "store"), str)  # the command fails
UNREADABLE = Read(("ECHO", "four"), int)  # the function fails


@pytest.fixture
def reads(store) -> Reads:
    return Reads(store, login=None)


@pytest.fixture
def usage() -> RedisUsage:
    client.current_usage.set(usage := RedisUsage())
    return usage


async def test_reads_of_a_tick_are_one_pipeline_without_duplicates(reads, usage):
    calls = reads.load_all([ONE, TWO]), reads.load_all([TWO, THREE, TWO]), reads.load_all([])

    assert await asyncio.gather(*calls) == [["one", "two"], ["two", "three", "two"], []]
    assert (usage.round_trips, usage.commands) == (1, 3)
    assert await reads.load_all([ONE, THREE]) == ["one", "three"]
    assert usage.round_trips == 1


async def test_login_is_sent_with_the_first_pipeline(store, alice, usage):
    session = parse_token((await store.sessions.open(alice)).token)
    reads = Reads(store, store.sessions.read(session))
    before = usage.round_trips
    await reads.load_all([ONE])
    login = await reads.login()

    assert login is not None and login.username == alice
    assert usage.round_trips == before + 1


@pytest.mark.parametrize("ticks", range(5))
async def test_cancelled_call_does_not_cancel_another(reads, ticks):
    first = asyncio.create_task(reads.load_all([ONE]))
    second = asyncio.create_task(reads.load_all([ONE, TWO]))
    for _ in range(ticks):
        await asyncio.sleep(0)
    first.cancel()

    async with asyncio.timeout(PATIENCE):
        assert await second == ["one", "two"]
        assert await reads.load_all([ONE, THREE]) == ["one", "three"]
    assert first.cancelled()


@pytest.mark.parametrize("ticks", range(5))
async def test_read_of_a_cancelled_call_can_be_read_again(reads, ticks):
    first = asyncio.create_task(reads.load_all([ONE]))
    for _ in range(ticks):
        await asyncio.sleep(0)
    first.cancel()

    async with asyncio.timeout(PATIENCE):
        assert await reads.load_all([ONE]) == ["one"]


async def test_error_is_raised_for_each_call_that_reads_it(reads):
    calls = [reads.load_all([WRONG]), reads.load_all([WRONG, ONE])]
    results = await asyncio.gather(*calls, return_exceptions=True)

    assert [type(result) for result in results] == [StoreUnavailable] * 2
    with pytest.raises(StoreUnavailable):
        await reads.load_all([WRONG])
    assert await reads.load_all([ONE]) == ["one"]


async def test_error_of_a_command_does_not_affect_other_reads(reads):
    calls = reads.load_all([ONE]), reads.load_all([TWO, WRONG]), reads.load_all([THREE]), reads.load_all([UNREADABLE])
    one, failed, three, unreadable = await asyncio.gather(*calls, return_exceptions=True)

    assert (one, type(failed), three, type(unreadable)) == (["one"], StoreUnavailable, ["three"], ValueError)
    assert await reads.load_all([TWO]) == ["two"]
    with pytest.raises(ValueError, match="four"):
        await reads.load_all([ONE, UNREADABLE])


async def test_command_that_cannot_be_encoded_fails_and_affects_no_later_one(store, reads):
    with pytest.raises(UnicodeEncodeError):
        await reads.load_all([ONE, Read(("ECHO", "\ud800"), str)])

    assert await asyncio.gather(*(store.site.redis.run(("ECHO", text)) for text in "abc")) == ["a", "b", "c"]


async def test_error_of_the_login_is_raised_by_login_only(store):
    reads = Reads(store, WRONG)

    assert await reads.load_all([ONE]) == ["one"]
    with pytest.raises(StoreUnavailable):
        await reads.login()


async def test_primed_values_are_not_read(store, alice, usage):
    article = await post(store, alice)
    session = parse_token((await store.sessions.open(alice)).token)
    reads = Reads(store, store.sessions.read(session))
    reads.set_checked_login(alice)
    reads.prime_vote(article.number, alice, Vote.DOWN)
    before = usage.round_trips

    assert (await reads.login()).username == alice
    assert await reads.votes([article.number], alice) == [Vote.DOWN]
    assert usage.round_trips == before
