"""
A store in a cluster of Valkey, of three primaries and three replicas: redirections, failovers and events.

L1 is a row of `docs/behaviours.md`, which a test proves.
"""

import asyncio
import signal
from collections.abc import AsyncIterator, Iterator
from contextlib import contextmanager, suppress

import pytest

from store import event_connection, events, keys, listings, log
from store.client import client as client_module
from store.client.client import FAILOVER_RETRY_TIME, RedisUsage, current_usage
from store.client.cluster import HASH_SLOTS, hash_slot
from store.errors import StoreUnavailable
from store.ranking.formulas import Order
from store.records import Vote
from store.store import Store
from tests.conftest import Clock, client, registered
from tests.servers import BUSY, NODE_TIMEOUT, PATIENCE, Cluster, Server, running_cluster, until
from tests.store.crowds import Crowd, voting
from tests.store.reading import article, numbers, post, request

pytestmark = pytest.mark.one_server

PARTITIONS = 16  # shares of the data, each in one hash slot of the cluster
SLACK = 5.0  # seconds: how much longer a busy machine may take


@pytest.fixture(scope="module")
def running(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    with running_cluster(tmp_path_factory.mktemp("cluster")) as cluster:
        yield cluster


@pytest.fixture
def cluster(running: Cluster) -> Iterator[Cluster]:
    """A whole cluster, emptied."""
    running.launch()
    running.wait_until_complete()
    running.give_up_after(BUSY)
    with client(running.url) as redis:
        redis.flushall()
    yield running


@pytest.fixture
def fast_failover(cluster: Cluster) -> None:
    """Replace a lost primary after one second."""
    cluster.give_up_after(NODE_TIMEOUT)


@pytest.fixture
async def store(cluster: Cluster, clock: Clock) -> AsyncIterator[Store]:
    store = await Store.open(cluster.url, partitions=PARTITIONS, clock=clock, confirming_replicas=1)
    yield store
    await store.close()


def server_of(cluster: Cluster, store: Store, number: int) -> Server:
    """The primary that has the article with a number."""
    return cluster.primary_of(hash_slot(str(store.site.partition_of_article(number))))


async def test_pipeline_to_all_servers_is_one_round_trip(cluster, clock):
    store = await Store.open(cluster.url, partitions=1024, clock=clock)
    await asyncio.gather(
        *(store.site.redis.run(("SET", keys.sequence(partition), partition)) for partition in range(1024))
    )
    current_usage.set(counted := RedisUsage())

    replies = await store.site.redis.pipeline([("GET", keys.sequence(partition)) for partition in range(1024)])
    assert replies == [str(partition) for partition in range(1024)]
    assert (counted.round_trips, counted.commands) == (1, 1024)
    assert await store.site.redis.size() == 1024 + 1  # and the key with the settings of the store
    assert len({key async for keys_found in store.site.redis.scan(100) for key in keys_found}) == 1024 + 1
    await store.close()


async def test_listing_of_a_thousand_partitions_is_exact(cluster, clock):  # L1
    store = await Store.open(cluster.url, partitions=1024, clock=clock)
    posted = []
    for name in [f"person-{number}" for number in range(30)]:
        posted.append((await post(store, await registered(store, name))).number)
        clock.advance(1)

    newest_page = posted[:4:-1]  # the newest 25 of the 30
    assert await numbers(store, listings.whole(store.site, Order.TIME)) == newest_page
    await store.close()


async def test_slot_that_moves_is_followed(store, cluster):
    """While it moves, commands of one key are redirected with ASK, and scripts are sent again after TRYAGAIN."""
    number = (await post(store, await registered(store, "alice"))).number
    partition = store.site.partition_of_article(number)
    with moved_key_by_key(cluster, hash_slot(str(partition))):
        during = await article(store, number)
        await log.advance(store.site, "reader", partition, log.START)  # a write of one key, which replicas confirm
        vote = asyncio.ensure_future(store.articles.vote(number, "bob", Vote.UP))
        await asyncio.sleep(0.2)
        assert not vote.done()

    assert (during.votes, (await vote).article.votes) == (1, 2)
    assert (await article(store, number)).votes == 2


@contextmanager
def moved_key_by_key(cluster: Cluster, slot: int) -> Iterator[None]:
    """While the context is open, the keys of a slot are on another primary, which gets the slot only afterwards."""
    source, target = cluster.primary_of(slot), other_primary(cluster, slot)
    with source.client() as here, target.client() as there:
        ids = [each.execute_command("CLUSTER MYID") for each in (here, there)]
        there.execute_command("CLUSTER SETSLOT", slot, "IMPORTING", ids[0])
        here.execute_command("CLUSTER SETSLOT", slot, "MIGRATING", ids[1])
        found = here.execute_command("CLUSTER GETKEYSINSLOT", slot, 1000)
        here.execute_command("MIGRATE", "127.0.0.1", target.port, "", 0, 5000, "KEYS", *found)
        try:
            yield
        finally:  # the tests that follow use the same cluster
            for each in (there, here):
                each.execute_command("CLUSTER SETSLOT", slot, "NODE", ids[1])


async def test_votes_continue_while_a_slot_is_migrated_at_once(store, cluster):
    number = (await post(store, await registered(store, "alice"))).number
    moving = hash_slot(str(store.site.partition_of_article(number)))
    source, target = server_of(cluster, store, number), other_primary(cluster, moving)
    with source.client() as here, target.client() as there:
        id = there.execute_command("CLUSTER MYID")
        here.execute_command("CLUSTER", "MIGRATESLOTS", "SLOTSRANGE", moving, moving, "NODE", id)
    votes = 0
    async with asyncio.timeout(PATIENCE):
        while cluster.primary_of(moving) is not target:
            await store.articles.vote(number, f"voter-{votes}", Vote.UP)
            votes += 1

    assert (await store.articles.vote(number, "bob", Vote.UP)).article.votes == 1 + votes + 1


def other_primary(cluster: Cluster, slot: int) -> Server:
    """A primary that does not have a slot."""
    primaries = [cluster.primary_of(each) for each in range(0, HASH_SLOTS, 1000)]
    return next(server for server in primaries if server is not cluster.primary_of(slot))


@pytest.mark.usefixtures("fast_failover")
@pytest.mark.parametrize("fault", [signal.SIGKILL, signal.SIGSTOP])
async def test_failover_keeps_acknowledged_votes_and_takes_seconds(store, cluster, fault):
    async with voting(store) as crowd:
        await asyncio.to_thread(until, lambda: len(crowd.acknowledged) == len(crowd.articles))
        number = crowd.articles[0]
        lost, slot = server_of(cluster, store, number), hash_slot(str(store.site.partition_of_article(number)))
        if fault is signal.SIGKILL:
            await asyncio.to_thread(lost.kill)
        lost.send(fault)
        await asyncio.to_thread(until, lambda: cluster.primary_of(slot, but=lost) is not lost)
        lost.send(signal.SIGCONT)
        cluster.launch()
        await asyncio.to_thread(cluster.wait_until_complete)
        before = {number: len(names) for number, names in crowd.acknowledged.items()}
        await asyncio.to_thread(until, lambda: all(len(crowd.acknowledged[each]) > before[each] for each in before))

    assert crowd.longest < FAILOVER_RETRY_TIME + SLACK
    assert await crowd.missing() == {}
    assert await crowd.findings() == []


@pytest.mark.usefixtures("fast_failover")
async def test_no_read_is_older_than_one_before_during_a_failover(store, cluster, clock):
    reader = await Store.open(cluster.url, clock=clock)
    seen = cache_hits = 0

    async def read_until_cancelled(crowd: Crowd) -> None:
        nonlocal seen, cache_hits
        number = crowd.articles[0]
        while True:
            expected = max(seen, 1 + len(crowd.acknowledged.get(number, ())))
            with suppress(StoreUnavailable):
                articles, commands = await request(reader)
                (found,) = [article for article in articles if article.number == number]
                assert found.upvotes >= expected
                seen, cache_hits = found.upvotes, cache_hits + (commands == PARTITIONS)
            await asyncio.sleep(0.005)

    async with voting(store, 1) as crowd:
        reading = asyncio.create_task(read_until_cancelled(crowd))
        await asyncio.to_thread(until, lambda: reading.done() or seen > 1)
        number = crowd.articles[0]
        lost, slot = server_of(cluster, store, number), hash_slot(str(store.site.partition_of_article(number)))
        await asyncio.to_thread(lost.kill)
        await asyncio.to_thread(until, lambda: cluster.primary_of(slot, but=lost) is not lost)
        cluster.launch()
        await asyncio.to_thread(cluster.wait_until_complete)
        before = seen
        await asyncio.to_thread(until, lambda: reading.done() or seen > before + 20)
        reading.cancel()
        with suppress(asyncio.CancelledError):
            await reading
    await reader.close()

    assert seen > before
    assert cache_hits


async def test_too_few_replicas_leave_a_write_unconfirmed(store, cluster, monkeypatch):
    number = (await post(store, await registered(store, "alice"))).number
    primary = server_of(cluster, store, number)
    with primary.client() as redis:
        port = redis.info("replication")["slave0"]["port"]
    replica = next(server for server in cluster.servers if server.port == port)
    replica.send(signal.SIGSTOP)
    with monkeypatch.context() as shorter:
        shorter.setattr(client_module, "FAILOVER_RETRY_TIME", 1.5)
        with pytest.raises(StoreUnavailable, match="too few replicas confirmed"):
            await store.articles.vote(number, "bob", Vote.UP)
        assert (await article(store, number)).votes == 2, "unconfirmed, but done"
        with pytest.raises(StoreUnavailable, match="too few replicas confirmed"):
            await store.articles.vote(number, "bob", Vote.UP)  # also if it changes nothing
    replica.send(signal.SIGCONT)
    await asyncio.to_thread(cluster.wait_until_complete)

    assert (await store.articles.vote(number, "bob", Vote.UP)).article.votes == 2


@pytest.mark.usefixtures("fast_failover")
async def test_events_arrive_after_any_server_is_lost(store, cluster, monkeypatch):
    monkeypatch.setattr(event_connection, "CHECK_INTERVAL", 0.3)
    number = (await post(store, await registered(store, "alice"))).number
    async with event_connection.connect(cluster.url, store.site) as listener:
        with listener.mailbox(events.of_article(number)) as mailbox:
            (publisher,) = [server for server in cluster.servers if has_subscribers(server)]
            publisher.kill()
            cluster.launch()
            await asyncio.to_thread(cluster.wait_until_complete)
            await store.articles.edit(number, "alice", {"title": "another"})
            assert (await asyncio.wait_for(anext(mailbox), PATIENCE)).kind is events.EventKind.EDITED


def has_subscribers(server: Server) -> bool:
    with server.client() as redis:
        return bool(redis.client_list(_type="pubsub"))
