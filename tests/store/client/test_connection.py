import asyncio

import pytest

from store.articles import Draft
from store.client import client
from store.client import connection as link
from store.errors import StoreUnavailable
from store.records import Position, Vote
from store.store import Store
from tests.conftest import kill
from tests.servers import until


async def test_empty_batch_sends_nothing_and_waits_for_nothing(store):
    assert await store.site.redis.pipeline([]) == []


async def test_replies_belong_to_whoever_asked(store):
    connection = store.site.redis
    asked = [connection.pipeline([("ECHO", f"{each}-{turn}") for turn in range(each % 5)]) for each in range(200)]

    answers = await asyncio.gather(*asked)
    assert answers == [[f"{each}-{turn}" for turn in range(each % 5)] for each in range(200)]


async def test_whoever_goes_away_takes_no_replies_of_others(store):
    connection = store.site.redis
    gone = asyncio.ensure_future(connection.run(("ECHO", "gone")))
    await asyncio.sleep(0)
    gone.cancel()

    assert await connection.run(("ECHO", "there")) == "there"


@pytest.mark.one_server
async def test_votes_of_one_tick_leave_in_one_write(store, redis, alice):  # issue 5
    posted = await store.articles.post(alice, Draft("A title", "https://example.com/"))
    await store.articles.vote(posted.article.number, "voter", Vote.UP)  # from now on the server knows the script
    numbers = range(20)  # of votes, which the server takes in one read

    def reads() -> int:
        return redis.info("stats")["total_reads_processed"]

    before, own = reads(), reads()
    voted = [store.articles.vote(posted.article.number, f"voter-{number}", Vote.UP) for number in numbers]
    answers = await asyncio.gather(*voted)

    assert sorted(answer.article.upvotes for answer in answers) == [number + 3 for number in numbers]
    assert reads() - own - (own - before) == 1


async def test_lost_connection_is_made_anew_and_nobody_learns_of_it(store, redis):
    connection = store.site.redis
    before = await connection.run(("CLIENT", "ID"))
    kill(redis, "TYPE", "normal")

    assert await connection.run(("CLIENT", "ID")) != before


@pytest.mark.one_server
async def test_store_that_does_not_answer_in_time_is_unavailable(store, redis, monkeypatch):
    monkeypatch.setattr(link, "TIMEOUT", 0.2)
    monkeypatch.setattr(client, "RETRY_TIME", 0.4)
    await store.site.redis.close()
    redis.client_pause(30_000, all=False)
    try:
        asked = [store.site.redis.run(("SET", "store", "it")) for _ in range(3)]
        answers = await asyncio.gather(*asked, return_exceptions=True)
    finally:
        redis.client_unpause()

    assert [str(answer) for answer in answers] == ["the store does not answer"] * 3
    assert await store.site.redis.run(("ECHO", "back")) == "back"


@pytest.mark.one_server
async def test_who_comes_when_too_many_wait_has_to_wait_for_a_turn(store, redis, monkeypatch):
    monkeypatch.setattr(link, "MAX_PENDING", 2)
    redis.client_pause(300, all=True)

    answers = await asyncio.gather(*(store.site.redis.run(("ECHO", f"{turn}")) for turn in range(9)))
    assert answers == [f"{turn}" for turn in range(9)]


@pytest.mark.one_server
async def test_whose_turn_does_not_come_in_time_is_refused(store, redis, monkeypatch):
    monkeypatch.setattr(client, "RETRY_TIME", 0.3)
    monkeypatch.setattr(link, "MAX_PENDING", 1)
    monkeypatch.setattr(link, "TIMEOUT", 30)
    first = asyncio.create_task(store.site.redis.run(("BLPOP", "answer", 0)))
    await asyncio.to_thread(until, lambda: redis.info("clients")["blocked_clients"] == 1)
    monkeypatch.setattr(link, "TIMEOUT", 0.1)

    asked = [store.site.redis.run(("ECHO", "here")) for _ in range(3)]
    refused = await asyncio.gather(*asked, return_exceptions=True)
    redis.rpush("answer", "at last")
    assert [str(each) for each in refused] == ["too many requests wait for the store"] * 3
    assert await first == ["answer", "at last"]
    assert await store.site.redis.run(("ECHO", "here")) == "here"


@pytest.mark.one_server
async def test_refused_command_is_a_fault_of_its_batch_alone(store):
    connection = store.site.redis
    good, bad = await asyncio.gather(
        connection.run(("ECHO", "good")), connection.run(("HGET", "store")), return_exceptions=True
    )

    assert good == "good"
    assert isinstance(bad, StoreUnavailable)


async def test_scripts_are_loaded_when_the_server_has_forgotten_them(store, redis, alice):
    redis.script_flush()

    assert (await store.follows.mark_seen(alice, Position(1.0, "1"))) == "Alice"


async def test_nothing_answers_there(tmp_path, monkeypatch):
    monkeypatch.setattr(client, "RETRY_TIME", 0.2)
    with pytest.raises(StoreUnavailable, match="the store does not answer"):
        await Store.open(f"unix://{tmp_path}/nothing")
