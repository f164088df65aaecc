"""
Fixtures of all tests: a real Valkey, emptied for each test, a clock that tests set, and a store, which is all that
Upvote keeps in Valkey. A store is split into partitions by user: most tests have a store of 1 partition.

Tests marked `many_partitions` are about several partitions. `make test` runs them with 8. Otherwise they run with 1 and
with 8, on CI with 1 only, as it has run `make test`. With `--store cluster`, tests run on a cluster of 16 partitions.
"""

import gc
import os
import warnings
from collections.abc import AsyncIterator, Iterator
from dataclasses import dataclass

import pytest
from hypothesis import settings
from pwdlib import PasswordHash
from pwdlib.hashers.argon2 import Argon2Hasher
from redis import Redis, RedisCluster

from server.app import collect_garbage_less_often
from server.managed_valkey import server
from store import passwords
from store.ranking.formulas import Policy
from store.store import Store
from store.users import creation
from tests import servers
from tests.examples import TAKES_FEW
from tests.thirds import keep_third_of_files

settings.register_profile("ci", derandomize=True)  # outside of CI, every run tries other examples
if os.environ.get("CI"):
    settings.load_profile("ci")
CHEAP_HASHER = PasswordHash((Argon2Hasher(memory_cost=8, time_cost=1, parallelism=1),))


@dataclass
class Clock:
    """A clock that stands still until a test advances it. `now` is in unix milliseconds."""

    now: int = 1_470_311_520_000  # 2016-08-04T11:52:00Z

    def __call__(self) -> int:
        return self.now

    def advance(self, seconds: float) -> None:
        self.now += round(seconds * 1000)


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--store", choices=["server", "cluster"], default="server", help="what the tests run on")
    parser.addoption("--third", action="store_true", help="only a third of the test files, which the commit chooses")


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    chosen = any("partitions" in mark.args[0] for mark in metafunc.definition.iter_markers("parametrize"))
    if "partitions" in metafunc.fixturenames and not chosen:
        counts = [16] if is_on_cluster(metafunc.config) else partition_counts(metafunc.definition)
        ids = [f"{count} partition{'s' * (count > 1)}" for count in counts]
        metafunc.parametrize("partitions", counts, ids=ids, indirect=True)


def partition_counts(test: pytest.Item) -> list[int]:
    if test.get_closest_marker("many_partitions") is None:
        return [1]
    if TAKES_FEW:  # in `make test`
        return [8]
    return [1] if os.environ.get("CI") else [1, 8]  # CI has run `make test` before


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """On a cluster, leave out tests that need one server or start their own; with `--third`, two of three files."""
    if is_on_cluster(config):
        deselected = [item for item in items if item.get_closest_marker("one_server")]
        config.hook.pytest_deselected(items=deselected)
        items[:] = [item for item in items if item not in deselected]
    if config.getoption("third"):
        keep_third_of_files(config, items)


def pytest_collection_finish() -> None:
    """Collect garbage as rarely as a server does, and no imported modules: else it takes a tenth of the tests' time."""
    collect_garbage_less_often()


def is_on_cluster(config: pytest.Config) -> bool:
    return bool(config.getoption("store") == "cluster")


@pytest.fixture(scope="session")
def running_valkey(tmp_path_factory: pytest.TempPathFactory, pytestconfig: pytest.Config) -> Iterator[str]:
    folder = tmp_path_factory.mktemp("valkey")
    if is_on_cluster(pytestconfig):
        with servers.running_cluster(folder) as cluster:
            yield cluster.url
    else:
        with server.running(folder) as url:
            yield url


@pytest.fixture(scope="session")
def running_client(running_valkey: str) -> "Iterator[Redis]":
    with client(running_valkey) as redis:
        yield redis


@pytest.fixture
def redis_url(running_valkey: str, running_client: "Redis") -> str:
    """The URL of the running Valkey, emptied for this test."""
    running_client.flushall()
    return running_valkey


@pytest.fixture
def redis(redis_url: str, running_client: "Redis") -> "Redis":
    """A client to read what the store wrote, or to damage it."""
    return running_client


def client(url: str) -> "Redis":
    """A redis-py client for a URL of a store, also of a cluster."""
    if "+cluster" not in url:
        return Redis.from_url(url, decode_responses=True)
    host, _, port = url.removeprefix("redis+cluster://").partition(",")[0].partition(":")
    return RedisCluster(host=host, port=int(port), decode_responses=True)


def kill(redis: "Redis", *filters: str) -> None:
    """Close the connections of other clients to all servers."""
    servers = {"target_nodes": "all"} if isinstance(redis, RedisCluster) else {}
    redis.execute_command("CLIENT", "KILL", *filters, **servers)


def servers_of(redis: "Redis") -> list[dict[str, object]]:
    """The keyword arguments that send a command of redis-py to each primary."""
    return [{"target_nodes": node} for node in redis.get_primaries()] if isinstance(redis, RedisCluster) else [{}]


def clients(redis: "Redis", **filters: str) -> list[dict[str, str]]:
    """The connections that all servers have, as CLIENT LIST describes them."""
    if not isinstance(redis, RedisCluster):
        return redis.client_list(**filters)
    return [client for found in redis.client_list(**filters, target_nodes="all").values() for client in found]


@pytest.fixture
def collected() -> Iterator[None]:
    """
    Collect garbage after a test. graphql-core does not await some coroutines beside an error: without this, their
    warnings would fail a later test.
    """
    yield
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        gc.collect()


@pytest.fixture(autouse=True, scope="session")
def cheap_passwords() -> Iterator[None]:
    """Hash passwords at the least cost that argon2id has: the usual one takes a tenth of the tests' time."""
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(passwords, "HASHER", CHEAP_HASHER)
        patched.setattr(passwords, "DUMMY_HASH", passwords.DUMMY_HASH.replace("m=19456,t=2", "m=8,t=1"))
        yield


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
    store = await Store.open(redis_url, policy, partitions, clock=clock, session_lifetime=24 * 60 * 60)
    yield store
    await store.close()


@pytest.fixture
async def alice(store: Store) -> str:
    return await registered(store, "Alice")


@pytest.fixture
async def bob(store: Store) -> str:
    return await registered(store, "bob")


async def registered(store: Store, username: str) -> str:
    """Create a user without a password, as an import does, because hashing is slow; returns the name."""
    await store.site.redis.run(creation(store.site, username, store.site.clock()))
    return username
