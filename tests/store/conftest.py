"""What tests of the store share: an ear for what its scripts publish."""

from collections.abc import Callable, Iterator

import pytest
from redis import Redis

from store import keys
from tests.conftest import servers_of

Said = Callable[[], list[str]]


@pytest.fixture
def said(redis: Redis, partitions: int) -> Iterator[Said]:
    """`said()` gives what was published since it was last called."""
    ear = redis.pubsub(ignore_subscribe_messages=True)
    ear.subscribe("said", *(keys.events(p) for p in range(partitions)))

    def said() -> list[str]:
        found = []
        for server in servers_of(redis):
            redis.execute_command("PUBLISH", "said", "that is all", **server)
            found += iter(lambda: (ear.get_message(timeout=5) or {}).get("data"), "that is all")
        return [message for message in found if message]

    said()
    yield said
    ear.close()
