"""Fixtures of the store's tests: the events that scripts publish."""

from collections.abc import Callable, Iterator

import pytest
from redis import Redis

from store import keys
from tests.conftest import servers_of

Published = Callable[[], list[str]]
LAST = "last message"


@pytest.fixture
def published(redis: Redis, partitions: int) -> Iterator[Published]:
    """`published()` returns the messages published since its last call."""
    subscriber = redis.pubsub(ignore_subscribe_messages=True)
    subscriber.subscribe("last", *(keys.events(p) for p in range(partitions)))

    def published() -> list[str]:
        found = []
        for server in servers_of(redis):
            redis.execute_command("PUBLISH", "last", LAST, **server)
            found += iter(lambda: (subscriber.get_message(timeout=5) or {}).get("data"), LAST)
        return [message for message in found if message]

    published()
    yield published
    subscriber.close()
