"""Fixtures of the store's tests: the messages that scripts publish, and an article to comment on."""

from collections.abc import Callable, Iterator

import pytest
from redis import Redis

from store import keys
from store.store import Store
from tests.conftest import registered, servers_of
from tests.store.discussions import PEOPLE
from tests.store.reading import post

Published = Callable[[], list[str]]
LAST = "last message"  # sent on the channel "last" to know that all messages before it have arrived


@pytest.fixture
def published(redis: Redis, partitions: int) -> Iterator[Published]:
    """`published()` returns the messages published since its last call."""
    subscriber = redis.pubsub()
    channels = [
        "last",
        *(channel(partition) for partition in range(partitions) for channel in (keys.events, keys.vote_events)),
    ]
    subscriber.subscribe(*channels)

    def received() -> dict[str, str]:
        message = subscriber.get_message(timeout=20)
        assert message, "a message was published and did not arrive"
        return message

    # A server that is busy can execute PUBLISH before SUBSCRIBE, as they come over two connections.
    assert [received()["type"] for _ in channels] == ["subscribe"] * len(channels)

    def published() -> list[str]:
        found = []
        for server in servers_of(redis):
            redis.execute_command("PUBLISH", "last", LAST, **server)
            found += iter(lambda: received()["data"], LAST)
        return found

    published()  # in a cluster, messages of the test before can arrive late
    yield published
    subscriber.close()


@pytest.fixture
async def article(store: Store) -> int:
    """The number of an article of alice. All `PEOPLE` of `tests/store/discussions.py` are registered."""
    for name in PEOPLE:
        await registered(store, name)
    return (await post(store, "alice")).number
