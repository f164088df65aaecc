"""
Events of votes are published on channels of their own, which a process leaves while none of its clients listens to
them, as there are so many. After a lost connection, missed events are read from the log.

Codes such as D4 after the names of tests are rows of `docs/behaviours.md`, which these tests prove.
"""

import asyncio
from collections.abc import AsyncIterator

import pytest
from redis import Redis, RedisCluster

from store import event_connection, events, keys
from store.events import Event, EventKind, Events
from store.records import Vote
from tests.store.reading import post
from tests.support.events import Disconnection, receive_all

pytestmark = pytest.mark.many_partitions


@pytest.fixture
def disconnection(monkeypatch: pytest.MonkeyPatch) -> Disconnection:
    return Disconnection(monkeypatch)


@pytest.fixture
async def received(redis_url: str, store, monkeypatch, disconnection) -> AsyncIterator[Events]:
    """The events that this process receives; it leaves the channels of votes soon after the last listener."""
    monkeypatch.setattr(event_connection, "LEAVE_SECONDS", 0.05)
    monkeypatch.setattr(event_connection, "CHECK_INTERVAL", 0.05)
    async with event_connection.connect(redis_url, store.site, leaves_votes=True) as received:
        yield received


def hearers(redis: Redis) -> int:
    """How many connections have subscribed to the votes of partition 0; in a cluster, that may be at a replica."""
    servers = {"target_nodes": "all"} if isinstance(redis, RedisCluster) else {}
    return sum(count for _, count in redis.pubsub_numsub(keys.vote_events(0), **servers))


async def until_hearers(redis: Redis, count: int) -> None:
    async with asyncio.timeout(60):
        while hearers(redis) != count:  # noqa: ASYNC110 - another connection tells it
            await asyncio.sleep(0.01)


def votes_in(received: Events) -> list[Event]:
    """All events of votes that are received from now on."""
    seen: list[Event] = []
    received._listeners[events.EVERY_ENTRY].add(lambda event: event.kind is EventKind.VOTED and seen.append(event))
    return seen


async def test_votes_are_received_while_somebody_listens(store, alice, bob, received, redis):
    article = await post(store, alice)
    seen = votes_in(received)
    await store.articles.vote(article.number, bob, Vote.UP)
    await receive_all(store, received)
    assert (seen, hearers(redis)) == ([], 0)

    async with received.receiving_votes(), received.receiving_votes():
        await until_hearers(redis, 1)  # at once, unless a busy machine has lost the connection
        with received.mailbox(events.of_article(article.number)) as mailbox:
            await store.articles.vote(article.number, bob, Vote.DOWN)
            assert (await anext(mailbox)).kind is EventKind.VOTED
    await until_hearers(redis, 0)

    async with received.receiving_votes():
        await until_hearers(redis, 1)


async def test_other_events_are_received_always(store, alice, received):
    with received.mailbox(events.of_posts(None)) as mailbox:
        number = (await post(store, alice)).number

        assert (await anext(mailbox)).number == number


async def test_cancelled_listener_takes_no_votes_from_others(store, alice, bob, received):
    async def hear() -> None:
        async with received.receiving_votes():
            await asyncio.sleep(60)

    article = await post(store, alice)
    first = asyncio.create_task(hear())
    await asyncio.sleep(0)
    first.cancel()
    async with received.receiving_votes():
        await asyncio.gather(first, return_exceptions=True)
        await asyncio.sleep(0.1)
        with received.mailbox(events.of_article(article.number)) as mailbox:
            await store.articles.vote(article.number, bob, Vote.UP)
            assert (await anext(mailbox)).kind is EventKind.VOTED


async def test_listener_that_begins_without_a_connection_gets_what_it_misses(
    store, alice, bob, received, disconnection, redis
):  # D4
    article = await post(store, alice)
    await receive_all(store, received)
    await disconnection.begin()
    async with received.receiving_votes():
        with received.mailbox(events.of_article(article.number)) as mailbox:
            await store.articles.vote(article.number, bob, Vote.UP)
            await disconnection.finish(store, received)
            assert (await anext(mailbox)).kind is EventKind.VOTED
            await until_hearers(redis, 1)
            await store.articles.vote(article.number, bob, Vote.DOWN)
            assert (await anext(mailbox)).kind is EventKind.VOTED


async def test_votes_that_nobody_heard_are_not_read_from_the_log(store, alice, bob, received, disconnection):
    """A process may have no subscriptions for days; when it loses its connection, the votes of these days are old."""
    article = await post(store, alice)
    seen = votes_in(received)
    for _ in range(5):
        await store.articles.vote(article.number, bob, Vote.UP)
        await store.articles.vote(article.number, bob, Vote.NONE)
    await asyncio.sleep(0.5)  # much longer than LEAVE_SECONDS here
    await disconnection.begin()
    last = await post(store, alice)
    with received.mailbox(events.of_posts(None)) as mailbox:
        await disconnection.finish(store, received)
        assert (await anext(mailbox)).number == last.number

    assert seen == []
