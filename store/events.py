"""
Change events. Every script publishes its change in the same step. One pub/sub connection in each process
receives all events and dispatches them to listeners by topic.
"""

import asyncio
import logging
import re
from collections import defaultdict
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from contextlib import asynccontextmanager, contextmanager, suppress
from dataclasses import dataclass
from enum import Enum
from typing import NoReturn, Self

from store import keys
from store.client import Unreachable, urls
from store.client.pubsub import Subscriber

CAPACITY = 100  # pending events of a mailbox
CHECK_INTERVAL = 2.0  # seconds between two checks that the connection still receives what is published
RECONNECT_PAUSE = 0.5  # seconds before reconnecting
ENTRY_ID = re.compile(r"\d+-\d+", re.ASCII)

logger = logging.getLogger("upvote")


class EventKind(Enum):
    POSTED = "posted"
    VOTED = "voted"
    EDITED = "edited"
    REGROUPED = "regrouped"
    DELETED = "deleted"
    IMPORTED = "imported"
    REGISTERED = "registered"
    FOLLOWED = "followed"
    UNFOLLOWED = "unfollowed"
    SEEN = "seen"
    PASSWORD_CHANGED = "password_changed"
    REPAIRED = "repaired"
    RANKED = "ranked"  # the orders or the weights of a group have changed
    MISSED = "missed"  # events were lost: anything may have changed


@dataclass(frozen=True, slots=True, eq=False, weakref_slot=True)
class Event:
    """
    A change, which has an entry in the log under `id`. `groups` are those whose listings it changes.

    Only events about articles have a number and a poster.
    """

    kind: EventKind
    number: int = 0
    poster: str = ""
    groups: tuple[str, ...] = ()
    id: str = ""

    @classmethod
    def read(cls, message: str) -> Self:
        """
        Parse a message of `publish_event` in `prelude.lua`; any other message is an event MISSED.

        Messages of earlier versions have no id.
        """
        try:
            kind, number, poster, *groups = message.split()
            id = groups.pop(0) if groups and ENTRY_ID.fullmatch(groups[0]) else ""
            return cls(EventKind(kind), int(number), poster, tuple(groups), id)
        except ValueError:
            return cls(EventKind.MISSED)


Topic = tuple[str, int | str | None]
Listener = Callable[[Event], None]


def of_article(number: int) -> Topic:
    return "article", number


def of_posts(group: str | None) -> Topic:
    """New articles, of one group if given."""
    return "posts", group


def of_listing(group: str | None) -> Topic:
    """Changes that may move articles in the listing of the site, or of a group."""
    return "listing", group


RANKINGS: Topic = ("rankings", None)  # the orders and weights of the store
ENTRIES: Topic = ("entries", None)  # all changes
# the beginnings of messages that concern no listener to RANKINGS
ABOUT_OTHERS = tuple(f"{kind.value} " for kind in EventKind if kind not in (EventKind.RANKED, EventKind.MISSED))


def topics(event: Event) -> Iterator[Topic]:
    yield ENTRIES
    if event.kind in (EventKind.VOTED, EventKind.EDITED, EventKind.REGROUPED, EventKind.DELETED):
        yield of_article(event.number)
    if event.kind is EventKind.POSTED:
        yield from map(of_posts, (None, *event.groups))
    if event.kind is EventKind.RANKED:
        yield RANKINGS
    if event.kind in (EventKind.POSTED, EventKind.VOTED, EventKind.DELETED, EventKind.IMPORTED, EventKind.RANKED):
        yield of_listing(None)
    if event.kind is not EventKind.EDITED:
        yield from map(of_listing, event.groups)


class Mailbox:
    """
    The pending events of a subscriber: the latest of each article.

    More than `CAPACITY` events are replaced with one event MISSED.
    """

    def __init__(self) -> None:
        self._events: dict[int, Event] = {}
        self._filled = asyncio.Event()

    def put(self, event: Event) -> None:
        self._events.pop(event.number, None)
        self._events[event.number] = event
        if len(self._events) > CAPACITY:
            self._events = {0: Event(EventKind.MISSED)}
        self._filled.set()

    def __aiter__(self) -> Self:
        return self

    async def __anext__(self) -> Event:
        while not self._events:
            self._filled.clear()
            await self._filled.wait()
        return self._events.pop(next(iter(self._events)))


class Events:
    """The listeners of this process, by topic."""

    def __init__(self) -> None:
        self._listeners: defaultdict[Topic, set[Listener]] = defaultdict(set)

    @contextmanager
    def subscribed(self, topic: Topic, listener: Listener) -> Iterator[None]:
        """Call a listener for each event of a topic. It must not block."""
        self._listeners[topic].add(listener)
        try:
            yield
        finally:
            self._listeners[topic].discard(listener)
            if not self._listeners[topic]:
                del self._listeners[topic]

    @contextmanager
    def mailbox(self, topic: Topic) -> Iterator[Mailbox]:
        mailbox = Mailbox()
        with self.subscribed(topic, mailbox.put):
            yield mailbox

    def receive(self, message: str) -> None:
        """Dispatch a message. Without listeners to anything but rankings, other messages are not parsed."""
        if len(self._listeners) > (RANKINGS in self._listeners) or not message.startswith(ABOUT_OTHERS):
            self.dispatch(Event.read(message))

    def dispatch(self, event: Event) -> None:
        for topic in self._listeners if event.kind is EventKind.MISSED else topics(event):
            for listener in self._listeners.get(topic, ()):
                listener(event)


@asynccontextmanager
async def connect(url: str, partitions: int) -> AsyncIterator[Events]:
    """Receive all events of a store over one connection, which is opened again after a loss."""
    events, connected = Events(), asyncio.Event()
    subscriber = Subscriber(urls.parse(url), events.receive)
    channels = [keys.events(p) for p in range(partitions)]
    task = asyncio.create_task(_supervise(subscriber, channels, events, connected))
    try:
        await connected.wait()
        yield events
    finally:
        task.cancel()
        with suppress(asyncio.CancelledError):
            await task
        subscriber.close()


async def _supervise(
    subscriber: Subscriber, channels: Sequence[str], events: Events, connected: asyncio.Event
) -> NoReturn:
    while True:
        try:
            await _listen(subscriber, channels, events, connected)
        except Unreachable as error:
            logger.warning("the pub/sub connection for events was lost: %s", error)
        except Exception:  # the task must not end
            logger.exception("receiving events failed")
        await asyncio.sleep(RECONNECT_PAUSE)


async def _listen(
    subscriber: Subscriber, channels: Sequence[str], events: Events, connected: asyncio.Event
) -> NoReturn:
    """Dispatch received events; first MISSED, as soon as all channels are subscribed to."""
    connection = await subscriber.connect()
    try:
        await connection.subscribe(channels)
        connected.set()
        events.dispatch(Event(EventKind.MISSED))
        while True:
            with suppress(TimeoutError):
                await asyncio.wait_for(connection.wait_until_lost(), CHECK_INTERVAL)
                raise Unreachable("it was closed")
            await subscriber.check(connection)
    finally:
        connection.close()
