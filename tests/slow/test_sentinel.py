"""A store in a primary Valkey with two replicas, and three sentinels: discovery, failovers and events."""

import asyncio
import signal
from collections.abc import AsyncIterator, Iterator

import pytest

from store import event_connection, events
from store.client import client
from store.client.client import FAILOVER_RETRY_TIME
from store.errors import StoreUnavailable
from store.store import Store
from tests.conftest import Clock, registered
from tests.servers import PATIENCE, SentinelSetup, running_sentinels, until
from tests.store.crowds import voting
from tests.store.reading import article, post

GAP = 5.0  # seconds without a write after the loss of a primary
SLACK = 5.0  # seconds: how much longer a busy machine may take


@pytest.fixture(scope="module")
def running(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SentinelSetup]:
    with running_sentinels(tmp_path_factory.mktemp("sentinels")) as setup:
        yield setup


@pytest.fixture
def setup(running: SentinelSetup) -> SentinelSetup:
    running.wait_until_complete()
    with running.primary().client() as redis:
        redis.flushall()
    return running


@pytest.fixture
async def store(setup: SentinelSetup, clock: Clock) -> AsyncIterator[Store]:
    store = await Store.open(setup.url, partitions=1, clock=clock, confirming_replicas=1)
    yield store
    await store.close()


@pytest.mark.one_server
async def test_one_sentinel_that_answers_is_enough(setup, clock):
    setup.sentinels[0].send(signal.SIGSTOP)
    setup.sentinels[1].kill()
    store = await Store.open(setup.url, partitions=1, clock=clock)
    posted = await post(store, await registered(store, "alice"))
    assert await article(store, posted.number) == posted
    await store.close()
    setup.sentinels[0].send(signal.SIGCONT)
    setup.sentinels[1].launch()


@pytest.mark.one_server
async def test_unknown_service_is_unavailable(setup, clock, monkeypatch):
    monkeypatch.setattr(client, "FAILOVER_RETRY_TIME", 0.3)
    with pytest.raises(StoreUnavailable) as refused:
        await Store.open(setup.url.replace("/upvote", "/another"), partitions=1, clock=clock)
    assert "no sentinel knows the service another" in str(refused.value.__cause__)


@pytest.mark.one_server
async def test_failover_keeps_acknowledged_votes_and_takes_seconds(store, setup, monkeypatch):
    monkeypatch.setattr(event_connection, "CHECK_INTERVAL", 0.3)
    async with event_connection.connect(setup.url, store.site) as listener, voting(store) as crowd:
        await asyncio.to_thread(until, lambda: len(crowd.acknowledged) == len(crowd.articles))
        lost = setup.primary()
        await asyncio.to_thread(lost.kill)
        await asyncio.to_thread(until, lambda: setup.primary() is not lost)
        before = {number: len(names) for number, names in crowd.acknowledged.items()}
        await asyncio.to_thread(until, lambda: all(len(crowd.acknowledged[each]) > before[each] for each in before))
        assert crowd.gap < GAP + SLACK
        assert crowd.longest < FAILOVER_RETRY_TIME + SLACK
        with listener.mailbox(events.of_article(crowd.articles[0])) as mailbox:
            assert (await asyncio.wait_for(anext(mailbox), PATIENCE)).kind is events.EventKind.VOTED

    assert await crowd.missing() == {}
    assert await crowd.findings() == []
