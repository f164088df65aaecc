"""
Receives the events of all processes on one pub/sub connection, which is opened again after a loss. What was published
meanwhile is read from the log.

Most events are votes, which only subscriptions need: they have a channel of their own, which a process without
subscriptions leaves. Each partition, a share of the data, has its own channels and its own log.
"""

import asyncio
import logging
from collections.abc import AsyncIterator, Iterator, Mapping, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import replace
from typing import NoReturn

from store import keys, log, notifications
from store.background import running
from store.client import Unreachable, urls
from store.client.pubsub import Subscriber, SubscriberConnection
from store.errors import StoreUnavailable
from store.events import (
    CHANGES_COMMENT_COUNT,
    ENDS_SESSIONS,
    OF_ARTICLES,
    OF_COMMENTS,
    PRIVATE,
    RECONNECT_PAUSE,
    Event,
    EventKind,
    Events,
    entry_id,
)
from store.log import DELETIONS, EntriesRemoved, Entry
from store.site import Site

LEAVE_SECONDS = 10.0  # after the last subscription, in which another one may begin
CHECK_INTERVAL = 2.0  # seconds between two checks that the connection still receives what is published
READ_AT_ONCE = 1_000  # entries
WITHOUT_GROUPS = {"voted", "edited", *(kind.value for kind in CHANGES_COMMENT_COUNT)}  # kinds of entries without groups
# kinds of entries whose value `notified` has users who were notified before: these are told nothing, unless the text is
# shown for the first time, as the value `announced` says
WITHOUT_NOTICE = (*DELETIONS, "comment_state_changed")
NOTIFIED = f"{EventKind.NOTIFIED.value} "  # the beginning of messages of this kind

logger = logging.getLogger("upvote")


@asynccontextmanager
async def connect(url: str, site: Site, *, leaves_votes: bool = False) -> AsyncIterator[Events]:
    """
    Receive all events of a store. Events that a lost connection missed are dispatched in their order, once.

    With `leaves_votes`, votes are received only while `Events.receiving_votes` is entered, and `LEAVE_SECONDS` longer.
    """
    receiver, connected = Receiver(site, leaves_votes), asyncio.Event()
    subscriber = Subscriber(urls.parse(url), receiver.receive)
    try:
        async with running(_supervise(subscriber, receiver, connected)):
            await connected.wait()
            yield receiver.events
    finally:
        subscriber.close()


async def _supervise(subscriber: Subscriber, receiver: "Receiver", connected: asyncio.Event) -> NoReturn:
    while True:
        try:
            await _listen(subscriber, receiver, connected)
        except (Unreachable, StoreUnavailable) as error:
            if not receiver.is_lost:
                logger.warning("the pub/sub connection for events was lost: %s", error)
            receiver.is_lost = True
        except Exception:  # the task must not end
            logger.exception("receiving events failed")
        await asyncio.sleep(RECONNECT_PAUSE)


async def _listen(subscriber: Subscriber, receiver: "Receiver", connected: asyncio.Event) -> NoReturn:
    """Dispatch received events; first what was missed, as soon as all channels are subscribed to."""
    connection = await subscriber.connect()
    try:
        receiver.hold()
        receiver.connection = connection
        await connection.subscribe(list(receiver.channels))
        if receiver.hears_votes:
            await receiver.join_votes()
        await receiver.catch_up()
        if receiver.is_lost:
            logger.warning("the pub/sub connection for events is back")
        receiver.is_lost = False
        connected.set()
        while True:
            with suppress(TimeoutError):
                async with asyncio.timeout(CHECK_INTERVAL):
                    await connection.wait_until_lost()
                raise Unreachable("it was closed")
            await subscriber.check(connection)
            await receiver.pass_votes()
    finally:
        receiver.connection = receiver.joined = None
        connection.close()


class Receiver:
    """Dispatches the messages of the pub/sub connection, and in place of lost ones what the log has of them."""

    def __init__(self, site: Site, leaves_votes: bool) -> None:
        self.events = Events()
        if leaves_votes:
            self.events.receiving_votes = self._receiving_votes
        self.channels = {keys.events(partition): partition for partition in range(site.partitions)}  # their partitions
        self.vote_channels = {keys.vote_events(partition): partition for partition in range(site.partitions)}
        self.partitions = self.channels | self.vote_channels
        self.hears_votes = not leaves_votes
        self.connection: SubscriberConnection | None = None
        self.is_lost = False  # since events were received last; one warning says so
        self.joined: asyncio.Future[None] | None = None  # done when the connection has the channels of votes
        self._hearers = 0  # how many contexts of `_receiving_votes` are open
        self._site = site
        self._identity = ""  # of the log
        self._positions: list[str] = []  # in the log of each partition
        self._passed: list[str] | None = None  # positions up to which no message can be under way any more
        self._latest: dict[str, str] = {}  # the last message of each channel: its id is not parsed yet
        self._held: list[tuple[str, str]] | None = None  # channels and messages that wait for `catch_up`; None: no wait
        self._behind: set[str] = set()  # channels that may still bring what the log had; a busy cluster is late

    def receive(self, channel: str, message: str) -> None:
        if self._held is not None:
            self._held.append((channel, message))
            return
        if self._behind and channel in self._behind and self._is_known(channel, message):
            return
        if not message.startswith(NOTIFIED):  # which has no id of an entry
            self._latest[channel] = message
        self.events.receive(message)

    @asynccontextmanager
    async def _receiving_votes(self) -> AsyncIterator[None]:
        """Receive votes. Without a connection this does not wait: what is missed is in the log."""
        self._hearers += 1
        self.hears_votes = True
        try:
            await self.join_votes()
            yield
        finally:
            self._hearers -= 1
            if not self._hearers:
                asyncio.get_running_loop().call_later(LEAVE_SECONDS, self._leave_votes)

    async def join_votes(self) -> None:
        if self.joined is None and self.connection is not None:
            self.joined = asyncio.ensure_future(self.connection.subscribe(list(self.vote_channels)))
        if self.joined is not None:
            with suppress(Unreachable):  # the connection was lost: another one is opened
                await asyncio.shield(self.joined)

    def _leave_votes(self) -> None:
        if self._hearers:
            return
        self.hears_votes, self.joined = False, None
        if self.connection is not None:
            self.connection.unsubscribe(list(self.vote_channels))

    async def pass_votes(self) -> None:
        """
        While no votes are received, go on after those in the log, so that a lost connection does not read them again.

        It goes on after the positions that were the newest at the last call: messages of a cluster may be late. One
        round trip.
        """
        if self.hears_votes:
            self._passed = None
            return
        with suppress(StoreUnavailable):
            newest = await log.newest(self._site)
            self._note_positions()
            if self._passed is not None:
                pairs = zip(self._positions, self._passed, strict=True)
                self._positions = [max(pair, key=log.sort_key) for pair in pairs]
            self._passed = newest

    def hold(self) -> None:
        """Keep messages until `catch_up` has dispatched what was published before them."""
        self._held = []

    async def catch_up(self) -> None:
        """
        Dispatch what was published since the last message, and then the messages that were kept.

        At the first call, or if the log does not have all of it, one event MISSED (anything may have changed) is
        dispatched instead. Two round trips; three if something was published, and two more for each `READ_AT_ONCE`
        entries.

        Raises:
            StoreUnavailable: the log cannot be read.
        """
        self._note_positions()
        self._passed = None
        identity, newest = await log.identity(self._site), await log.newest(self._site)
        if identity == self._identity:
            outdated = [partition for partition, id in enumerate(newest) if id != self._positions[partition]]
            gaps = await self._with_gaps(outdated)
            for partition in gaps:
                self._positions[partition] = newest[partition]
            try:
                await self._dispatch_missed([partition for partition in outdated if partition not in gaps])
            except EntriesRemoved:
                self._positions, gaps = newest, outdated
        else:
            self._identity, self._positions, gaps = identity, newest, range(self._site.partitions)
        if gaps:
            self.events.dispatch(Event(EventKind.MISSED))
        self._release()

    def _note_positions(self) -> None:
        for channel, message in self._latest.items():
            if id := entry_id(message):  # else it is of an earlier version: some events may be dispatched again
                partition = self.partitions[channel]
                self._positions[partition] = max(self._positions[partition], id, key=log.sort_key)
        self._latest.clear()

    async def _with_gaps(self, partitions: Sequence[int]) -> Sequence[int]:
        """The partitions of which the log no longer has all entries after the position."""
        found = await asyncio.gather(
            *(log.has_all_after(self._site, partition, self._positions[partition]) for partition in partitions)
        )
        return [partition for partition, is_whole in zip(partitions, found, strict=True) if not is_whole]

    async def _dispatch_missed(self, partitions: Sequence[int]) -> None:
        while partitions:
            count = READ_AT_ONCE // len(partitions) + 1
            pages = await log.read_on(
                self._site, {partition: self._positions[partition] for partition in partitions}, count
            )
            entries = [entry for page in pages.values() for entry in page]
            stored = await self._stored(entries)
            for entry in entries:
                self._positions[entry.partition] = entry.id
                for event in (*_notifications(entry), *_events(entry, stored)):
                    self.events.dispatch(event)
            partitions = [partition for partition in partitions if len(pages[partition]) == count]

    async def _stored(self, entries: Sequence[Entry]) -> dict[str, tuple[str, str]]:
        """The poster and the groups, as they are now, of the articles of entries that do not name them, by number."""
        articles = {
            entry.values.get("article") or entry.subject.removeprefix("article:"): entry.partition
            for entry in entries
            if entry.kind in WITHOUT_GROUPS
        }
        replies = await self._site.redis.pipeline(
            [("HMGET", keys.article(partition, number), "poster", "groups") for number, partition in articles.items()]
        )
        return {
            number: (poster or "", groups or "") for number, (poster, groups) in zip(articles, replies, strict=True)
        }

    def _release(self) -> None:
        """Dispatch the messages that were kept and are not older than the position."""
        held, self._held = self._held or [], None
        self._behind = set(self.partitions)
        for channel, message in held:
            self.receive(channel, message)

    def _is_known(self, channel: str, message: str) -> bool:
        """Whether the log had this message already. What follows a newer message on its channel is newer as well."""
        id, position = entry_id(message), self._positions[self.partitions[channel]]
        if id and log.sort_key(id) <= log.sort_key(position):
            return True
        if id:
            self._behind.discard(channel)
        return False


def _notifications(entry: Entry) -> Iterator[Event]:
    """
    The events NOTIFIED of an entry. An effect in another partition may not be applied yet: it publishes its own event.
    """
    for number, words in _told(entry):
        for each in notifications.notified(words):
            yield Event(EventKind.NOTIFIED, int(number), each.username)


def _told(entry: Entry) -> Iterator[tuple[str, str]]:
    """The number of each text of which an entry tells users, and whom, as in the field `notified`."""
    values, number = entry.values, entry.subject.partition(":")[2]
    if entry.kind == EventKind.COMMENTS_LISTED.value:
        for word in values.get("announced", "").split():
            comment, _, told = word.partition(":")
            yield comment, told
        if values.get("article_announced"):
            yield number, values["of_article"]
    elif entry.kind not in WITHOUT_NOTICE or values.get("announced"):
        yield number, values.get("told", values.get("notified", ""))


def _events(entry: Entry, stored: Mapping[str, tuple[str, str]]) -> Iterator[Event]:
    """The events that were published with an entry. `stored` are posters and groups of articles: see `_stored`."""
    event = _event(entry, stored)
    yield event
    if entry.values.get("announced"):  # it was held when it was posted, and is shown for the first time
        if event.kind is EventKind.STATE_CHANGED:
            yield replace(event, kind=EventKind.POSTED)
        if event.kind is EventKind.COMMENT_STATE_CHANGED:
            yield replace(event, kind=EventKind.COMMENT_ANNOUNCED)


def _event(entry: Entry, stored: Mapping[str, tuple[str, str]]) -> Event:
    """The event that was published with an entry, or the first of them."""
    try:
        kind = EventKind(entry.kind)
    except ValueError:
        return Event(EventKind.MISSED)  # of another version
    if kind in OF_COMMENTS:
        return _event_of_comment(kind, entry, stored)
    if kind in PRIVATE - ENDS_SESSIONS:
        return Event(kind, id=entry.id)
    if kind in (EventKind.VOTES_ANNULLED, EventKind.VOTES_RESTORED):
        return Event(EventKind.MISSED)  # the entry has not all that the events about each article and comment have
    if kind is EventKind.USER_DELETED:
        return Event(kind, keys.slot(entry.values["pseudonym"]), "-", id=entry.id)  # which is the slot of the name, too
    if kind not in OF_ARTICLES:
        group = entry.values.get("group", "")
        action = int(entry.subject.removeprefix("action:")) if entry.subject.startswith("action:") else 0
        return Event(kind, number=action, username=entry.actor or "-", groups=(group,) if group else (), id=entry.id)
    number = entry.subject.removeprefix("article:")
    if kind in (EventKind.VOTED, EventKind.EDITED):
        poster, names = stored[number]
    else:
        poster = entry.values.get("poster", entry.actor)
        names = entry.values["changed" if kind is EventKind.REGROUPED else "groups"]
    return Event(kind, int(number), poster, tuple(names.split()), entry.id)


def _event_of_comment(kind: EventKind, entry: Entry, stored: Mapping[str, tuple[str, str]]) -> Event:
    number, article = int(entry.subject.removeprefix("comment:")), entry.values["article"]
    groups = stored[article][1] if kind in CHANGES_COMMENT_COUNT else ""
    poster = entry.values.get("poster", entry.actor)
    return Event(kind, number, poster, tuple(groups.split()), id=entry.id, article=int(article))
