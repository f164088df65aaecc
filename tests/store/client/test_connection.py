"""Pipelines on one connection, and how many writes and round trips they take."""

import asyncio

import pytest
import uvloop

from store.articles import Draft
from store.client import Unreachable, client, connection
from store.client.pubsub import SubscriberConnection
from store.errors import StoreUnavailable
from store.listings import LISTING_PAGE
from store.needed_writes import NEEDED_WRITE
from store.records import Position, Vote
from store.store import Store
from tests.conftest import kill, registered
from tests.servers import Server, running, until


async def test_empty_pipeline_sends_nothing(store):
    assert await store.site.redis.pipeline([]) == []


async def test_concurrent_pipelines_get_their_own_replies(store):
    redis_client = store.site.redis
    commands = [redis_client.pipeline([("ECHO", f"{each}-{turn}") for turn in range(each % 5)]) for each in range(200)]

    answers = await asyncio.gather(*commands)
    assert answers == [[f"{each}-{turn}" for turn in range(each % 5)] for each in range(200)]


async def test_pipeline_that_writes_keeps_its_order_where_no_script_is_known(store):
    """
    A server that was started again knows no script, so each is sent once more with its text. The commands that follow
    it in the pipeline must not overtake it, also on several servers. `NEEDED_WRITE` is a script that runs one command.
    """
    client, tags = store.site.redis, range(4)
    commands = [
        command
        for tag in tags
        for command in (
            ("SET", f"a:{{{tag}}}", 1),
            NEEDED_WRITE.command([f"a:{{{tag}}}"], "SET", 2),
            ("GET", f"a:{{{tag}}}"),
            NEEDED_WRITE.command([f"a:{{{tag}}}"], "SET", 3),
            ("GET", f"a:{{{tag}}}"),
            LISTING_PAGE.command([f"b:{{{tag}}}"], "-inf", "+inf", "down", 5, 0, "", ""),  # 5 of an empty listing
            ("ZADD", f"b:{{{tag}}}", 1, "member"),
        )
    ]
    for server in await client._server.primaries():
        await client.pipeline([("SCRIPT", "FLUSH")], server)

    replies = await client.pipeline(commands)
    assert replies == ["OK", "OK", "2", "OK", "3", "0 0", 1] * len(tags)


async def test_cancelled_command_does_not_affect_the_replies_of_others(store):
    redis_client = store.site.redis
    cancelled = asyncio.ensure_future(redis_client.run(("ECHO", "cancelled")))
    await asyncio.sleep(0)
    cancelled.cancel()

    assert await redis_client.run(("ECHO", "there")) == "there"


@pytest.mark.one_server
async def test_concurrent_votes_are_sent_in_one_write(tmp_path, clock):
    """On a separate Valkey, because the disk monitor of the shared one opens ten connections a second."""
    server = Server(tmp_path)
    with running(server), server.client() as redis:
        store = await Store.open(server.url, partitions=1, clock=clock)
        alice = await registered(store, "Alice")
        posted = await store.articles.post(alice, Draft("A title", "https://example.com/"))
        await store.articles.vote(posted.article.number, "voter", Vote.UP)  # loads the script
        numbers = range(20)

        def reads() -> int:
            return redis.info("stats")["total_reads_processed"]

        before, own = reads(), reads()
        voted = [store.articles.vote(posted.article.number, f"voter-{number}", Vote.UP) for number in numbers]
        answers = await asyncio.gather(*voted)
        after = reads()
        await store.close()

    assert sorted(answer.article.upvotes for answer in answers) == [number + 3 for number in numbers]
    assert after - own - (own - before) == 1  # without what asking for the number of reads adds to it


@pytest.mark.one_server
def test_commands_that_were_not_written_when_the_connection_was_lost_are_answered(tmp_path):
    """On the event loop of servers, uvloop, which raises where something is written to a connection that is gone."""
    server, faults = Server(tmp_path), list[str]()

    async def lost() -> list[str]:
        asyncio.get_running_loop().set_exception_handler(lambda loop, fault: faults.append(fault["message"]))
        _, writer = await asyncio.open_connection("127.0.0.1", server.port)
        opened = connection.RedisConnection(writer)
        writer.transport.abort()  # the connection is told that it is lost in the next iteration of the event loop
        return [str(reply) for reply in await opened.send([("PING",)])]

    with running(server):
        assert uvloop.run(lost()) == ["LOST the connection was lost"]
    assert faults == []


@pytest.mark.one_server
def test_lost_connection_cannot_be_subscribed_to(tmp_path):
    """On uvloop, as above."""
    server = Server(tmp_path)

    async def lost() -> None:
        _, writer = await asyncio.open_connection("127.0.0.1", server.port)
        subscriber = SubscriberConnection(lambda channel, message: None, writer)
        writer.transport.abort()
        await subscriber.wait_until_lost()

        with pytest.raises(Unreachable, match="it does not answer"):
            await subscriber.subscribe(["events"])
        subscriber.unsubscribe(["events"])

    with running(server):
        uvloop.run(lost())


async def test_lost_connection_is_opened_again(store, redis):
    redis_client = store.site.redis
    before = await redis_client.run(("CLIENT", "ID"))
    kill(redis, "TYPE", "normal")  # closes all connections but those that subscribe

    assert await redis_client.run(("CLIENT", "ID")) != before


@pytest.mark.one_server
async def test_store_that_exceeds_the_timeout_is_unavailable(store, redis, monkeypatch):
    await store.site.redis.close()
    redis.client_pause(30_000, all=False)
    with monkeypatch.context() as hasty:
        hasty.setattr(connection, "TIMEOUT", 0.2)
        hasty.setattr(client, "RETRY_TIME", 0.4)
        try:
            commands = [store.site.redis.run(("SET", "store", "it")) for _ in range(3)]
            answers = await asyncio.gather(*commands, return_exceptions=True)
        finally:
            redis.client_unpause()

    assert [str(answer) for answer in answers] == ["the store does not answer"] * 3
    assert await store.site.redis.run(("ECHO", "back")) == "back"


@pytest.mark.one_server
async def test_commands_wait_while_too_many_have_no_reply(store, redis, monkeypatch):
    monkeypatch.setattr(connection, "MAX_PENDING", 2)
    redis.client_pause(300, all=True)

    answers = await asyncio.gather(*(store.site.redis.run(("ECHO", f"{turn}")) for turn in range(9)))
    assert answers == [f"{turn}" for turn in range(9)]


@pytest.mark.one_server
async def test_commands_fail_if_too_many_have_no_reply_for_too_long(store, redis, monkeypatch):
    monkeypatch.setattr(connection, "MAX_PENDING", 1)
    monkeypatch.setattr(connection, "TIMEOUT", 30)
    first = asyncio.create_task(store.site.redis.run(("BLPOP", "answer", 0)))
    await asyncio.to_thread(until, lambda: redis.info("clients")["blocked_clients"] == 1)

    with monkeypatch.context() as hasty:
        hasty.setattr(connection, "TIMEOUT", 0.1)
        hasty.setattr(client, "RETRY_TIME", 0.3)
        commands = [store.site.redis.run(("ECHO", "here")) for _ in range(3)]
        refused = await asyncio.gather(*commands, return_exceptions=True)
    redis.rpush("answer", "at last")
    assert [str(each) for each in refused] == ["too many requests wait for the store"] * 3
    assert await first == ["answer", "at last"]
    assert await store.site.redis.run(("ECHO", "here")) == "here"


@pytest.mark.one_server
async def test_failed_command_fails_its_own_pipeline_only(store):
    redis_client = store.site.redis
    good, bad = await asyncio.gather(
        redis_client.run(("ECHO", "good")), redis_client.run(("HGET", "store")), return_exceptions=True
    )

    assert good == "good"
    assert isinstance(bad, StoreUnavailable)


async def test_unknown_script_is_sent_with_its_text(store, redis, alice):
    redis.script_flush()

    assert (await store.follows.mark_seen(alice, Position(1.0, "1"))) == "Alice"


async def test_address_without_a_server_is_unavailable(tmp_path, monkeypatch):
    monkeypatch.setattr(client, "RETRY_TIME", 0.2)
    with pytest.raises(StoreUnavailable, match="the store does not answer"):
        await Store.open(f"unix://{tmp_path}/nothing")
