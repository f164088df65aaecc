"""
Writes that wait until replicas have confirmed them, on a server that has no replicas. `tests/slow` has clusters and
sentinels with replicas.
"""

from collections.abc import AsyncIterator
from functools import partial

import pytest

from store import keys, log
from store.client import client, replication
from store.client.client import RedisClient
from store.client.replication import Replication
from store.errors import StoreUnavailable
from tests.store.reading import post

pytestmark = pytest.mark.one_server


@pytest.fixture
async def confirming(redis_url: str, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[RedisClient]:
    monkeypatch.setattr(client, "RETRY_TIME", 0.1)
    monkeypatch.setattr(replication, "WAIT_TIME", 0.05)
    # the key `mark` is written after the writes that replicas have to confirm
    confirming = RedisClient(redis_url, Replication(replicas=1, mark_key=lambda tag: f"mark:{{{tag}}}"))
    yield confirming
    await confirming.close()


async def test_write_that_no_replica_confirms_is_unavailable_though_it_was_made(confirming, redis):
    with pytest.raises(StoreUnavailable, match="too few replicas confirmed"):
        await confirming.run(("SET", "written:{0}", "it"))

    assert redis.get("written:{0}") == "it"
    assert await confirming.run(("GET", "written:{0}")) == "it"


@pytest.mark.parametrize("command", [("XRANGE", "-", "+"), ("XREVRANGE", "+", "-"), ("XLEN",)])
async def test_log_is_not_read_beyond_what_replicas_have(store, alice, confirming, command):
    """So that no database and no subscriber has entries that a failover loses."""
    await post(store, alice)
    name, *bounds = command
    read = partial(confirming.run, (name, keys.log(0), *bounds))

    with pytest.raises(StoreUnavailable, match="too few replicas confirmed"):
        await read()
    assert await log.newest(store.site)
