"""
What tests share: a real Valkey, emptied for each of them, a clock that they set, and stores of 1 partition.

Tests that are about more than one partition are marked `routed` and run with 8 as well. With `--store cluster` tests
run on a cluster of six, in stores of 16 partitions.
"""

import gc
import os
import warnings
from collections.abc import AsyncIterator, Iterator
from dataclasses import dataclass

import pytest
from hypothesis import settings
from redis import Redis, RedisCluster

from server.managed_valkey import server
from store import keys
from store.ranking.formulas import Policy
from store.store import Store
from tests import servers

settings.register_profile("ci", derandomize=True)  # by hand, every run looks elsewhere
if os.environ.get("CI"):
    settings.load_profile("ci")


@dataclass
class Clock:
    """A clock that stands still. `now` is in unix milliseconds."""

    now: int = 1_470_311_520_000  # 2016-08-04T11:52:00Z

    def __call__(self) -> int:
        return self.now

    def advance(self, seconds: float) -> None:
        self.now += round(seconds * 1000)


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--store", choices=["server", "cluster"], default="server", help="what the tests run on")


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    chosen = any("partitions" in mark.args[0] for mark in metafunc.definition.iter_markers("parametrize"))
    if "partitions" in metafunc.fixturenames and not chosen:
        is_routed = metafunc.definition.get_closest_marker("routed") is not None
        counts = [16] if is_on_cluster(metafunc.config) else [1, 8] if is_routed else [1]
        ids = [f"{count} partition{'s' * (count > 1)}" for count in counts]
        metafunc.parametrize("partitions", counts, ids=ids, indirect=True)


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """What looks into one server, or starts servers of its own, has nothing to do on a cluster: it runs without."""
    if is_on_cluster(config):
        elsewhere = [item for item in items if item.get_closest_marker("one_server")]
        config.hook.pytest_deselected(items=elsewhere)
        items[:] = [item for item in items if item not in elsewhere]


def is_on_cluster(config: pytest.Config) -> bool:
    return bool(config.getoption("store") == "cluster")


@pytest.fixture(scope="session")
def running_valkey(tmp_path_factory: pytest.TempPathFactory, pytestconfig: pytest.Config) -> Iterator[str]:
    folder = tmp_path_factory.mktemp("valkey")
    if is_on_cluster(pytestconfig):
        with servers.cluster(folder) as six:
            yield six.url
    else:
        with server.running(folder) as url:
            yield url


@pytest.fixture(scope="session")
def running_client(running_valkey: str) -> "Iterator[Redis]":
    with client(running_valkey) as redis:
        yield redis


@pytest.fixture
def redis_url(running_valkey: str, running_client: "Redis") -> str:
    running_client.flushall()
    return running_valkey


@pytest.fixture
def redis(redis_url: str, running_client: "Redis") -> "Redis":
    """For looking at what the store wrote, and for breaking it."""
    return running_client


def client(url: str) -> "Redis":
    """A client of whatever a URL tells; that of a cluster does as if it were one of a server."""
    if "+cluster" not in url:
        return Redis.from_url(url, decode_responses=True)
    host, _, port = url.removeprefix("redis+cluster://").partition(",")[0].partition(":")
    return RedisCluster(host=host, port=int(port), decode_responses=True)


def kill(redis: "Redis", *filters: str) -> None:
    """End the connections of others, to any server."""
    everywhere = {"target_nodes": "all"} if isinstance(redis, RedisCluster) else {}
    redis.execute_command("CLIENT", "KILL", *filters, **everywhere)


def servers_of(redis: "Redis") -> list[dict[str, object]]:
    """How to name each server that takes writes, in a call of the client."""
    return [{"target_nodes": node} for node in redis.get_primaries()] if isinstance(redis, RedisCluster) else [{}]


def clients(redis: "Redis", **filters: str) -> list[dict[str, str]]:
    """Who is connected, to any server."""
    if not isinstance(redis, RedisCluster):
        return redis.client_list(**filters)
    return [client for found in redis.client_list(**filters, target_nodes="all").values() for client in found]


@pytest.fixture
def collected() -> Iterator[None]:
    """
    Free what a test leaves. graphql-core does not await some coroutines beside an error; the warnings of these would
    come in a later test.
    """
    yield
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        gc.collect()


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def policy() -> Policy:
    return Policy()


@pytest.fixture
def partitions(request: pytest.FixtureRequest) -> int:
    return request.param


@pytest.fixture
async def store(redis_url: str, partitions: int, policy: Policy, clock: Clock) -> AsyncIterator[Store]:
    store = await Store.open(redis_url, policy, partitions, clock=clock)
    yield store
    await store.close()


@pytest.fixture
async def alice(store: Store) -> str:
    return await registered(store, "Alice")


@pytest.fixture
async def bob(store: Store) -> str:
    return await registered(store, "bob")


async def registered(store: Store, username: str) -> str:
    """A user without a password, made as an import makes them: hashing takes its time."""
    key = keys.user(store.site.home_of_user(username), username)
    fields = ("name", username, "joined", store.site.clock(), "karma", 0)
    await store.site.redis.run(("HSET", key, *fields))
    return username
