"""A cluster of three primaries and three replicas: redirections, failovers and events."""

import asyncio
import signal
from collections.abc import AsyncIterator, Iterator
from contextlib import suppress

import pytest

from store import events, keys, listings
from store.client import client as client_module
from store.client.client import FAILOVER_RETRY_TIME, RedisUsage, current_usage
from store.client.cluster import HASH_SLOTS, hash_slot
from store.errors import StoreUnavailable
from store.ranking.formulas import Order
from store.records import Vote
from store.store import Store
from tests.conftest import Clock, client, registered
from tests.servers import BUSY, NODE_TIMEOUT, PATIENCE, Server, Six, cluster, until
from tests.store.crowds import Crowd, voting
from tests.store.reading import article, numbers, post, request

pytestmark = pytest.mark.one_server

PARTITIONS = 16
SLACK = 1.0  # seconds that a busy machine may take beyond


@pytest.fixture(scope="module")
def settled(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Six]:
    with cluster(tmp_path_factory.mktemp("cluster")) as six:
        yield six


@pytest.fixture
def six(settled: Six) -> Iterator[Six]:
    """A whole cluster, emptied."""
    settled.launch()
    settled.settle()
    settled.give_up_after(BUSY)
    with client(settled.url) as redis:
        redis.flushall()
    yield settled


@pytest.fixture
def watchful(six: Six) -> None:
    """Replace a lost primary soon."""
    six.give_up_after(NODE_TIMEOUT)


@pytest.fixture
async def store(six: Six, clock: Clock) -> AsyncIterator[Store]:
    store = await Store.open(six.url, partitions=PARTITIONS, clock=clock, confirming_replicas=1)
    yield store
    await store.close()


def server_of(six: Six, store: Store, number: int) -> Server:
    return six.primary_of(hash_slot(str(store.site.home_of_article(number))))


async def test_pipeline_to_all_servers_is_one_round_trip(six, clock):
    store = await Store.open(six.url, partitions=1024, clock=clock)
    await asyncio.gather(*(store.site.redis.run(("SET", keys.sequence(p), p)) for p in range(1024)))
    current_usage.set(counted := RedisUsage())

    replies = await store.site.redis.pipeline([("GET", keys.sequence(p)) for p in range(1024)])
    assert replies == [str(p) for p in range(1024)]
    assert (counted.round_trips, counted.commands) == (1, 1024)
    assert await store.site.redis.size() == 1024 + 1
    assert len({key async for keys_found in store.site.redis.scan(100) for key in keys_found}) == 1024 + 1
    await store.close()


async def test_listing_of_a_thousand_partitions_is_exact(six, clock):  # L1
    store = await Store.open(six.url, partitions=1024, clock=clock)
    posted = []
    for name in [f"person-{number}" for number in range(30)]:
        posted.append((await post(store, await registered(store, name))).number)
        clock.advance(1)

    assert await numbers(store, listings.whole(store.site, Order.TIME)) == posted[:4:-1]
    await store.close()


async def test_slot_that_moves_is_followed(store, six):
    """ASK while it moves, for what has one key; TRYAGAIN for scripts, which wait until it has moved; then MOVED."""
    number = (await post(store, await registered(store, "alice"))).number
    moving = hash_slot(str(store.site.home_of_article(number)))
    source, target = server_of(six, store, number), next(each for each in six.servers if moving_to(six, each, moving))
    with source.client() as here, target.client() as there:
        ids = [each.execute_command("CLUSTER MYID") for each in (here, there)]
        there.execute_command("CLUSTER SETSLOT", moving, "IMPORTING", ids[0])
        here.execute_command("CLUSTER SETSLOT", moving, "MIGRATING", ids[1])
        found = here.execute_command("CLUSTER GETKEYSINSLOT", moving, 1000)
        here.execute_command("MIGRATE", "127.0.0.1", target.port, "", 0, 5000, "KEYS", *found)
        during = await article(store, number)
        await registered(store, "alice")  # a write that replicas confirm
        voting = asyncio.ensure_future(store.articles.vote(number, "bob", Vote.UP))
        await asyncio.sleep(0.2)
        for each in (there, here):
            each.execute_command("CLUSTER SETSLOT", moving, "NODE", ids[1])

    assert (during.votes, (await voting).article.votes) == (1, 2)
    assert (await article(store, number)).votes == 2


async def test_slot_that_moved_is_found_without_a_pause(store, six):
    number = (await post(store, await registered(store, "alice"))).number
    moving = hash_slot(str(store.site.home_of_article(number)))
    source, target = server_of(six, store, number), next(each for each in six.servers if moving_to(six, each, moving))
    with source.client() as here, target.client() as there:
        id = there.execute_command("CLUSTER MYID")
        here.execute_command("CLUSTER", "MIGRATESLOTS", "SLOTSRANGE", moving, moving, "NODE", id)
    votes = 0
    async with asyncio.timeout(PATIENCE):
        while six.primary_of(moving) is not target:
            await store.articles.vote(number, f"voter-{votes}", Vote.UP)
            votes += 1

    assert (await store.articles.vote(number, "bob", Vote.UP)).article.votes == 1 + votes + 1


def moving_to(six: Six, server: Server, moving: int) -> bool:
    """Whether a server is the primary of other slots."""
    return server is not six.primary_of(moving) and server in [
        six.primary_of(each) for each in range(0, HASH_SLOTS, 1000)
    ]


@pytest.mark.usefixtures("watchful")
@pytest.mark.parametrize("fault", [signal.SIGKILL, signal.SIGSTOP])
async def test_failover_keeps_acknowledged_votes_and_takes_seconds(store, six, fault):
    async with voting(store) as crowd:
        await asyncio.to_thread(until, lambda: len(crowd.acknowledged) == len(crowd.articles))
        number = crowd.articles[0]
        lost, slots = server_of(six, store, number), hash_slot(str(store.site.home_of_article(number)))
        if fault is signal.SIGKILL:
            await asyncio.to_thread(lost.kill)
        lost.send(fault)
        await asyncio.to_thread(until, lambda: six.primary_of(slots, but=lost) is not lost)
        lost.send(signal.SIGCONT)
        six.launch()
        await asyncio.to_thread(six.settle)
        before = {number: len(names) for number, names in crowd.acknowledged.items()}
        await asyncio.to_thread(until, lambda: all(len(crowd.acknowledged[each]) > before[each] for each in before))

    assert crowd.longest < FAILOVER_RETRY_TIME + SLACK
    assert await crowd.missing() == {}
    assert await crowd.findings() == []


@pytest.mark.usefixtures("watchful")
async def test_no_read_is_older_than_one_before_during_a_failover(store, six, clock):  # issue 5
    reader = await Store.open(six.url, clock=clock)
    seen = spared = 0

    async def hunt(crowd: Crowd) -> None:
        nonlocal seen, spared
        number = crowd.articles[0]
        while True:
            expected = max(seen, 1 + len(crowd.acknowledged.get(number, ())))
            with suppress(StoreUnavailable):
                articles, commands = await request(reader)
                (found,) = [article for article in articles if article.number == number]
                assert found.upvotes >= expected
                seen, spared = found.upvotes, spared + (commands == PARTITIONS)
            await asyncio.sleep(0.005)

    async with voting(store, 1) as crowd:
        hunting = asyncio.create_task(hunt(crowd))
        await asyncio.to_thread(until, lambda: hunting.done() or seen > 1)
        lost, slots = (
            server_of(six, store, crowd.articles[0]),
            hash_slot(str(store.site.home_of_article(crowd.articles[0]))),
        )
        await asyncio.to_thread(lost.kill)
        await asyncio.to_thread(until, lambda: six.primary_of(slots, but=lost) is not lost)
        six.launch()
        await asyncio.to_thread(six.settle)
        before = seen
        await asyncio.to_thread(until, lambda: hunting.done() or seen > before + 20)
        hunting.cancel()
        with suppress(asyncio.CancelledError):
            await hunting
    await reader.close()

    assert seen > before
    assert spared


async def test_too_few_replicas_leave_a_write_unconfirmed(store, six, monkeypatch):
    number = (await post(store, await registered(store, "alice"))).number
    primary = server_of(six, store, number)
    with primary.client() as redis:
        port = redis.info("replication")["slave0"]["port"]
    replica = next(server for server in six.servers if server.port == port)
    replica.send(signal.SIGSTOP)
    with monkeypatch.context() as shorter:
        shorter.setattr(client_module, "FAILOVER_RETRY_TIME", 1.5)
        with pytest.raises(StoreUnavailable, match="too few replicas confirmed"):
            await store.articles.vote(number, "bob", Vote.UP)
        assert (await article(store, number)).votes == 2, "it may hold or not"
        with pytest.raises(StoreUnavailable, match="too few replicas confirmed"):
            await store.articles.vote(number, "bob", Vote.UP)  # though it changes nothing
    replica.send(signal.SIGCONT)
    await asyncio.to_thread(six.settle)

    assert (await store.articles.vote(number, "bob", Vote.UP)).article.votes == 2


@pytest.mark.usefixtures("watchful")
async def test_events_arrive_after_any_server_is_lost(store, six, monkeypatch):
    monkeypatch.setattr(events, "CHECK_INTERVAL", 0.3)
    number = (await post(store, await registered(store, "alice"))).number
    async with events.connect(six.url, PARTITIONS) as heard:
        with heard.mailbox(events.of_article(number)) as mailbox:
            (teller,) = [server for server in six.servers if is_listened_to(server)]
            teller.kill()
            assert (await asyncio.wait_for(anext(mailbox), PATIENCE)).kind is events.EventKind.MISSED
            six.launch()
            await asyncio.to_thread(six.settle)
            await store.articles.edit(number, "alice", {"title": "another"})
            assert (await asyncio.wait_for(anext(mailbox), PATIENCE)).kind is events.EventKind.EDITED


def is_listened_to(server: Server) -> bool:
    with server.client() as redis:
        return bool(redis.client_list(_type="pubsub"))
