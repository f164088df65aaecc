"""What tests share: a real Valkey, emptied for each of them, a clock that they set, stores of 1 and of 8 partitions."""

import os
from collections.abc import AsyncIterator, Iterator
from dataclasses import dataclass

import pytest
from hypothesis import settings
from redis import Redis

from server import valkey
from store import keys
from store.ranking import Policy
from store.stores import Store

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


@pytest.fixture(scope="session")
def running_valkey(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    with valkey.running(tmp_path_factory.mktemp("valkey")) as url:
        yield url


@pytest.fixture
def redis_url(running_valkey: str) -> str:
    with Redis.from_url(running_valkey) as redis:
        redis.flushall()
    return running_valkey


@pytest.fixture
def redis(redis_url: str) -> "Iterator[Redis]":
    """For looking at what the store wrote, and for breaking it."""
    with Redis.from_url(redis_url, decode_responses=True) as redis:
        yield redis


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def policy() -> Policy:
    return Policy()


@pytest.fixture(params=[1, 8], ids=["1 partition", "8 partitions"])
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
    await store.site.connection.run(("HSET", key, *fields))
    return username
