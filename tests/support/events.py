"""Receiving events, which tell of changes of a store over pub/sub, and losing the connection that they come on."""

import asyncio
from contextlib import suppress

import pytest

from store import event_connection, events, keys
from store.client.pubsub import Subscriber, SubscriberConnection
from store.events import Events
from store.store import Store


class Disconnection:
    """Closes the pub/sub connection of this process, and keeps it from being opened again."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self._is_over = asyncio.Event()
        self._is_over.set()
        connect = Subscriber.connect

        async def connect_when_over(subscriber: Subscriber) -> SubscriberConnection:
            await self._is_over.wait()
            self._connection = await connect(subscriber)
            return self._connection

        monkeypatch.setattr(Subscriber, "connect", connect_when_over)
        monkeypatch.setattr(event_connection, "RECONNECT_PAUSE", 0.01)

    async def begin(self) -> None:
        self._is_over.clear()
        self._connection.close()
        await self._connection.wait_until_lost()

    async def finish(self, store: Store, received: Events) -> None:
        """Return when everything that was missed is dispatched."""
        self._is_over.set()
        await receive_all(store, received)


async def receive_all(store: Store, received: Events) -> None:
    """
    Wait until all events published by now, by any server, are received.

    Each Redis server publishes a notification for the inbox of a user "last", which comes after all earlier events. It
    has no entry in the log, and is lost if there is no connection, so it is published until it is received.
    """
    connection = store.site.redis
    for number, server in enumerate(await connection._server.primaries()):
        with received.mailbox(events.of_inbox("last")) as last:
            seen = -1
            while seen != number:
                await connection.pipeline([("PUBLISH", keys.events(0), f"notified {number} last")], server)
                with suppress(TimeoutError):
                    seen = (await asyncio.wait_for(anext(last), 0.1)).number
